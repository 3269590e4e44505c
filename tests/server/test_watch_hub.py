"""Watchers get what they want, in order, never hold up a write, and are told what they missed."""

from __future__ import annotations

import threading

import pytest

from recall.server.refusals import Stopping, TooManyWatchers
from recall.server.watch import Interest, Notice, Watcher, WatchHub


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
