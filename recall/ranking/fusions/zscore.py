"""Both legs standardised over the bank, then weighed: s·z(bm25) + (1 - s)·z(cosine)."""

from __future__ import annotations

from recall.ranking.evidence import Evidence, Rows
from recall.ranking.fusions.blend import Blend, fresh_bm25, known_cosine, standardised
from recall.ranking.settings import RankingSettings


def blend(evidence: Evidence, settings: RankingSettings) -> Blend:
    """The share of the words is `fusion_lexical_share`."""
    assert evidence.meaning is not None
    used = evidence.context.lends
    words, meaning = fresh_bm25(evidence), known_cosine(evidence.meaning)
    share = settings.fusion_lexical_share
    lexical = settings.lexical * share * _over_deviation(words, words[used])
    return standardised(lexical, settings.semantic * (1.0 - share) * _over_deviation(meaning, meaning[used]), evidence)


def _over_deviation(leg: Rows, used: Rows) -> Rows:
    """The mean is taken off later, of the sum."""
    deviation = float(used.std()) if used.size else 0.0
    return leg * (1.0 / deviation if deviation > 0.0 else 0.0)
