"""The plan: the same for any order of the input, no chaining, pinned memories never go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from consolidate.judgement import Likeness
from consolidate.memo import Memo
from consolidate.plan import Group, Pair, Plan, capped, make_plan, winner_order
from consolidate.settings import ConsolidateSettings

SETTINGS = ConsolidateSettings()
SAME = Likeness(0.99, 0.9)
WORDINGS = ("Dana likes dark mode", "dana likes dark mode!", "Dana likes the dark mode", "Dana, likes dark mode.")


def memos_of(*texts: str) -> list[Memo]:
    return [Memo(id=f"m{place}", text=text, created_at=place, revision=1) for place, text in enumerate(texts)]


def every_pair(memos: Sequence[Memo], likeness: Likeness = SAME) -> dict[Pair, Likeness]:
    ids = sorted(memo.id for memo in memos)
    return dict.fromkeys(combinations(ids, 2), likeness)


def plan_of(memos: Sequence[Memo], undone: frozenset[Pair] = frozenset()) -> Plan:
    return make_plan(memos, every_pair(memos), SETTINGS, undone)


def shape(groups: Sequence[Group]) -> list[tuple[str, list[str], list[str]]]:
    return [
        (group.winner.id, [loser.memo.id for loser in group.losers], [loser.memo.id for loser in group.pinned])
        for group in groups
    ]


@pytest.mark.parametrize(
    ("change", "winner"),
    [
        ({}, "m0"),
        ({2: {"corroboration": 3}}, "m2"),
        ({2: {"corroboration": 3}, 1: {"pinned": True}}, "m1"),
        ({0: {"created_at": 9}}, "m1"),
        ({place: {"created_at": 5} for place in range(4)}, "m0"),
    ],
)
def test_the_winner_is_pinned_then_most_often_said_then_oldest_then_first_by_id(
    change: dict[int, dict[str, int]], winner: str
) -> None:
    memos = [replace(memo, **change.get(place, {})) for place, memo in enumerate(memos_of(*WORDINGS))]  # type: ignore[arg-type]
    [(found, losers, pinned)] = shape(plan_of(memos).merges)
    assert (found, pinned) == (winner, [])
    assert sorted([found, *losers]) == ["m0", "m1", "m2", "m3"]


def test_the_plan_is_the_same_for_any_order_of_the_input() -> None:
    texts = [f"{wording} in room {number % 5}" for number in range(12) for wording in WORDINGS[:2]]
    memos = memos_of(*texts)
    pairs = list(every_pair(memos).items())
    first = make_plan(memos, dict(pairs), SETTINGS)
    for seed in range(10):
        Random(seed).shuffle(memos)
        Random(seed + 1).shuffle(pairs)
        assert make_plan(memos, dict(pairs), SETTINGS) == first
    assert first.merges
    assert first.kept


def test_likeness_does_not_chain() -> None:
    memos = memos_of(*WORDINGS[:3])
    pairs: dict[Pair, Likeness] = {("m0", "m1"): SAME, ("m1", "m2"): SAME}
    assert shape(make_plan(memos, pairs, SETTINGS).merges) == [("m0", ["m1"], [])]


def test_pinned_memories_never_go_and_are_told() -> None:
    memos = [replace(memo, pinned=memo.id in ("m1", "m2")) for memo in memos_of(*WORDINGS)]
    assert shape(plan_of(memos).merges) == [("m1", ["m0", "m3"], ["m2"])]


def test_a_memory_that_goes_is_not_proposed_too() -> None:
    memos = memos_of(*WORDINGS[:2], "Dana really prefers her editor to be dark")
    plan = plan_of(memos)
    gone = {loser.memo.id for group in plan.merges for loser in group.losers}
    proposed = {group.winner.id for group in plan.proposals} | {
        loser.memo.id for group in plan.proposals for loser in group.losers
    }
    assert gone == {"m1"}
    assert not gone & proposed


def test_contradictions_stay_apart_whatever_the_cosine() -> None:
    plan = plan_of(memos_of("always deploy on Fridays", "never deploy on Fridays"))
    assert (plan.merges, plan.proposals) == ((), ())
    assert [(kept.a.id, kept.b.id) for kept in plan.kept] == [("m0", "m1")]


@pytest.mark.parametrize("pair", [("m0", "m1"), ("m1", "m0")])
def test_what_a_person_parted_stays_apart_and_the_report_says_so(pair: Pair) -> None:
    plan = plan_of(memos_of(*WORDINGS[:2]), frozenset({pair}))
    assert (plan.merges, plan.proposals) == ((), ())
    assert [finding.guard for kept in plan.kept for finding in kept.judgement.findings] == ["undone"]


def test_pairs_of_unknown_or_equal_ids_are_left_out() -> None:
    pairs: dict[Pair, Likeness] = {("m0", "m0"): SAME, ("m0", "zz"): SAME}
    assert make_plan(memos_of("one"), pairs, SETTINGS) == Plan((), (), (), 1)


@pytest.mark.parametrize(
    ("budget", "gone", "left"), [(0, 0, 6), (1, 1, 5), (3, 3, 3), (4, 4, 2), (6, 6, 0), (99, 6, 0)]
)
def test_the_limit_cuts_the_last_group_and_counts_the_rest(budget: int, gone: int, left: int) -> None:
    memos = memos_of(*WORDINGS, *(f"{text} at home" for text in WORDINGS))
    groups, rest = capped(plan_of(memos).merges, budget)
    assert (sum(len(group.losers) for group in groups), rest) == (gone, left)
    assert all(winner_order(group.winner) < winner_order(loser.memo) for group in groups for loser in group.losers)
