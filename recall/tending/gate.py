"""One run at a time on a bank, whoever asked for it: the schedule, a person, an undoing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from recall.tending.errors import BankBusy

Key = tuple[str, str]
"""(tenant, bank name)."""


class Gate:
    """Which banks are being tended, and by which run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside: dict[Key, str] = {}

    @contextmanager
    def enter(self, key: Key, run: str) -> Iterator[None]:
        """Alone on the bank. Raises BankBusy when another run is inside."""
        with self._lock:
            other = self._inside.setdefault(key, run)
            if other is not run:
                raise BankBusy(key[1], other)
        try:
            yield
        finally:
            with self._lock:
                del self._inside[key]

    def inside(self, key: Key) -> str:
        """The run on a bank; "" when there is none."""
        return self._inside.get(key, "")
