"""The reference scorer of the field: raw BM25 plus a multiple of the cosine."""

from __future__ import annotations

from recall.ranking.evidence import Evidence
from recall.ranking.fusions.blend import Blend, fresh_bm25, known_cosine, standardised
from recall.ranking.settings import RankingSettings


def blend(evidence: Evidence, settings: RankingSettings) -> Blend:
    """The multiple is `fusion_cosine_factor`."""
    assert evidence.meaning is not None
    semantic = settings.semantic * settings.fusion_cosine_factor * known_cosine(evidence.meaning)
    return standardised(settings.lexical * fresh_bm25(evidence), semantic, evidence)
