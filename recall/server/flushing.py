"""Writes derived structures to disk from time to time, so that a restart has little to build again.

An index that failed to take a write in is built anew on the way, and a log that is due is vacuumed.
"""

from __future__ import annotations

import logging
import threading

from recall.server.live import LiveBanks
from recall.server.vacuuming import Vacuuming

logger = logging.getLogger(__name__)


class Flusher:
    """A thread that flushes the index of every open bank, each `every_s` seconds and once more when it is closed."""

    def __init__(self, live: LiveBanks, every_s: float) -> None:
        self._live = live
        self._every_s = every_s
        self._vacuuming = Vacuuming()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recall-flush", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def close(self) -> None:
        """Flushes once more and ends."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(self._every_s):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        for live in self._live.opened():
            try:
                if live.index.stale:
                    live.bank.rebuild_stale()
                live.index.flush()
                live.bank.used.keep()
                live.bank.kept_state.keep(live.bank)
                if not self._closing.is_set():
                    self._vacuuming.look(live.bank)
            except Exception as error:  # noqa: BLE001 - a bank that closes meanwhile must not end the flushing of others
                logger.warning("flush failed bank=%s problem=%s", live.name, type(error).__name__)
