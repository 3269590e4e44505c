"""A number of places that callers take for as long as they stay."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from recall.server.refusals import TooManyStreams


class Places:
    """Places for streams of queries. Safe in any thread."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._free = threading.Semaphore(limit)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """One place inside the `with`. Raises TooManyStreams when there is none."""
        if not self._free.acquire(blocking=False):
            raise TooManyStreams(self._limit)
        try:
            yield
        finally:
            self._free.release()
