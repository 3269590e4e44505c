"""Watch streams: changes of memories and banks, handed to whoever listens, without ever holding up a write.

Every open bank has a `BankChanges` among its derived structures; it puts a `Notice` for each change into the queue of
each watcher that wants it. A queue is bounded: when a watcher reads too slowly the oldest notices are dropped, and the
next one it gets says how many it `missed`. A watcher holds one thread of a pool of its own; when every place is taken
the next one is refused.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recall.memory.bank import Bank
from recall.memory.beginning import KEPT
from recall.memory.record import Change, Record
from recall.server.refusals import Stopping, TooManyWatchers


@dataclass(frozen=True, slots=True)
class Notice:
    """One change. `seq` is 0 and `record` None for a change of a bank; `at` in microseconds UTC."""

    tenant: str
    bank: str
    seq: int
    at: int
    op: str
    record: Record | None = None
    text: str | None = None
    """The text after the change, where the change set it; else it is read from the bank."""
    missed: int = 0
    """Notices that this watcher lost just before this one."""


@dataclass(frozen=True, slots=True)
class Interest:
    """Which notices a watcher wants. Empty fields want everything."""

    tenant: str
    bank: str = ""
    tags: frozenset[str] = frozenset()
    ops: frozenset[str] = frozenset()

    def wants(self, notice: Notice) -> bool:
        """Whether the notice passes every filter; with tags, only changes of memories can."""
        if notice.tenant != self.tenant or (self.bank and notice.bank != self.bank):
            return False
        if self.ops and notice.op not in self.ops:
            return False
        return not self.tags or (notice.record is not None and self.tags.issubset(notice.record.tags))


class Watcher:
    """One listener's queue. Iterating waits for notices until the watcher is closed."""

    def __init__(self, interest: Interest, capacity: int) -> None:
        self.interest = interest
        self._queue: deque[Notice] = deque()
        self._capacity = capacity
        self._changed = threading.Condition()
        self._missed = 0
        self._closed: Exception | bool = False

    def offer(self, notice: Notice) -> None:
        """Queues a notice; drops the oldest one when the queue is full."""
        with self._changed:
            if len(self._queue) >= self._capacity:
                self._queue.popleft()
                self._missed += 1
            self._queue.append(notice)
            self._changed.notify()

    def close(self, reason: Exception | None = None) -> None:
        """Ends the iteration, with an error when there is a reason."""
        with self._changed:
            self._closed = reason or True
            self._changed.notify()

    def __iter__(self) -> Iterator[Notice]:
        while (notice := self._next()) is not None:
            yield notice

    def _next(self) -> Notice | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closed)
            if isinstance(self._closed, Exception):
                raise self._closed
            if self._closed:
                return None
            missed, self._missed = self._missed, 0
            notice = self._queue.popleft()
            return replace(notice, missed=missed) if missed else notice


class WatchHub:
    """Every watcher there is."""

    def __init__(self, max_watchers: int, queue_length: int) -> None:
        self._max_watchers = max_watchers
        self._queue_length = queue_length
        self._lock = threading.Lock()
        self._watchers: tuple[Watcher, ...] = ()
        self._stopping = False

    def __len__(self) -> int:
        return len(self._watchers)

    def subscribe(self, interest: Interest) -> Watcher:
        """A new watcher, which gets every notice from now on. Raises TooManyWatchers, Stopping."""
        with self._lock:
            if self._stopping:
                raise Stopping
            if len(self._watchers) >= self._max_watchers:
                raise TooManyWatchers(self._max_watchers)
            watcher = Watcher(interest, self._queue_length)
            self._watchers = (*self._watchers, watcher)
            return watcher

    def leave(self, watcher: Watcher) -> None:
        """Forgets a watcher and ends its iteration."""
        with self._lock:
            self._watchers = tuple(other for other in self._watchers if other is not watcher)
        watcher.close()

    def publish(self, notice: Notice) -> None:
        """Hands a notice to everybody who wants it."""
        for watcher in self._watchers:
            if watcher.interest.wants(notice):
                watcher.offer(notice)

    def close(self) -> None:
        """Ends every stream; the server is stopping."""
        with self._lock:
            self._stopping = True
            watchers, self._watchers = self._watchers, ()
        for watcher in watchers:
            watcher.close(Stopping())


class BankChanges:
    """The derived structure of a bank that only passes its changes on, and wakes whoever embeds them."""

    def __init__(self, bank: Bank, hub: WatchHub, wake: Callable[[], None]) -> None:
        self._bank = bank
        self._hub = hub
        self._wake = wake

    def apply(self, changes: Sequence[Change], last_seq: int) -> None:  # noqa: ARG002 - the seq stands in the changes
        """Publishes each change; called under the bank's write lock, so it only queues. A vacuum changes no memory."""
        self._wake()
        if not len(self._hub):
            return
        for change in changes:
            if change.op != KEPT:
                self._hub.publish(self._notice(change))

    def rebuild(self, last_seq: int) -> None:
        """Nothing is kept, so nothing is read again; the reload itself is published by who asked for it."""

    def _notice(self, change: Change) -> Notice:
        at = change.after.updated_at
        return Notice(
            self._bank.tenant, self._bank.name, change.seq, at, change.op, record=change.after, text=change.text
        )


def replay(bank: Bank, from_seq: int, to_seq: int) -> Iterator[Notice]:
    """The changes of memories from one seq to another, both inclusive, each with the memory as it was then."""
    histories: dict[str, dict[int, Notice]] = {}
    for event in bank.events(from_seq):
        if event.seq > to_seq:
            return
        if not event.id:
            continue
        if event.id not in histories:
            histories[event.id] = _notices(bank, event.id)
        notice = histories[event.id].get(event.seq)
        if notice is not None:
            yield notice


def unseen(notices: Iterable[Notice], replayed_to: int) -> Iterator[Notice]:
    """What a replay up to a seq has not shown yet. A change of the bank itself may begin its seqs anew."""
    for notice in notices:
        if notice.seq == 0:
            replayed_to = 0
        if notice.seq == 0 or notice.seq > replayed_to:
            yield notice


def _notices(bank: Bank, memory_id: str) -> dict[int, Notice]:
    return {
        entry.seq: Notice(bank.tenant, bank.name, entry.seq, entry.at, entry.op, record=entry.record, text=entry.text)
        for entry in bank.history(memory_id)
    }
