"""Many callers at once, kills in the middle of background work, and derived files that went bad."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from service_process import serving

from recall.client import RecallClient
from recall.v1.memory_service_pb2 import NewMemory
from recall.v1.recall_service_pb2 import RECALL_MODE_LEXICAL


def together(count: int, work: Callable[[int], object]) -> None:
    """Runs `work` in threads that begin at once. An exception in one is raised here."""
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        barrier.wait()
        work(number)

    with ThreadPoolExecutor(count) as threads:
        for done in [threads.submit(run, number) for number in range(count)]:
            done.result()


def test_twelve_writers_of_distinct_texts_are_all_kept(client: RecallClient, bank: str) -> None:
    def write(writer: int) -> None:
        for number in range(10):
            client.save(bank=bank, memory=NewMemory(text=f"writer {writer} number {number}"))

    together(12, write)
    texts = {one.memory.text for one in client.export(bank=bank)}
    assert texts == {f"writer {writer} number {number}" for writer in range(12) for number in range(10)}


def test_twelve_writers_of_one_text_make_one_memory(client: RecallClient, bank: str) -> None:
    together(12, lambda _: client.save(bank=bank, memory=NewMemory(text="the same")))
    kept = [one.memory for one in client.export(bank=bank)]
    assert [(memory.text, memory.corroboration) for memory in kept] == [("the same", 11)]


def test_twelve_first_saves_make_one_bank(client: RecallClient) -> None:
    together(12, lambda n: client.save(bank="raced", memory=NewMemory(text=f"number {n}")))
    assert client.get_bank(name="raced").bank.counts.live == 12


def test_one_retry_of_a_request_id_among_many_writes_once(client: RecallClient, bank: str) -> None:
    together(8, lambda _: client.save(bank=bank, memory=NewMemory(text="retried"), request_id="one"))
    kept = [one.memory for one in client.export(bank=bank)]
    assert [(memory.text, memory.corroboration) for memory in kept] == [("retried", 0)]


def test_every_caller_reads_its_own_writes_and_seqs_never_go_back(client: RecallClient, bank: str) -> None:
    def write_and_ask(writer: int) -> None:
        last = 0
        for number in range(10):
            saved = client.save(bank=bank, memory=NewMemory(text=f"zebra{writer}x{number} note"))
            answer = client.recall(bank=bank, query=f"zebra{writer}x{number}", mode=RECALL_MODE_LEXICAL)
            assert answer.results[0].memory.id == saved.memory.id
            assert answer.as_of_seq >= max(saved.seq, last)
            last = answer.as_of_seq

    together(6, write_and_ask)


def test_a_bank_deleted_restored_and_reloaded_under_traffic_is_there_or_not_and_nothing_else(
    client: RecallClient,
) -> None:
    client.save(bank="moving", memory=NewMemory(text="hello"))
    over = threading.Event()
    codes: set[grpc.StatusCode] = set()

    def traffic() -> None:
        while not over.is_set():
            try:
                client.recall(bank="moving", query="hello")
                client.list_memories(bank="moving")
                client.pin(bank="moving", id="unknown", pinned=True)
            except grpc.RpcError as error:
                codes.add(error.code())

    def move() -> None:
        try:
            for _ in range(10):
                trashed = client.delete_bank(name="moving").trashed
                client.restore_bank(trash_id=trashed.trash_id)
                client.reload_bank(name="moving")
        finally:
            over.set()

    together(4, lambda number: move() if number == 0 else traffic())
    assert codes == {grpc.StatusCode.NOT_FOUND}
    assert len(client.recall(bank="moving", query="hello").results) == 1


def test_a_backfill_goes_on_after_a_kill(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service, service.client() as client:
        client.save_batch(bank="demo", memories=[NewMemory(text=f"fact {n}") for n in range(1_000)])
        service.kill()
    with serving(tmp_path / "data") as service, service.client() as client:
        coverage = client.get_bank(name="demo").bank.coverage
        while coverage.embedded < coverage.total:
            coverage = client.get_bank(name="demo").bank.coverage
        assert coverage.total == 1_000


def garbage(file: Path) -> None:
    file.write_bytes(b"\0garbage" * 100)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize("spoil", [Path.unlink, garbage, cut], ids=["removed", "overwritten", "cut"])
def test_spoiled_derived_files_cost_no_memory_and_no_answer(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    small_tail = "lexical.tail_documents=64"
    with serving(tmp_path / "data", "hashing:64", small_tail) as service, service.client() as client:
        client.save_batch(bank="demo", memories=[NewMemory(text=f"fact number{n}") for n in range(300)])
        coverage = client.get_bank(name="demo").bank.coverage
        while coverage.embedded < coverage.total:
            coverage = client.get_bank(name="demo").bank.coverage
        assert service.stop() == 0
    derived = tmp_path / "data" / "default" / "demo" / "derived"
    files = [file for file in derived.rglob("*") if file.is_file()]
    assert len(files) >= 2
    for file in files:
        spoil(file)
    with serving(tmp_path / "data", "hashing:64", small_tail) as service, service.client() as client:
        answer = client.recall(bank="demo", query="number123")
        assert answer.results[0].memory.text == "fact number123"
        coverage = client.get_bank(name="demo").bank.coverage
        while coverage.embedded < coverage.total:
            coverage = client.get_bank(name="demo").bank.coverage
        assert coverage.total == 300
        assert service.stop() == 0
        assert "Traceback" not in service.logged()


def test_derived_data_deleted_while_running_costs_no_answer(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service, service.client() as client:
        client.save(bank="demo", memory=NewMemory(text="still found"))
        shutil.rmtree(tmp_path / "data" / "default" / "demo" / "derived")
        client.save(bank="demo", memory=NewMemory(text="also found"))
        assert len(client.recall(bank="demo", query="found").results) == 2
        assert service.stop() == 0
    with serving(tmp_path / "data") as service, service.client() as client:
        assert len(client.recall(bank="demo", query="found").results) == 2
