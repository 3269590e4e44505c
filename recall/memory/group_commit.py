"""Group commit by leader and followers: work that arrives while a commit runs shares the next one.

Whoever finds nobody leading leads: takes all that is queued, commits it in one go, and hands the lead to the first who
came meanwhile. The others sleep until their own work is done. No thread of its own, and nobody waits for two commits
of others.

Of a group whose work is done, each wakes the one behind it. Were all woken at once they would fight for the one
interpreter, be put to sleep again and woken a second time, which took a fifth of the processor's time of a save.

Writers that save one thing after the other would fall into two halves, one committing while the other gets ready, and
share half of what they could. So a leader that was not alone last time waits for those who were there then, for a part
of the time that a commit takes and not a moment longer. A writer who is alone never waits.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Generic, TypeVar

Work = TypeVar("Work")


class Ticket(Generic[Work]):
    """One piece of work in the queue; `result` or `error` is set by the commit."""

    __slots__ = ("behind", "done", "error", "gate", "result", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.result: object = None
        self.error: BaseException | None = None
        self.done = False
        self.behind: Ticket[Work] | None = None  # who sleeps until this one is awake
        self.gate = threading.Lock()
        self.gate.acquire()

    def succeed(self, result: object) -> None:
        """The work is done."""
        self.result = result
        self.done = True

    def fail(self, error: BaseException) -> None:
        """The work is refused, or could not be done."""
        self.error = error
        self.done = True


def wake(ticket: Ticket[Work] | None) -> None:
    """Let the one who sleeps at its gate go on, if there is one."""
    if ticket is not None:
        ticket.gate.release()


Commit = Callable[[Sequence[Ticket[Work]]], None]


class GroupCommit(Generic[Work]):
    """The queue of one bank."""

    def __init__(self, max_group: int, gather_share: float = 0.5) -> None:
        """At most `max_group` share a commit; a leader waits for others for `gather_share` of the last one's time."""
        self._max_group = max_group
        self._gather_share = gather_share
        self._door = threading.Lock()
        self._queue: list[Ticket[Work]] = []
        self._hands = 1  # who was there at the last commit, in it or behind it
        self._commit_s = 0.0
        self._awaited = 0  # how long a queue the leader waits for; 0 when it does not wait
        self._gathered = threading.Lock()
        self._gathered.acquire()
        self._leading = False
        self._writing = threading.Lock()

    @property
    def waiting(self) -> int:
        """How much work is queued, what runs included."""
        return len(self._queue)

    def submit(self, work: Work, commit: Commit[Work]) -> object:
        """Commit the work, alone or with others; returns its result or raises its error.

        Whoever leads uses its own `commit`, so all must give the same. (It is not kept: a queue that knew its bank
        would keep the bank's descriptor open until the garbage collector comes.)
        """
        ticket = Ticket(work)
        with self._door:
            self._queue.append(ticket)
            leads = not self._leading
            self._leading = True
            if self._awaited and len(self._queue) >= self._awaited:
                self._awaited = 0
                self._gathered.release()
        if not leads:
            ticket.gate.acquire()
            wake(ticket.behind)
        if not ticket.done:
            self._lead(commit)
        if ticket.error is not None:
            raise ticket.error
        return ticket.result

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let the running commit end, then keep others out."""
        with self._writing:
            yield

    def _lead(self, commit: Commit[Work]) -> None:
        """The leader's own ticket is at the head of the queue, so it is part of the group."""
        self._gather()
        with self._writing:
            with self._door:
                group = self._queue[: self._max_group]
            started = time.perf_counter()
            try:
                commit(group)
            except BaseException as error:  # noqa: BLE001 (each of the group raises it)
                for ticket in group:
                    if not ticket.done:
                        ticket.fail(error)
            self._commit_s = time.perf_counter() - started
        with self._door:
            self._hands = len(self._queue)
            del self._queue[: len(group)]
            successor = self._queue[0] if self._queue else None
            self._leading = successor is not None
        for ticket, behind in pairwise(group):
            ticket.behind = behind
        wake(successor)
        wake(group[0].behind)

    def _gather(self) -> None:
        """Wait until as many are queued as were there last time, or the time for it is up."""
        with self._door:
            wanted = min(self._hands, self._max_group)
            if len(self._queue) >= wanted:
                return
            self._awaited = wanted
        if not self._gathered.acquire(timeout=self._gather_share * self._commit_s):
            with self._door:
                late = not self._awaited  # the last one came in this very moment, and has released
                self._awaited = 0
            if late:
                self._gathered.acquire()
