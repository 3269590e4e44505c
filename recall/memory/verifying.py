"""Verifies, behind all else, what the starts of banks left out. One thread for all banks, which rests between steps.

Whoever opens a bank asks it something, so it is let alone for a while first. A bank that closes before its turn is
verified after it is opened again.
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
_LET_ALONE_S = 1.0
"""How long nothing is verified of a bank that was just opened."""


class Verifying:
    """Takes banks in turn. The thread lives while there is work."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[float, weakref.ref[Bank]]] = deque()  # each with the time from when on
        self._hurry = threading.Event()
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
            self._waiting.append((time.monotonic() + _LET_ALONE_S, weakref.ref(bank)))
            if self._thread is None and not self._stopping.is_set():
                self._thread = threading.Thread(target=self._run, name="recall-verify", daemon=True)
                self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Whether all is verified within `timeout_s` seconds; no bank is let alone any more."""
        self._hurry.set()
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)
        return thread is None or not thread.is_alive()

    def close(self) -> None:
        """End after the step under way."""
        self._stopping.set()
        self._hurry.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (due_at := self._next_due_at()) is not None:
            self._hurry.wait(max(0.0, due_at - time.monotonic()))
            bank = self._next()
            if bank is None:
                continue
            self._stepped = time.monotonic()
            verify(bank, self._rest)
            del bank  # it may close while the next one is let alone

    def _next_due_at(self) -> float | None:
        """When the first bank in the line that is still there may be verified; None ends the thread."""
        with self._lock:
            while self._waiting and self._waiting[0][1]() is None:
                self._waiting.popleft()
            if self._waiting and not self._stopping.is_set():
                return self._waiting[0][0]
            self._thread = None
            return None

    def _next(self) -> Bank | None:
        with self._lock:
            return None if self._stopping.is_set() else self._waiting.popleft()[1]()

    def _rest(self) -> bool:
        went_on = not self._stopping.wait((time.monotonic() - self._stepped) * _REST_SHARE)
        self._stepped = time.monotonic()
        return went_on
