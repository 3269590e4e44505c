"""Watchers get what they want, in order, never hold up a write, and are told what they missed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from recall.memory.banks import Banks
from recall.memory.clock import SystemClock
from recall.memory.files import DiskFiles
from recall.memory.record import NewMemory
from recall.memory.settings import StorageSettings
from recall.server.refusals import Stopping, TooManyWatchers
from recall.server.watch import BankChanges, Interest, Notice, Watcher, WatchHub, replay, unseen


def notice(seq: int, bank: str = "demo", op: str = "save", tenant: str = "default") -> Notice:
    return Notice(tenant, bank, seq=seq, at=seq, op=op)


def taken(watcher: Watcher, count: int) -> list[Notice]:
    return [found for _, found in zip(range(count), watcher, strict=False)]


EVERYTHING = Interest("default")


@pytest.mark.parametrize(
    ("interest", "wanted"),
    [
        (EVERYTHING, [1, 2, 3]),
        (Interest("default", bank="demo"), [1, 2]),
        (Interest("default", ops=frozenset({"delete"})), [2]),
        (Interest("default", tags=frozenset({"work"})), []),
        (Interest("other"), []),
    ],
)
def test_a_watcher_gets_what_it_wants_in_order(interest: Interest, wanted: list[int]) -> None:
    hub = WatchHub(max_watchers=1, queue_length=8)
    watcher = hub.subscribe(interest)
    for one in (notice(1), notice(2, op="delete"), notice(3, bank="else")):
        hub.publish(one)
    assert [found.seq for found in taken(watcher, len(wanted))] == wanted


def test_a_slow_watcher_loses_the_oldest_and_is_told_how_many() -> None:
    hub = WatchHub(max_watchers=1, queue_length=2)
    watcher = hub.subscribe(EVERYTHING)
    for seq in range(1, 6):
        hub.publish(notice(seq))
    assert [(found.seq, found.missed) for found in taken(watcher, 2)] == [(4, 3), (5, 0)]


def test_a_watcher_too_many_is_refused_until_one_leaves() -> None:
    hub = WatchHub(max_watchers=1, queue_length=2)
    first = hub.subscribe(EVERYTHING)
    with pytest.raises(TooManyWatchers):
        hub.subscribe(EVERYTHING)
    hub.leave(first)
    hub.subscribe(EVERYTHING)


def test_a_replay_and_what_came_meanwhile_make_one_stream_without_gap_or_double(tmp_path: Path) -> None:
    hub = WatchHub(max_watchers=1, queue_length=16)
    banks = Banks(tmp_path, StorageSettings(), DiskFiles(), SystemClock())
    bank = banks.create("default", "demo")
    bank.subscribe(BankChanges(bank, hub, lambda: None))
    bank.save([NewMemory(text="before")])
    watcher = hub.subscribe(EVERYTHING)
    bank.save([NewMemory(text="meanwhile")])
    replayed_to = bank.last_seq
    bank.save([NewMemory(text="after")])
    shown = [*replay(bank, 1, replayed_to), next(unseen(watcher, replayed_to))]
    assert [(one.seq, one.text) for one in shown] == [(2, "before"), (3, "meanwhile"), (4, "after")]
    banks.close()


def test_seqs_that_begin_anew_after_a_change_of_the_bank_are_shown() -> None:
    notices = [notice(3), notice(0, op="bank_reloaded"), notice(2)]
    assert [one.seq for one in unseen(notices, replayed_to=5)] == [0, 2]


def test_a_waiting_watcher_wakes_when_the_server_stops_and_none_comes_after() -> None:
    hub = WatchHub(max_watchers=2, queue_length=2)
    watcher = hub.subscribe(EVERYTHING)
    ended: list[type[BaseException]] = []

    def wait() -> None:
        try:
            next(iter(watcher))
        except Stopping as error:
            ended.append(type(error))

    thread = threading.Thread(target=wait)
    thread.start()
    hub.close()
    thread.join(timeout=5)
    assert ended == [Stopping]
    with pytest.raises(Stopping):
        hub.subscribe(EVERYTHING)
