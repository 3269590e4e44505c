"""Many hands: concurrent writers share writes, and each gets its own answer."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from faulty_files import Fault, MemoryFiles
from memory_banks import DATA, banks_on, remembered, saved, texts

from recall.memory.banks import Banks
from recall.memory.clock import SystemClock
from recall.memory.errors import MemoryServiceError
from recall.memory.files import DiskFiles
from recall.memory.group_commit import GroupCommit, Ticket
from recall.memory.record import NewMemory, Outcome, Saved
from recall.memory.settings import StorageSettings

WRITERS = 12


def at_once(count: int, work: Callable[[int], object]) -> list[object]:
    barrier = threading.Barrier(count)

    def run(number: int) -> object:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def disk_banks(folder: Path) -> Banks:
    return Banks(folder / "data", StorageSettings(), DiskFiles(), SystemClock())


def test_twelve_writers_of_distinct_texts_lose_nothing(tmp_path: Path) -> None:
    banks = disk_banks(tmp_path)
    bank = banks.open_or_create("default", "main")
    at_once(WRITERS, lambda writer: [saved(bank, f"text {n} of {writer}") for n in range(20)])
    banks.close()
    again = disk_banks(tmp_path).open("default", "main")
    assert sorted(texts(again)) == sorted(f"text {n} of {w}" for n in range(20) for w in range(WRITERS))
    assert [record.ordinal for record in again.records()] == list(range(20 * WRITERS))


def test_twelve_writers_of_one_text_make_one_memory(tmp_path: Path) -> None:
    banks = disk_banks(tmp_path)
    bank = banks.open_or_create("default", "main")
    results = at_once(WRITERS, lambda _: saved(bank, "the same text"))
    outcomes = [result.outcome for result in results if isinstance(result, Saved)]
    assert sorted(outcomes) == [Outcome.CREATED] + [Outcome.REINFORCED] * (WRITERS - 1)
    banks.close()
    [record] = disk_banks(tmp_path).open("default", "main").records()
    assert record.corroboration == WRITERS - 1


def test_one_request_id_from_many_hands_is_written_once() -> None:
    bank = banks_on().open_or_create("default", "main")
    results = at_once(WRITERS, lambda _: saved(bank, "once", request_id="r"))
    assert {result.seq for result in results if isinstance(result, Saved)} == {2}
    assert bank.last_seq == 2


def test_each_writer_reads_its_own_writes_at_once() -> None:
    bank = banks_on().open_or_create("default", "main")

    def write_and_read(writer: int) -> None:
        last = 0
        for n in range(30):
            result = saved(bank, f"{writer}-{n}")
            assert bank.text(bank.get(result.record.id)) == f"{writer}-{n}"
            assert last < result.seq <= bank.last_seq
            last = result.seq

    at_once(WRITERS, write_and_read)


def test_work_that_arrives_during_a_commit_shares_the_next_one() -> None:
    inside, go_on = threading.Event(), threading.Event()
    groups: list[list[int]] = []

    def commit(group: Sequence[Ticket[int]]) -> None:
        groups.append([ticket.work for ticket in group])
        if len(groups) == 1:
            inside.set()
            go_on.wait()
        for ticket in group:
            ticket.succeed(ticket.work * 10)

    commits: GroupCommit[int] = GroupCommit(max_group=3)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(commits.submit, 0, commit)
        inside.wait()
        others = [pool.submit(commits.submit, n, commit) for n in range(1, 6)]
        while commits.waiting < 6:
            threading.Event().wait(0.001)
        go_on.set()
        assert [future.result() for future in [first, *others]] == [0, 10, 20, 30, 40, 50]
    assert [len(group) for group in groups] == [1, 3, 2]


def test_writers_that_save_again_and_again_share_every_commit() -> None:
    hands, saves = 4, 25
    sizes: list[int] = []

    def commit(group: Sequence[Ticket[int]]) -> None:
        sizes.append(len(group))
        threading.Event().wait(0.002)
        for ticket in group:
            ticket.succeed(None)

    commits: GroupCommit[int] = GroupCommit(max_group=100, gather_share=1_000.0)
    at_once(hands, lambda _: [commits.submit(n, commit) for n in range(saves)])
    assert sum(sizes) == hands * saves
    assert len(sizes) < 1.5 * saves  # halves that take turns would make it twice as many


def test_a_writer_who_is_alone_waits_for_nobody() -> None:
    commits: GroupCommit[int] = GroupCommit(max_group=100, gather_share=1_000.0)

    def commit(group: Sequence[Ticket[int]]) -> None:
        threading.Event().wait(0.001)
        for ticket in group:
            ticket.succeed(None)

    at_once(2, lambda _: [commits.submit(n, commit) for n in range(3)])
    started = time.monotonic()
    for n in range(20):
        commits.submit(n, commit)
    assert time.monotonic() - started < 5.0  # once, at most, for the one who went away


def test_a_commit_that_breaks_fails_its_group_and_no_other() -> None:
    def commit(group: Sequence[Ticket[int]]) -> None:
        for ticket in group:
            if ticket.work < 0:
                raise ValueError("broke")
            ticket.succeed(ticket.work)

    commits: GroupCommit[int] = GroupCommit(max_group=3)
    with pytest.raises(ValueError, match="broke"):
        commits.submit(-1, commit)
    assert commits.submit(1, commit) == 1


@pytest.mark.parametrize("fault_at", range(1, 8))
def test_when_the_disk_refuses_a_group_none_of_it_is_seen(fault_at: int) -> None:
    files = MemoryFiles()
    bank = banks_on(files).open_or_create("default", "main")
    remembered(bank, "before")
    files.fault = Fault(files.calls + fault_at)

    def write(writer: int) -> bool:
        return isinstance(bank.save([NewMemory(text=f"text of {writer}")])[0], Saved)

    def try_to_write(writer: int) -> bool:
        try:
            return write(writer)
        except MemoryServiceError:
            return False

    acknowledged = at_once(WRITERS, try_to_write)
    files.fault = None
    expected = {"before"} | {f"text of {w}" for w in range(WRITERS) if acknowledged[w]}
    assert set(texts(bank)) == expected
    assert set(texts(banks_on(files.after_crash()).open("default", "main"))) == expected


def test_reload_and_writes_at_once_lose_nothing() -> None:
    files = MemoryFiles()
    banks = banks_on(files)
    bank = banks.open_or_create("default", "main")

    def work(number: int) -> None:
        for n in range(20):
            if number == 0:
                banks.reload("default", "main")
            else:
                saved(bank, f"{number}-{n}")

    at_once(5, work)
    assert len(texts(bank)) == 80
    assert files.exists(DATA / "default" / "main" / "log.jsonl")


def test_writers_go_on_with_the_successor_of_a_bank_that_was_closed_for_room() -> None:
    banks = banks_on(settings=StorageSettings(max_open_banks=1))
    held = [banks.open_or_create("default", name) for name in ("a", "b", "c")]

    def work(number: int) -> None:
        for n in range(20):
            saved(held[number % 3], f"{number}-{n}")
            assert len(banks.opened()) <= WRITERS

    at_once(6, work)
    for bank in held:
        assert len(bank.records()) == 40
        assert bank.last_seq == 41
