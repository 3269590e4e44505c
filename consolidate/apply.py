"""A plan through the port: one merge after another, each checked against the bank as it is by then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from consolidate.errors import PortError, Stopped
from consolidate.judgement import Judgement
from consolidate.plan import Group
from consolidate.port import Leaving, MergeOrder, Outcome, Port
from consolidate.report import GroupReport, group_report, member


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of the groups, how many memories went, how many had moved, and what went wrong."""

    groups: tuple[GroupReport, ...]
    superseded: int
    moved: int
    errors: tuple[str, ...]


def apply_groups(
    port: Port, run: str, groups: Sequence[Group], outcome: str, step: Callable[[int, int], None]
) -> Applied:
    """Merge the groups; `outcome` is what a loser that goes is reported as.

    `step(done, total)` is told before each group and may raise Stopped. That, or the first refusal of the bank, ends
    it: what is left keeps the outcome "planned" and is found again by the next run.
    """
    reports: list[GroupReport] = []
    errors: list[str] = []
    for done, group in enumerate(groups):
        if not group.losers or errors:
            reports.append(group_report(group, "planned"))
            continue
        try:
            step(done, len(groups))
            reports.append(_merged(group, port.merge(run, _order(group)), outcome))
        except (PortError, Stopped) as error:
            errors.append(error.problem)
            reports.append(group_report(group, "planned"))
    members = [one for report in reports for one in report.members]
    superseded = sum(one.outcome == outcome for one in members)
    return Applied(tuple(reports), superseded, sum(one.outcome == "moved" for one in members), tuple(errors))


def why(judgement: Judgement) -> str:
    """A judgement in a few words, for the history of the memory that goes."""
    likeness = judgement.likeness
    cosine = "no vector" if likeness.cosine != likeness.cosine else f"cosine {likeness.cosine:.3f}"
    spoke = ", ".join(finding.guard for finding in judgement.findings) or "none"
    return f"says the same as the winner: {cosine}, trigrams {likeness.jaccard:.2f}, guards that spoke: {spoke}"


def _order(group: Group) -> MergeOrder:
    losers = tuple(Leaving(loser.memo.id, loser.memo.revision, why(loser.judgement)) for loser in group.losers)
    return MergeOrder(group.winner.id, group.winner.revision, losers)


def _merged(group: Group, result: Outcome, outcome: str) -> GroupReport:
    report = group_report(group, outcome)
    problems = dict(result.moved)
    done = set(result.done)
    losers = tuple(
        member(
            loser.memo,
            loser.judgement,
            outcome if loser.memo.id in done else "moved",
            problems.get(loser.memo.id, ""),
        )
        for loser in group.losers
    )
    return GroupReport(report.winner_id, report.verdict, losers + report.members[len(losers) :])
