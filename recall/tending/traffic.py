"""Recalls go first: work in the background asks here whether one runs, and waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

SHORTEST_BREATH_S = 0.0005
"""Pause that lets another thread have the interpreter, in seconds."""


class Traffic:
    """Counts running recalls. `beside` is entered around each one too, such as the pause of the backfill."""

    def __init__(self, beside: Callable[[], AbstractContextManager[None]]) -> None:
        self._beside = beside
        self._quiet = threading.Condition()
        self._running = 0

    @contextmanager
    def recall(self) -> Iterator[None]:
        """Around a recall."""
        with self._beside():
            with self._quiet:
                self._running += 1
            try:
                yield
            finally:
                with self._quiet:
                    self._running -= 1
                    if not self._running:
                        self._quiet.notify_all()

    def give_way(self, longest_s: float) -> None:
        """Wait until no recall runs, at most so long; at least for a breath."""
        time.sleep(SHORTEST_BREATH_S)
        with self._quiet:
            self._quiet.wait_for(lambda: not self._running, longest_s)
