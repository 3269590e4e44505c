"""Runs: one pass over one bank or many, by a person or by the schedule, all through one gate.

A bank that is busy or cannot be opened is reported with an error and does not hold up the others. The limit on how
many memories may go holds over all banks of a run. A clean pass (no errors, not a dry run) moves the checkpoint of that
bank alone.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import uuid_utils

from consolidate.chat_endpoint import ChatEndpoint
from consolidate.errors import Stopped
from consolidate.judge import Judge
from consolidate.planning import plan_apart
from consolidate.report import BankReport, RunReport
from consolidate.settings import ConsolidateSettings, JudgeSettings
from consolidate.tidy import Pass, Step, tidy
from recall.memory.clock import Clock
from recall.memory.errors import MemoryServiceError
from recall.memory.record import Policy
from recall.tending.bank_port import BankPort
from recall.tending.checkpoints import Checkpoint, Checkpoints
from recall.tending.errors import Ending, TendingRefused
from recall.tending.gate import Gate
from recall.tending.sweep import sweep
from recall.tending.traffic import Traffic

if TYPE_CHECKING:
    from recall.server.live import LiveBank

logger = logging.getLogger(__name__)

_RECENT = 20
_BREATH_S = 0.05
_SWEEPING = "sweep"


@dataclass(frozen=True, slots=True)
class Order:
    """What a run is to do. None leaves a setting as it is."""

    tenant: str
    banks: tuple[str, ...]
    dry_run: bool = False
    merge_cosine: float | None = None
    propose_cosine: float | None = None
    max_supersedes: int | None = None


class Runner:
    """Carries runs out. Every method may be called from any thread."""

    def __init__(
        self,
        lease: Callable[[str, str], AbstractContextManager[LiveBank]],
        settings: ConsolidateSettings,
        judge: JudgeSettings,
        checkpoints: Checkpoints,
        traffic: Traffic,
        clock: Clock,
    ) -> None:
        """`lease(tenant, name)` gives an open bank, waiting for it as long as it takes."""
        self._lease = lease
        self._settings = settings
        self._judge = judge
        self._checkpoints = checkpoints
        self._traffic = traffic
        self._clock = clock
        self._recent: deque[tuple[str, RunReport]] = deque(maxlen=_RECENT)
        self._steps: dict[str, Step] = {}
        self._tenants: dict[str, str] = {}  # run that runs now → whose
        self._ending = threading.Event()
        self.gate = Gate()

    @property
    def recent(self) -> Sequence[RunReport]:
        """The last reports since the start, newest first, those of dry runs and of runs that changed nothing too."""
        return tuple(report for _, report in self._recent)[::-1]

    def recent_of(self, tenant: str) -> Sequence[RunReport]:
        """As `recent`, of one tenant."""
        return tuple(report for owner, report in self._recent if owner == tenant)[::-1]

    def running(self) -> Sequence[Step]:
        """How far each run is that runs now."""
        return tuple(self._steps.values())

    def running_of(self, tenant: str) -> Sequence[Step]:
        """As `running`, of one tenant."""
        return tuple(step for run, step in list(self._steps.items()) if self._tenants.get(run) == tenant)

    def run(
        self, order: Order, tell: Callable[[Step], None] = lambda _: None, cancelled: Callable[[], bool] = lambda: False
    ) -> RunReport:
        """Carry a run out; `tell` hears how far it is, and it stops between two steps once it is `cancelled`."""
        if self._ending.is_set():
            raise Ending
        run = str(uuid_utils.uuid7())
        self._tenants[run] = order.tenant
        started = self._clock.now()
        endpoint = ChatEndpoint(self._judge) if self._judge.endpoint and not order.dry_run else None
        judge = None if endpoint is None else Judge(endpoint, self._judge)
        settings = effective(self._settings, order)
        left = settings.max_supersedes
        reports: list[BankReport] = []
        try:
            for name in order.banks:
                this = Pass(
                    run=run,
                    dry_run=order.dry_run,
                    settings=settings,
                    budget=left,
                    judge=judge,
                    planner=partial(plan_apart, stop=lambda: self._ending.is_set() or cancelled()),
                    now=self._clock.now,
                    tell=partial(self._step, run, tell, cancelled),
                )
                report = self._tend(order.tenant, name, this)
                left -= report.superseded
                reports.append(report)
        finally:
            self._steps.pop(run, None)
            self._tenants.pop(run, None)
        result = RunReport(run, order.dry_run, started, self._clock.now(), tuple(reports))
        self._recent.append((order.tenant, result))
        return result

    def sweep(self, tenant: str, name: str) -> None:
        """Takes out of use what is past its time or has lost its ground.

        Raises BankBusy, and what opening a bank raises.
        """
        with self.alone(tenant, name, _SWEEPING) as live:
            swept = sweep(live.bank, (), self._clock.now())
        logger.info("swept bank=%s expired=%d quarantined=%d", name, len(swept.expired), len(swept.quarantined))

    def close(self) -> None:
        """Running passes end between two steps; none begins after this."""
        self._ending.set()

    @contextmanager
    def alone(self, tenant: str, name: str, run: str) -> Iterator[LiveBank]:
        """A bank that nobody else tends. Raises BankBusy, and what opening a bank raises."""
        with self.gate.enter((tenant, name), run), self._lease(tenant, name) as live:
            yield live

    def _tend(self, tenant: str, name: str, this: Pass) -> BankReport:
        try:
            with self.alone(tenant, name, this.run) as live:
                before = live.bank.log_bytes
                governed = live.bank.info.policy is Policy.GOVERNED
                port = BankPort(live.bank, live.index, self._clock, self._breathe, governed=governed)
                report = tidy(port, this)
                if not this.dry_run and not report.errors:
                    found_nothing = live.bank.log_bytes == before and not report.capped
                    self._checkpoint(live.bank.place.folder, report, before if found_nothing else 0)
        except (MemoryServiceError, TendingRefused, OSError) as error:
            now = self._clock.now()
            report = BankReport(this.run, name, this.dry_run, now, now, errors=(str(error),))
        logger.info(
            "tended bank=%s run=%s dry_run=%s scanned=%d superseded=%d proposed=%d capped=%d moved=%d errors=%d",
            *(name, this.run, this.dry_run, report.scanned, report.superseded, report.proposed),
            *(report.capped, report.moved, len(report.errors)),
        )
        return report

    def _checkpoint(self, folder: Path, report: BankReport, log_bytes: int) -> None:
        self._checkpoints.write(folder, Checkpoint(report.finished_at, report.run, log_bytes))

    def _step(self, run: str, tell: Callable[[Step], None], cancelled: Callable[[], bool], step: Step) -> None:
        if self._ending.is_set() or cancelled():
            raise Stopped
        self._steps[run] = step
        self._traffic.give_way(self._settings.longest_yield_seconds)
        tell(step)

    def _breathe(self) -> None:
        self._traffic.give_way(_BREATH_S)


def effective(settings: ConsolidateSettings, order: Order) -> ConsolidateSettings:
    """The settings of a run. A merge threshold below the one to propose from lowers that too."""
    merge = settings.merge_cosine if order.merge_cosine is None else order.merge_cosine
    propose = settings.propose_cosine if order.propose_cosine is None else order.propose_cosine
    most = settings.max_supersedes if order.max_supersedes is None else order.max_supersedes
    return replace(settings, merge_cosine=merge, propose_cosine=min(propose, merge), max_supersedes=most)
