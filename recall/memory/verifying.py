"""Verifies, behind all else, what the starts of banks left out. One thread for all banks, which rests between steps.

A bank that closes before its turn is verified after it is opened again.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque

from recall.memory.bank import Bank
from recall.memory.kept_state import verify

_REST_SHARE = 1.0
"""Rest after a step, as a part of the time that the step took: calls are served meanwhile."""


class Verifying:
    """Takes banks in turn. The thread lives while there is work."""

    def __init__(self) -> None:
        self._waiting: deque[weakref.ref[Bank]] = deque()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._stepped = 0.0

    def add(self, bank: Bank) -> None:
        """Verify it when its turn comes; nothing when it was read whole."""
        opened = bank.opened_now()
        if opened is None or not opened.unread:
            return
        with self._lock:
            self._waiting.append(weakref.ref(bank))
            if self._thread is None and not self._stopping.is_set():
                self._thread = threading.Thread(target=self._run, name="recall-verify", daemon=True)
                self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Whether all is verified within `timeout_s` seconds."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)
        return thread is None or not thread.is_alive()

    def close(self) -> None:
        """End after the step under way."""
        self._stopping.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (bank := self._next()) is not None:
            self._stepped = time.monotonic()
            verify(bank, self._rest)

    def _next(self) -> Bank | None:
        with self._lock:
            while self._waiting and not self._stopping.is_set():
                bank = self._waiting.popleft()()
                if bank is not None:
                    return bank
            self._thread = None
            return None

    def _rest(self) -> bool:
        went_on = not self._stopping.wait((time.monotonic() - self._stepped) * _REST_SHARE)
        self._stepped = time.monotonic()
        return went_on
