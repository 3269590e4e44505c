"""Both legs stretched from their least to their greatest score over the bank, then weighed."""

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
    lexical = settings.lexical * share * _stretched(words, words[used])
    return standardised(lexical, settings.semantic * (1.0 - share) * _stretched(meaning, meaning[used]), evidence)


def _stretched(leg: Rows, used: Rows) -> Rows:
    if not used.size:
        return leg * 0.0
    least, greatest = float(used.min()), float(used.max())
    return (leg - least) * (1.0 / (greatest - least) if greatest > least else 0.0)
