"""What a run reports. Values only; ids stand for memories, so that a report that is kept repeats no text."""

from __future__ import annotations

import math

import msgspec

from consolidate.judgement import Judgement
from consolidate.memo import Memo
from consolidate.plan import Group, Kept


class Spoke(msgspec.Struct, frozen=True):
    """A guard that objected, how far it goes ("propose" or "keep"), and what it saw."""

    guard: str
    verdict: str
    detail: str


class Member(msgspec.Struct, frozen=True):
    """A memory beside the winner. `cosine` is None when one of the two has no vector.

    `outcome`: "planned", "merged", "moved", "capped", "pinned", "proposed", "confirmed", "apart" or "kept".
    """

    id: str
    cosine: float | None
    jaccard: float
    guards: tuple[Spoke, ...]
    outcome: str
    problem: str = ""


class GroupReport(msgspec.Struct, frozen=True):
    """A winner and its group; `verdict` is that of the pair: "merge", "propose" or "keep"."""

    winner_id: str
    verdict: str
    members: tuple[Member, ...]


class JudgeReport(msgspec.Struct, frozen=True):
    """What was asked of the judge. `state`: "off", "idle" (nothing to ask), "ok", "spent" (the budget is) or "failed".

    `problem` says why; `mined` counts episodes.
    """

    state: str = "off"
    calls: int = 0
    confirmed: int = 0
    nominated: int = 0
    mined: int = 0
    problem: str = ""


class BankReport(msgspec.Struct, frozen=True):
    """One bank's part of a run. Times are microseconds UTC. `kept_pairs` is the count, `kept` the first of them.

    With `errors` the pass was not clean: it is not checkpointed, and the schedule tries again.
    """

    run: str
    bank: str
    dry_run: bool
    started_at: int
    finished_at: int = 0
    scanned: int = 0
    merges: tuple[GroupReport, ...] = ()
    proposals: tuple[GroupReport, ...] = ()
    kept: tuple[GroupReport, ...] = ()
    proposed: int = 0
    kept_pairs: int = 0
    superseded: int = 0
    capped: int = 0
    moved: int = 0
    judge: JudgeReport = JudgeReport()
    errors: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the run wrote anything into the bank."""
        return bool(self.superseded or self.judge.nominated or self.judge.mined)


class RunReport(msgspec.Struct, frozen=True):
    """A whole run."""

    run: str
    dry_run: bool
    started_at: int
    finished_at: int
    banks: tuple[BankReport, ...]


def encode(report: BankReport) -> str:
    """As JSON, for the log."""
    return msgspec.json.encode(report).decode()


def decode(text: str) -> BankReport:
    """What `encode` made. Raises msgspec.MsgspecError."""
    return msgspec.json.decode(text, type=BankReport)


def group_report(group: Group, outcome: str) -> GroupReport:
    """A group of the plan whose losers all stand at `outcome`."""
    losers = tuple(member(loser.memo, loser.judgement, outcome) for loser in group.losers)
    pinned = tuple(member(loser.memo, loser.judgement, "pinned") for loser in group.pinned)
    verdict = (group.losers or group.pinned)[0].judgement.verdict.name.lower()
    return GroupReport(group.winner.id, verdict, losers + pinned)


def kept_report(kept: Kept) -> GroupReport:
    """A pair that stays apart."""
    return GroupReport(kept.a.id, "keep", (member(kept.b, kept.judgement, "kept"),))


def member(memo: Memo, judgement: Judgement, outcome: str, problem: str = "") -> Member:
    """One memory beside the winner."""
    cosine, jaccard = judgement.likeness.cosine, judgement.likeness.jaccard
    spoke = tuple(
        Spoke(finding.guard, finding.verdict.name.lower(), finding.detail[:200]) for finding in judgement.findings
    )
    return Member(
        memo.id,
        None if math.isnan(cosine) else round(float(cosine), 4),
        round(float(jaccard), 4),
        spoke,
        outcome,
        problem,
    )
