"""How words and meaning become one content evidence: one small strategy each, by the name of its setting.

Every strategy answers in deviations over the bank, so that context (neighbours, names, dates) weighs alike whichever
is chosen. They speak only where both legs ran; without vectors the words are scored as `signals.lexical` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from recall.ranking.evidence import Evidence
from recall.ranking.fusions import evidence, min_max, reciprocal_rank, weighted_sum, zscore
from recall.ranking.fusions.blend import Blend
from recall.ranking.settings import Fusion, RankingSettings

FUSIONS: Final[dict[Fusion, Callable[[Evidence, RankingSettings], Blend]]] = {
    Fusion.EVIDENCE: evidence.blend,
    Fusion.ZSCORE: zscore.blend,
    Fusion.MIN_MAX: min_max.blend,
    Fusion.RECIPROCAL_RANK: reciprocal_rank.blend,
    Fusion.WEIGHTED_SUM: weighted_sum.blend,
}

__all__ = ["FUSIONS", "Blend"]
