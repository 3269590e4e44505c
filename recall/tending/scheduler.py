"""Runs that nobody asks for: looks from time to time which banks are due, and tends them.

Off unless `consolidate.enabled`. A bank that is due is swept first, then consolidated if it changed. After the start it
waits for the grace, then makes up for what was missed. The wait between two looks is by the monotonic clock, what is
due is by the calendar, so that neither a suspended machine nor a clock that jumps keeps a bank from its turn. A bank
whose pass was not clean is tried again later, not at every look.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Protocol

from msgspec.structs import replace

from consolidate.schedule import MICROS, Interval
from consolidate.settings import ConsolidateSettings
from recall.memory.clock import Clock
from recall.memory.errors import MemoryServiceError
from recall.tending.checkpoints import Checkpoints
from recall.tending.errors import TendingRefused
from recall.tending.runner import Order, Runner

logger = logging.getLogger(__name__)

LONGEST_RETRY_S = 900.0
"""Longest wait after a pass that was not clean, in seconds; a tenth of the interval when that is shorter."""

Key = tuple[str, str]


class BankFolders(Protocol):
    """Which banks there are, and where they lie."""

    def tenants(self) -> Sequence[str]:
        """Everybody who has banks."""

    def list(self, tenant: str) -> Sequence[str]:
        """The banks of one of them."""

    def folder(self, tenant: str, name: str) -> Path:
        """Where a bank lies."""


class Scheduler:
    """A thread that tends banks when they are due."""

    def __init__(
        self,
        runner: Runner,
        folders: BankFolders,
        checkpoints: Checkpoints,
        settings: ConsolidateSettings,
        clock: Clock,
        seconds: Callable[[], float] = monotonic,
    ) -> None:
        """`clock` tells the calendar, `seconds` counts without jumps."""
        self._runner = runner
        self._folders = folders
        self._checkpoints = checkpoints
        self._settings = settings
        self._clock = clock
        self._seconds = seconds
        self._interval = Interval.of_hours(settings.interval_hours)
        self._again: dict[Key, float] = {}
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recall-tend", daemon=True)

    def start(self) -> None:
        """Begins, when consolidation is enabled."""
        if self._settings.enabled:
            self._thread.start()

    def close(self) -> None:
        """Ends; a pass that runs ends between two steps."""
        self._closing.set()
        self._runner.close()
        if self._thread.is_alive():
            self._thread.join()

    def look(self) -> list[Key]:
        """Tend what is due now; the banks that had a pass, clean or not."""
        tended: list[Key] = []
        for tenant in self._folders.tenants():
            ready = [name for name in self._folders.list(tenant) if self._ready((tenant, name))]
            due = [name for name in ready if self._swept((tenant, name)) and self._changed((tenant, name))]
            if due and not self._closing.is_set():
                self._tend(tenant, due)
                tended += [(tenant, name) for name in due]
        return tended

    def last_and_next(self, tenant: str, name: str) -> tuple[int, int]:
        """When a bank last had a clean pass and when the next is due, microseconds UTC; 0 for never."""
        last = self._checkpoints.read(self._folders.folder(tenant, name)).last_run
        return last, self._interval.next_at(last, self._clock.now()) if self._settings.enabled else 0

    def _ready(self, key: Key) -> bool:
        if self._again.get(key, 0.0) > self._seconds():
            return False
        last = self._checkpoints.read(self._folders.folder(*key)).last_run
        return self._interval.due(last, self._clock.now())

    def _swept(self, key: Key) -> bool:
        """Also where nothing was written: memories come to their end by time alone."""
        if self._closing.is_set():
            return False
        try:
            self._runner.sweep(*key)
        except (MemoryServiceError, TendingRefused, OSError) as error:
            logger.warning("sweeping failed bank=%s error=%s", key[1], error)
            self._again[key] = self._seconds() + self._retry_s()
            return False
        return True

    def _changed(self, key: Key) -> bool:
        folder = self._folders.folder(*key)
        checkpoint = self._checkpoints.read(folder)
        if self._checkpoints.unchanged(folder, checkpoint):
            self._checkpoints.write(folder, replace(checkpoint, last_run=self._clock.now()))
            return False
        return True

    def _retry_s(self) -> float:
        return min(LONGEST_RETRY_S, self._interval.length / MICROS / 10)

    def _tend(self, tenant: str, names: list[str]) -> None:
        retry_s = self._retry_s()
        for report in self._runner.run(Order(tenant, tuple(names))).banks:
            if report.errors:
                self._again[tenant, report.bank] = self._seconds() + retry_s
            else:
                self._again.pop((tenant, report.bank), None)

    def _run(self) -> None:
        for wait_s in self._waits():
            if self._closing.wait(wait_s):
                return
            try:
                self.look()
            except (MemoryServiceError, TendingRefused, OSError) as error:
                logger.warning("looking for banks to tend failed error=%s", error)
            except Exception:
                logger.exception("a scheduled run failed")

    def _waits(self) -> Iterator[float]:
        yield self._settings.boot_grace_seconds
        while True:
            yield self._settings.look_seconds
