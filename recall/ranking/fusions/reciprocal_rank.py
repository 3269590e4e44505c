"""Reciprocal rank fusion (Cormack et al., SIGIR 2009): 1 / (k + rank) of each leg; what a leg misses gets nothing."""

from __future__ import annotations

import numpy as np

from recall.ranking.evidence import Evidence, Mask, Rows
from recall.ranking.fusions.blend import Blend, fresh_bm25, standardised
from recall.ranking.settings import RankingSettings


def blend(evidence: Evidence, settings: RankingSettings) -> Blend:
    """Ranks are among the memories in use; equal scores share the best of their ranks."""
    assert evidence.meaning is not None
    used = evidence.context.lends
    words, meaning = fresh_bm25(evidence), evidence.meaning.cosine
    lexical = settings.lexical * _reciprocal(words, used & (words > 0.0), settings)
    return standardised(
        lexical, settings.semantic * _reciprocal(meaning, used & ~np.isnan(meaning), settings), evidence
    )


def _reciprocal(leg: Rows, ranked: Mask, settings: RankingSettings) -> Rows:
    found = np.zeros(len(leg))
    scores = leg[ranked]
    rank = len(scores) - np.searchsorted(np.sort(scores), scores, side="right")
    found[ranked] = 1.0 / (settings.fusion_rank_constant + 1.0 + rank)
    return found
