"""Banks that are closed for want of room: what their next opening reads is written first, and no call waits for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from recall.ranking.bank_index import BankIndex

logger = logging.getLogger(__name__)


def flush_last(index: BankIndex) -> None:
    """Writes what the next opening of a bank wants, before it is closed for want of room."""
    try:
        index.flush()
        index.bank.used.keep()
        opened = index.bank.opened_now()
        if opened is not None:
            index.bank.kept_state.keep_last(opened)
    except Exception as error:  # noqa: BLE001 - it costs the next opening time and nothing else
        logger.warning("flush failed bank=%s problem=%s", index.bank.name, type(error).__name__)


class Afterwards:
    """A thread for what no call should wait for: closing banks for want of room. The same work waits but once."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "recall-room")
        self._waiting = threading.Event()

    def __call__(self, work: Callable[[], None]) -> None:
        """Begins it soon, unless it is about to begin; at once where the thread has ended."""
        if self._waiting.is_set():
            return
        self._waiting.set()
        try:
            self._thread.submit(self._run, work)
        except RuntimeError:  # the server stops
            self._run(work)

    def close(self) -> None:
        """Carries out what waits and ends."""
        self._thread.shutdown()

    def _run(self, work: Callable[[], None]) -> None:
        self._waiting.clear()
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the next opening tries again
            logger.warning("cannot make room problem=%s", type(error).__name__)
