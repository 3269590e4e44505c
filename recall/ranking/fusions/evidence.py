"""The default: standardised cosine, plus raw BM25, plus the matched share of the query.

    wl·(b·bm25 + c·cover·√short)·recency + ws·z(cosine)

BM25 stays raw: in a big bank nearly all of it is zero, so its deviation is tiny and a standardised hit would swamp
everything. How much of the query is matched says how sure the words are of this query.
"""

from __future__ import annotations

from recall.ranking import signals
from recall.ranking.evidence import Evidence
from recall.ranking.fusions.blend import Blend
from recall.ranking.settings import RankingSettings


def blend(evidence: Evidence, settings: RankingSettings) -> Blend:
    """Needs no further scaling: its unit is the deviation of the cosine."""
    meaning = evidence.meaning
    assert meaning is not None
    lexical = signals.lexical(evidence.words, evidence.context, settings, settings.bm25)
    semantic = signals.semantic(meaning, lexical, settings)
    content = lexical + semantic
    semantic += settings.semantic * meaning.scale.zero
    return Blend(lexical, semantic, content)
