"""The thread pool of the calls, which knows when it takes no more: under more load than the machine can answer, some
callers hear so at once instead of all of them waiting without end.

The rule is that of controlled delay (K. Nichols and V. Jacobson, "Controlling Queue Delay", ACM Queue 2012; for servers
B. Maurer, "Fail at Scale", ACM Queue 2015): a burst may wait, but a line that has not been empty for `burst_ms` stands,
and then nobody joins it while its first has waited for `standing_ms`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

from recall.server.settings import ServerSettings


class CallPool(ThreadPoolExecutor):
    """Threads that begin tasks in the order they come. Safe in any thread."""

    def __init__(self, settings: ServerSettings, now: Callable[[], float] = time.monotonic) -> None:
        """`now` gives seconds."""
        super().__init__(settings.workers, "recall-call")
        self._most = settings.max_waiting_calls
        self._burst_s, self._standing_s = settings.burst_ms / 1e3, settings.standing_ms / 1e3
        self._now = now
        self._counting = Lock()
        self._came: deque[float] = deque()  # when each came that no thread has begun
        self._empty_at = now()

    @property
    def full(self) -> bool:
        """Whether a call that comes now is to be refused."""
        with self._counting:
            if not self._came:
                return False
            now = self._now()
            stands = now - self._empty_at > self._burst_s and now - self._came[0] > self._standing_s
            return stands or len(self._came) >= self._most

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As every pool does."""
        with self._counting:
            if not self._came:
                self._empty_at = self._now()
            self._came.append(self._now())
        try:
            return super().submit(self._begun, task, *args, **kwargs)
        except RuntimeError:  # the pool was shut down
            self._begin()
            raise

    def _begun(self, task: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self._begin()
        return task(*args, **kwargs)

    def _begin(self) -> None:
        with self._counting:
            self._came.popleft()
