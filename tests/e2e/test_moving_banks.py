"""Banks deleted, restored and reloaded under writers and askers; derived files spoiled one by one, in every way."""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from service_process import serving

from recall.client import ClientOptions, RecallClient
from recall.v1.memory_service_pb2 import NewMemory
from recall.v1.recall_service_pb2 import DEGRADATION_REASON_INDEX_REBUILDING, RECALL_MODE_LEXICAL

CLEAR = frozenset({grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNAVAILABLE})
SMALL_TAIL = "lexical.tail_documents=64"


def test_writers_of_a_bank_that_comes_and_goes_hear_clear_statuses_and_lose_nothing(tmp_path: Path) -> None:
    over = threading.Event()
    kept: set[str] = set()
    codes: Counter[grpc.StatusCode] = Counter()
    once = ClientOptions(timeout_s=20, attempts=1)

    def write(client: RecallClient, writer: int) -> None:
        number = 0
        while not over.is_set():
            number += 1
            text = f"writer {writer} number {number}"
            try:
                client.update_bank(bank={"name": "moving", "description": text}, update_mask={"paths": ["description"]})  # type: ignore[arg-type]
                client.save(bank="moving", memory=NewMemory(text=text))
                kept.add(text)
                client.recall(bank="moving", query=text)
            except grpc.RpcError as error:
                codes[error.code()] += 1

    settings = ("server.create_banks_on_save=false", "server.flush_every_s=0.05", SMALL_TAIL)
    with serving(tmp_path / "data", "hashing:64", *settings) as service, service.client() as client:
        client.create_bank(name="moving")
        with service.client(once) as hasty:
            writers = [threading.Thread(target=write, args=(hasty, number)) for number in range(6)]
            for writer in writers:
                writer.start()
            for _ in range(25):
                client.reload_bank(name="moving")
                trashed = client.delete_bank(name="moving").trashed
                client.restore_bank(trash_id=trashed.trash_id)
                client.reload_bank(name="moving")
                client.recall(bank="moving", query="number")
            over.set()
            for writer in writers:
                writer.join()
        assert set(codes) <= CLEAR, codes
        found = Counter(one.memory.text for one in client.export(bank="moving"))
        assert kept <= set(found)
        assert set(found.values()) <= {1}
        assert not client.status().trouble
        assert service.stop() == 0
        assert "Traceback" not in service.logged()
        assert " bug rpc=" not in service.logged()


def removed(file: Path, _other: Path) -> None:
    file.unlink()


def cut(file: Path, _other: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flipped(file: Path, _other: Path) -> None:
    data = bytearray(file.read_bytes() or b"\0")
    data[len(data) // 2] ^= 0x55
    file.write_bytes(data)


def zeroed(file: Path, _other: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def swapped(file: Path, other: Path) -> None:
    """A well-formed file of the other bank in its place."""
    file.write_bytes(other.read_bytes())


def derived_files(data: Path, bank: str) -> list[Path]:
    """Files of equal place have equal meaning in every bank: Tantivy's names are random, their suffixes are not."""
    folder = data / "default" / bank / "derived"
    found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]
    return sorted(found, key=lambda path: (path.parent.name, path.suffix, path.name))


@pytest.mark.parametrize("spoil", [removed, cut, flipped, zeroed, swapped])
def test_any_one_derived_file_may_be_spoiled_while_stopped(tmp_path: Path, spoil: Callable[[Path, Path], None]) -> None:
    data = tmp_path / "data"
    banks = [f"bank{number}" for number in range(12)]
    with serving(data, "hashing:64", SMALL_TAIL) as service, service.client() as client:
        for bank in (*banks, "other"):
            texts = [f"{'else' if bank == 'other' else 'fact'} number{n} of a bank" for n in range(150)]
            client.save_batch(bank=bank, memories=[NewMemory(text=text) for text in texts])
        for bank in (*banks, "other"):
            coverage = client.get_bank(name=bank).bank.coverage
            while coverage.embedded < coverage.total:
                coverage = client.get_bank(name=bank).bank.coverage
        assert service.stop() == 0
    others = derived_files(data, "other")
    assert len(others) >= 8
    for place, other in enumerate(others):
        bank = banks[place % len(banks)]
        spoil(derived_files(data, bank)[place if spoil is not removed else place - place // len(banks)], other)
    with serving(data, "hashing:64", SMALL_TAIL) as service, service.client() as client:
        for bank in banks:
            answer = client.recall(bank=bank, query="number123", mode=RECALL_MODE_LEXICAL)
            assert answer.results[0].memory.text == "fact number123 of a bank"
            found = client.recall(bank=bank, query="else", mode=RECALL_MODE_LEXICAL)
            assert len(found.results) == 0
        assert not client.status().trouble
        assert service.stop() == 0
        assert "Traceback" not in service.logged()


def test_a_large_bank_without_derived_data_answers_at_once_and_says_that_it_rebuilds(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data, "none") as service, service.client() as client:
        for start in range(0, 12_000, 1_000):
            texts = [f"fact number{n} of a large bank" for n in range(start, start + 1_000)]
            client.save_batch(bank="large", memories=[NewMemory(text=text) for text in texts])
        service.kill()
    shutil.rmtree(data / "default" / "large" / "derived", ignore_errors=True)
    with serving(data, "none") as service, service.client() as client:
        first = client.recall(bank="large", query="number11999")
        assert first.results[0].memory.text == "fact number11999 of a large bank"
        reasons = [one.reason for one in first.degraded]
        assert DEGRADATION_REASON_INDEX_REBUILDING in reasons
        while DEGRADATION_REASON_INDEX_REBUILDING in reasons:
            reasons = [one.reason for one in client.recall(bank="large", query="number3").degraded]
        assert client.recall(bank="large", query="number3").results[0].memory.text == "fact number3 of a large bank"
        assert service.stop() == 0
