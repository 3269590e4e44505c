"""One pass over one bank: list, plan, merge, ask the judge, write down what was done.

A dry run stops after the plan and writes nothing. A pass never raises for what a bank or a disk refuses: it reports it,
and a pass with errors is not clean. Running it again changes nothing, and after a crash the next pass goes on where it
ended, because each merge is whole and the plan is made anew of what is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from consolidate.apply import Applied, apply_groups
from consolidate.asking import Asking
from consolidate.errors import TendingError
from consolidate.judge import Judge
from consolidate.memo import Memo
from consolidate.plan import Group, Pair
from consolidate.planning import Planned
from consolidate.port import Port
from consolidate.report import BankReport, group_report, kept_report
from consolidate.settings import ConsolidateSettings

Planner = Callable[[Sequence[Memo], NDArray[np.float32] | None, ConsolidateSettings, int, frozenset[Pair]], Planned]


@dataclass(frozen=True, slots=True)
class Step:
    """How far a pass is: `stage` is "list", "plan", "merge" or "judge"."""

    run: str
    bank: str
    stage: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Pass:
    """What a pass over a bank works with. `tell` hears of progress, may wait, and may raise Stopped."""

    run: str
    dry_run: bool
    settings: ConsolidateSettings
    budget: int
    judge: Judge | None
    planner: Planner
    now: Callable[[], int]
    tell: Callable[[Step], None]


def tidy(port: Port, this: Pass) -> BankReport:
    """Carry a pass out, or plan it."""
    report = BankReport(this.run, port.name, this.dry_run, this.now())
    try:
        this.tell(Step(this.run, port.name, "list", 0, 1))
        memos = port.memos()
        this.tell(Step(this.run, port.name, "plan", 0, len(memos)))
        planned = this.planner(memos, port.vectors(memos), this.settings, this.budget, port.undone())
        report = _planned(report, planned)
        if not this.dry_run:
            report = _carried_out(port, this, report, planned, memos)
    except TendingError as error:
        report = msgspec.structs.replace(report, errors=(*report.errors, error.problem))
    return msgspec.structs.replace(report, finished_at=this.now())


def _planned(report: BankReport, planned: Planned) -> BankReport:
    return msgspec.structs.replace(
        report,
        scanned=planned.scanned,
        merges=tuple(group_report(group, "planned") for group in planned.merges),
        proposals=tuple(group_report(group, "proposed") for group in planned.proposals),
        kept=tuple(kept_report(kept) for kept in planned.kept),
        proposed=planned.proposed,
        kept_pairs=planned.kept_pairs,
        capped=planned.capped,
    )


def _carried_out(port: Port, this: Pass, report: BankReport, planned: Planned, memos: Sequence[Memo]) -> BankReport:
    """Whatever was done is recorded, also when it ended early."""
    mined = None
    try:
        applied = apply_groups(port, this.run, planned.merges, "merged", _teller(port, this, "merge"))
        report = msgspec.structs.replace(
            report, merges=applied.groups, superseded=applied.superseded, moved=applied.moved, errors=applied.errors
        )
        if this.judge is not None and not applied.errors:
            left = this.budget - applied.superseded
            asking = Asking(port, this.run, this.judge, left, _teller(port, this, "judge"))
            asked = asking.about(_as_now(planned.proposals, applied), memos)
            mined = asked.mined
            report = msgspec.structs.replace(
                report,
                proposals=asked.proposals,
                judge=asked.report,
                superseded=report.superseded + asked.superseded,
                capped=report.capped + asked.capped,
                moved=report.moved + asked.moved,
                errors=asked.errors,
            )
    except TendingError as error:
        report = msgspec.structs.replace(report, errors=(*report.errors, error.problem))
    report = msgspec.structs.replace(report, finished_at=this.now())
    if report.changed or mined is not None:
        port.record(report, mined)
    return report


def _teller(port: Port, this: Pass, stage: str) -> Callable[[int, int], None]:
    return lambda done, total: this.tell(Step(this.run, port.name, stage, done, total))


def _as_now(groups: Sequence[Group], applied: Applied) -> tuple[Group, ...]:
    """Proposals at the revisions that the merges of this very run left: each loser it took moved a winner by one."""
    moved = {report.winner_id: sum(one.outcome == "merged" for one in report.members) for report in applied.groups}

    def now(memo: Memo) -> Memo:
        return replace(memo, revision=memo.revision + moved.get(memo.id, 0))

    return tuple(
        replace(
            group,
            winner=now(group.winner),
            losers=tuple(replace(loser, memo=now(loser.memo)) for loser in group.losers),
        )
        for group in groups
    )
