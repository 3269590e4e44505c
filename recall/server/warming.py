"""What the first callers would wait for, done before they come: the banks written last are opened at start."""

from __future__ import annotations

import logging
import threading

from recall.memory.banks import DEFAULT_TENANT
from recall.memory.errors import MemoryServiceError
from recall.memory.log import LOG_NAME
from recall.server.live import LONGEST_WAIT_S, LiveBanks
from recall.server.refusals import EdgeError

logger = logging.getLogger(__name__)


class Warmer:
    """A thread that opens the `most` banks that were written last, one after the other, and ends."""

    def __init__(self, live: LiveBanks, most: int) -> None:
        self._live = live
        self._most = most
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recall-warm", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def close(self) -> None:
        """Ends after the bank that is being opened."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        for name in self._last_written():
            if self._closing.is_set():
                return
            try:
                with self._live.lease(name, LONGEST_WAIT_S):
                    pass
            except (MemoryServiceError, EdgeError) as error:  # who asks for the bank is told; nobody has yet
                logger.warning("cannot open bank=%s error=%s", name, error)

    def _last_written(self) -> list[str]:
        written: list[tuple[float, str]] = []
        for name in self._live.banks.list(DEFAULT_TENANT):
            log = self._live.banks.folder(DEFAULT_TENANT, name) / LOG_NAME
            try:
                written.append((log.stat().st_mtime, name))
            except OSError:  # the bank is damaged or went meanwhile
                continue
        return [name for _, name in sorted(written, reverse=True)[: self._most]]
