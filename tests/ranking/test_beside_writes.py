"""Recalls beside one applier: each sees one state of the bank, and neither side waits for long."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from ranked_bank import RankedBank

from recall.memory.errors import StorageFailure
from recall.memory.record import NewMemory, Record
from recall.ranking.latch import Latch
from recall.ranking.query import Mode

ROUNDS = 40


def test_a_recall_beside_writes_is_of_one_state(small: RankedBank) -> None:
    """Of each pair exactly one member lives: the writer deletes the old one in the step that brings the new one."""
    first = small.bank.save([NewMemory(text="otter generation zero")])[0]
    stop = threading.Event()

    def ask() -> list[tuple[int, int]]:
        seen = []
        while not stop.is_set():
            ranked = small.ask("otter generation", Mode.LEXICAL, limit=100)
            live = sum(result.record.status.live for result in ranked.results)
            assert live == len(ranked.results), "a dead memory was answered"
            seen.append((ranked.as_of_seq, len(ranked.results)))
        return seen

    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(ask) for _ in range(2)]
        current = first.record.id  # type: ignore[union-attr]
        for n in range(ROUNDS):
            saved = small.bank.save([NewMemory(text=f"otter generation {n} of many")])[0]
            small.bank.delete(current)
            current = saved.record.id  # type: ignore[union-attr]
        stop.set()
        seen = [one for future in asking for one in future.result()]
    by_seq: dict[int, int] = {}
    for seq, count in seen:
        assert by_seq.setdefault(seq, count) == count, "two answers of one seq differ"
    assert all(count in (1, 2) for _, count in seen)
    assert len(small.texts("otter generation", Mode.LEXICAL)) == 1


def test_every_acknowledged_save_is_found_by_its_own_thread(small: RankedBank) -> None:
    def work(who: int) -> None:
        for n in range(15):
            small.bank.save([NewMemory(text=f"marker{who}x{n} otter")])
            assert small.texts(f"marker{who}x{n}", Mode.LEXICAL) == [f"marker{who}x{n} otter"]

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))


def test_readers_are_together_and_a_writer_is_alone() -> None:
    latch, inside = Latch(), threading.Barrier(2, timeout=10.0)
    log: list[str] = []

    def read() -> None:
        with latch.reading():
            inside.wait()  # passes only when both readers are in at once
            log.append("read")

    def write() -> None:
        with latch.writing():
            log.append("write")

    with latch.reading():
        writer = threading.Thread(target=write)
        writer.start()
        assert log == []
    writer.join(10.0)
    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(10.0)
    assert log == ["write", "read", "read"]


def test_neither_side_of_the_latch_starves() -> None:
    latch, stop, done = Latch(), threading.Event(), {"read": 0, "write": 0}

    def read() -> None:
        while not stop.is_set():
            with latch.reading():
                done["read"] += 1

    def write() -> None:
        while not stop.is_set():
            with latch.writing():
                done["write"] += 1

    threads = [threading.Thread(target=work) for work in (read, read, write, write)]
    for thread in threads:
        thread.start()
    enough = threading.Event()
    for _ in range(500):
        if min(done.values()) >= 50 or enough.wait(0.02):
            break
    stop.set()
    for thread in threads:
        thread.join(10.0)
    assert min(done.values()) >= 50


def test_a_recall_beside_a_rebuild_waits_for_nothing_and_is_of_one_state(
    small: RankedBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.save("the otter swims", "the otter sleeps", "the heron eats")
    before = [result.record.id for result in small.ask("otter", Mode.LEXICAL).results]
    log = small.bank.place.log
    log.write_bytes(log.read_bytes().replace(b"otter sleeps", b"badger digs!"))
    during: list[str] = []
    read = small.bank.text

    def recalled(record: Record) -> str:
        watched.undo()  # the new index reads its first text; a recall reads texts, too
        during.extend(result.record.id for result in small.ask("otter", Mode.LEXICAL).results)
        return read(record)

    with monkeypatch.context() as watched:
        watched.setattr(small.bank, "text", recalled)
        small.bank.reload()
    assert len(before) == 2
    assert during == before
    assert small.texts("badger", Mode.LEXICAL) == ["the badger digs!"]
    assert small.texts("otter", Mode.LEXICAL) == ["the otter swims"]


def test_a_rebuild_that_fails_leaves_what_answered_before(small: RankedBank, monkeypatch: pytest.MonkeyPatch) -> None:
    small.save("the otter swims", "the otter sleeps")

    def refused(_record: Record) -> str:
        raise StorageFailure(small.bank.place.log, "read", "Input/output error")

    columns = small.index.columns
    with monkeypatch.context() as broken:
        broken.setattr(small.bank, "text", refused)
        with pytest.raises(StorageFailure):
            small.index.rebuild(small.bank.last_seq)
    assert small.index.columns is columns
    assert sorted(small.texts("otter")) == ["the otter sleeps", "the otter swims"]
