"""Who decides what becomes of a pair: we, and what others do."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.compaction.pairs import LabelledPair
from consolidate.guards import Verdict
from consolidate.judgement import Likeness, judge
from consolidate.memo import Memo
from consolidate.settings import ConsolidateSettings
from consolidate.words import normal_text

Decider = Callable[[LabelledPair, Likeness], Verdict]

OURS = "ours"
COSINES = (0.92, 0.95, 0.97)


def deciders(settings: ConsolidateSettings) -> Mapping[str, Decider]:
    """By name. The baselines merge or keep; they propose nothing."""
    baselines = {f"cosine>={threshold:.2f}": cosine_only(threshold) for threshold in COSINES}
    return {OURS: ours(settings), **baselines, "token set": token_set}


def ours(settings: ConsolidateSettings) -> Decider:
    """As the service judges two memories that differ in nothing but their text."""

    def decide(pair: LabelledPair, likeness: Likeness) -> Verdict:
        return judge(Memo("a", pair.a), Memo("b", pair.b), likeness, settings).verdict

    return decide


def cosine_only(threshold: float) -> Decider:
    """Merges from a cosine on, whatever the texts say."""

    def decide(_: LabelledPair, likeness: Likeness) -> Verdict:
        return Verdict.MERGE if likeness.cosine >= threshold else Verdict.KEEP

    return decide


def token_set(pair: LabelledPair, _: Likeness) -> Verdict:
    """Merges texts with the same set of lower-cased words."""
    left, right = (frozenset(normal_text(text).split()) for text in (pair.a, pair.b))
    return Verdict.MERGE if left and left == right else Verdict.KEEP
