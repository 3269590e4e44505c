"""The second stage: the first few of the fused list are put in order by late interaction (MaxSim).

    total' = total + w·(s - min s) / deviation(s)        s: MaxSim of the candidates with the query

It only adds, so whatever is not a candidate stays behind those that are, and the number of candidates is a setting and
not the limit: the first k results are the first k of k + 1. It runs when its vectors are there within the budget;
otherwise the fused order stands and the answer says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from index.late_interaction import LateInteraction
from recall.ranking.results import Degraded, DegradedReason, Signal
from recall.ranking.settings import RerankSettings
from recall.ranking.shortlist import Candidate, Texts

SIGNAL = "late_interaction"


class SecondStage:
    """Thread-safe."""

    def __init__(self, late: LateInteraction, settings: RerankSettings) -> None:
        self._late = late
        self._settings = settings

    @property
    def depth(self) -> int:
        """Candidates it looks at."""
        return self._settings.candidates

    def reordered(
        self, query: str, candidates: Sequence[Candidate], texts: Texts, until: float
    ) -> tuple[list[Candidate], tuple[Degraded, ...]]:
        """`candidates`, the first `depth` of them in a new order; why not, if not. `until` is monotonic seconds."""
        first, rest = list(candidates[: self.depth]), candidates[self.depth :]
        if len(first) < 2:
            return list(candidates), ()
        scores = self._late.scores(query, [texts.of(one.record) for one in first], until)
        if scores is None:
            return list(candidates), (self._missing(),)
        deviation = float(scores.std())
        gains = (scores - scores.min()) * (self._settings.weight / deviation if deviation > 0.0 else 0.0)
        totals = np.array([one.total for one in first]) + gains
        order = np.argsort(-totals, kind="stable")  # equal sums stay in the order they had
        return [_raised(first[at], float(scores[at]), float(gains[at])) for at in order.tolist()] + list(rest), ()

    def _missing(self) -> Degraded:
        if self._late.problem:
            return Degraded(DegradedReason.RERANK_DOWN, f"the second stage does not run: {self._late.problem}")
        return Degraded(DegradedReason.RERANK_LATE, "token vectors were not ready within the budget")


def _raised(candidate: Candidate, similarity: float, gain: float) -> Candidate:
    signals = (*candidate.signals, Signal(SIGNAL, similarity, gain)) if candidate.signals else ()
    return replace(candidate, total=candidate.total + gain, signals=signals)
