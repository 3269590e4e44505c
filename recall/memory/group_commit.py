"""Group commit by leader and followers: work that arrives while a commit runs shares the next one.

Whoever finds nobody leading leads: takes all that is queued, commits it in one go, and hands the lead to the first who
came meanwhile. The others sleep until their own work is done. No thread of its own, and nobody waits for two commits
of others.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

Work = TypeVar("Work")


class Ticket(Generic[Work]):
    """One piece of work in the queue; `result` or `error` is set by the commit."""

    __slots__ = ("done", "error", "gate", "result", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.result: object = None
        self.error: BaseException | None = None
        self.done = False
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


Commit = Callable[[Sequence[Ticket[Work]]], None]


class GroupCommit(Generic[Work]):
    """The queue of one bank."""

    def __init__(self, max_group: int) -> None:
        self._max_group = max_group
        self._door = threading.Lock()
        self._queue: list[Ticket[Work]] = []
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
        if not leads:
            ticket.gate.acquire()
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
        with self._writing:
            with self._door:
                group = self._queue[: self._max_group]
            try:
                commit(group)
            except BaseException as error:  # noqa: BLE001 (each of the group raises it)
                for ticket in group:
                    if not ticket.done:
                        ticket.fail(error)
        with self._door:
            del self._queue[: len(group)]
            successor = self._queue[0] if self._queue else None
            self._leading = successor is not None
        if successor is not None:
            successor.gate.release()
        for ticket in group[1:]:
            ticket.gate.release()
