"""The thread pool of the calls, and what becomes of more calls than the machine can answer: some are refused soon, the
others are answered soon, and nobody waits without end.

    calm       as many calls as threads, or fewer: each begins when it comes
    crowded    more of them for `crowded_ms` without a break: the newest begins first, and few beside each other
    overload   more of them for `burst_ms`: who waited longer than `standing_ms` is refused, till none is for `burst_ms`

In a line kept in order each would wait as long as the whole line; served from its young end, nearly all that are
answered are answered at once, and the others when the line gets short again. So a pause of the machine refuses nobody,
and load beyond what it can do makes nobody slow (K. Nichols and V. Jacobson, "Controlling Queue Delay", ACM Queue 2012;
B. Maurer, "Fail at Scale", ACM Queue 2015). Of a line that is full the oldest is refused at any time.

Few beside each other, because one interpreter runs them all: sixteen that share it are each sixteen times as slow, and
keep the thread that takes calls from the network waiting. One that is still under way after `busy_ms` is taken to wait
for a disk, a model or a bank, and another begins beside it, up to as many as there are threads.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from recall.server.refusals import Overloaded
from recall.server.settings import ServerSettings

_here = threading.local()


def refuse_if_told() -> None:
    """Raises Overloaded on the thread that ends the calls for which there is no room."""
    if getattr(_here, "refuses", False):
        raise Overloaded


@dataclass(frozen=True, slots=True)
class _Call:
    task: Callable[[], Any]
    came: float
    future: Future[Any]

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.task()
        except BaseException as error:  # noqa: BLE001 - whoever waits for the future gets it, as in every pool
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class CallPool(ThreadPoolExecutor):
    """Threads that answer calls. A call that is refused runs on a thread where `refuse_if_told` raises."""

    def __init__(self, settings: ServerSettings, now: Callable[[], float] = time.monotonic) -> None:
        """`now` gives seconds."""
        super().__init__(settings.workers, "recall-call")
        self._refuser = ThreadPoolExecutor(1, "recall-refuse", _refuse_here)
        self._settings = settings
        self._now = now
        self._turn = threading.Condition()
        self._line: deque[_Call] = deque()  # calls that no thread has begun, the oldest first
        self._running: dict[int, float] = {}  # when each was begun, the oldest first
        self._calm_at = now()
        self._refused_at = -math.inf  # when somebody was last found to have waited too long

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As every pool does."""
        with self._turn:
            call = _Call(partial(task, *args, **kwargs), self._seen(), Future())
            self._line.append(call)
            over = [self._line.popleft()] if len(self._line) > self._settings.max_waiting_calls else []
        self._refuse(over)
        try:
            super().submit(self._next)
        except RuntimeError:  # the pool was shut down
            with self._turn:
                if call in self._line:
                    self._line.remove(call)
            raise
        return call.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As of every pool."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._refuser.shutdown(wait, cancel_futures=cancel_futures)

    def _next(self) -> None:
        """Answers one call of the line; there is none where its turn came when it was refused."""
        with self._turn:
            while self._line and (wait_s := self._wait_s()) > 0:
                self._turn.wait(wait_s)
            late = self._late()
            call = self._taken()
            if self._line and self._wait_s() <= 0:
                self._turn.notify()  # there is room for one more
        self._refuse(late)
        if call is not None:
            self._answer(call)

    def _answer(self, call: _Call) -> None:
        try:
            call.run()
        finally:
            with self._turn:
                del self._running[id(call)]
                self._turn.notify()

    def _seen(self) -> float:
        """Now; whoever looks at the line notes first whether it is calm."""
        now = self._now()
        if len(self._line) + len(self._running) <= self._settings.workers:
            self._calm_at = now
        return now

    def _overload(self, now: float) -> bool:
        burst_s = self._settings.burst_ms / 1e3
        return now - self._calm_at > burst_s or now - self._refused_at < burst_s

    def _crowded(self, now: float) -> bool:
        return now - self._calm_at > self._settings.crowded_ms / 1e3 or self._overload(now)

    def _wait_s(self) -> float:
        """How long until another call may begin, in seconds, if none ends before."""
        now, busy_s = self._seen(), self._settings.busy_ms / 1e3
        if not self._crowded(now):
            return 0.0
        busy = [began for began in self._running.values() if now - began < busy_s]
        return 0.0 if len(busy) < self._settings.busy_calls else busy[0] + busy_s - now

    def _late(self) -> list[_Call]:
        """Takes out of the line who is to be refused."""
        now, late = self._seen(), list[_Call]()
        if self._overload(now):
            while len(self._line) > 1 and now - self._line[0].came > self._settings.standing_ms / 1e3:
                late.append(self._line.popleft())
        if late:
            self._refused_at = now
        return late

    def _taken(self) -> _Call | None:
        """Takes out of the line whose turn it is."""
        if not self._line:
            return None
        now = self._seen()
        call = self._line.pop() if self._crowded(now) else self._line.popleft()
        self._running[id(call)] = now
        return call

    def _refuse(self, calls: list[_Call]) -> None:
        for call in calls:
            try:
                self._refuser.submit(call.run)
            except RuntimeError:  # the pool was shut down
                call.future.cancel()


def _refuse_here() -> None:
    _here.refuses = True
