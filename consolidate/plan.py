"""Groups of look-alikes around a winner. Pure: the same plan for any order of the input.

A loser is always compared to the winner itself, never to another loser: likeness does not chain. A pinned memory is
never a loser. A memory sits in at most one merge group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from consolidate.guards import Finding, Verdict
from consolidate.judgement import Judgement, Likeness, judge
from consolidate.memo import Memo
from consolidate.settings import ConsolidateSettings

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Loser:
    """A memory that goes, and why it may."""

    memo: Memo
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Group:
    """A winner and the memories that merge into it, or (in a proposal) are offered with it."""

    winner: Memo
    losers: tuple[Loser, ...]
    pinned: tuple[Loser, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """A pair that looks alike and stays apart."""

    a: Memo
    b: Memo
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do: `merges` are done, `proposals` wait for a judge or a reviewer, `kept` is for the report."""

    merges: tuple[Group, ...]
    proposals: tuple[Group, ...]
    kept: tuple[Kept, ...]
    scanned: int


def winner_order(memo: Memo) -> tuple[bool, int, int, str]:
    """Sort key: pinned first, then corroboration, then oldest, then id."""
    return (not memo.pinned, -memo.corroboration, memo.created_at, memo.id)


def make_plan(
    memos: Iterable[Memo],
    candidates: Mapping[Pair, Likeness],
    settings: ConsolidateSettings,
    undone: Collection[Pair] = frozenset(),
) -> Plan:
    """Judge every candidate pair (ids in ascending order) and group the pairs around winners.

    Pairs that name an id outside `memos`, or one id twice, are left out. Pairs that a person has parted
    (`undone`, in either order) stay apart.
    """
    by_id = {memo.id: memo for memo in memos}
    parted = {(min(pair), max(pair)) for pair in undone}
    judged = {
        pair: _parted(likeness) if pair in parted else judge(by_id[pair[0]], by_id[pair[1]], likeness, settings)
        for pair, likeness in candidates.items()
        if pair[0] in by_id and pair[1] in by_id and pair[0] != pair[1]
    }
    merges = _groups(by_id, judged, Verdict.MERGE, set())
    gone = {loser.memo.id for group in merges for loser in group.losers}
    proposals = _groups(by_id, judged, Verdict.PROPOSE, gone)
    kept = tuple(
        Kept(by_id[pair[0]], by_id[pair[1]], judged[pair])
        for pair in sorted(judged)
        if judged[pair].verdict is Verdict.KEEP
    )
    return Plan(merges, proposals, kept, len(by_id))


def _parted(likeness: Likeness) -> Judgement:
    return Judgement(Verdict.KEEP, likeness, (Finding("undone", Verdict.KEEP, "a person took this merge back"),))


def _groups(
    by_id: Mapping[str, Memo], judged: Mapping[Pair, Judgement], verdict: Verdict, gone: set[str]
) -> tuple[Group, ...]:
    near = _neighbours(judged, verdict)
    taken = set(gone)
    groups: list[Group] = []
    for winner in sorted((by_id[id_] for id_ in near), key=winner_order):
        if winner.id in taken:
            continue
        others = sorted((by_id[id_] for id_ in near[winner.id] if id_ not in taken), key=winner_order)
        members = [Loser(memo, near[winner.id][memo.id]) for memo in others]
        losers = tuple(member for member in members if not member.memo.pinned)
        pinned = tuple(member for member in members if member.memo.pinned)
        if losers or pinned:
            taken.update([winner.id, *(loser.memo.id for loser in losers)])
            groups.append(Group(winner, losers, pinned))
    return tuple(groups)


def _neighbours(judged: Mapping[Pair, Judgement], verdict: Verdict) -> dict[str, dict[str, Judgement]]:
    near: dict[str, dict[str, Judgement]] = defaultdict(dict)
    for (a, b), judgement in judged.items():
        if judgement.verdict is verdict:
            near[a][b] = judgement
            near[b][a] = judgement
    return near


def capped(groups: Sequence[Group], budget: int) -> tuple[tuple[Group, ...], int]:
    """The groups that fit into `budget` losers, the last one cut; and how many losers were left for the next run."""
    fitting: list[Group] = []
    left = budget
    for group in groups:
        if left > 0 and group.losers:
            fitting.append(Group(group.winner, group.losers[:left], group.pinned))
            left -= min(left, len(group.losers))
    total = sum(len(group.losers) for group in groups)
    return tuple(fitting), total - (budget - left)
