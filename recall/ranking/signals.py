"""The signals, one small strategy each: from raw evidence to what it adds to a score.

Legs are told in standard deviations over the bank (see `scale`), so weights mean the same in every bank. The functions
take and return arrays of shape (rows,).
"""

import numpy as np
from numpy.typing import NDArray

from recall.ranking.evidence import Context, Evidence, Scales
from recall.ranking.settings import RankingSettings

LEXICAL = "lexical"
SEMANTIC = "semantic"
ENTITY = "entity"
NEIGHBOUR = "neighbour"
CORROBORATION = "corroboration"
PINNED = "pinned"
RECENCY = "recency"

Rows = NDArray[np.float64]


def lexical(evidence: Evidence, context: Context, scales: Scales) -> Rows:
    """BM25 times recency, standardised. Recency decays evidence from words only: meaning does not age."""
    return scales.lexical.standard(evidence.lexical * (context.recency * (1.0 / context.recency_norm)))


def semantic(evidence: Evidence, words: Rows, scales: Scales, settings: RankingSettings) -> Rows:
    """Cosine, standardised. A memory without a vector gets what its words let expect, not the worst there is."""
    if evidence.cosine is None:
        return np.zeros_like(words)
    cosine = scales.semantic.standard(evidence.cosine)
    missing = np.isnan(cosine)
    if missing.any():
        cosine[missing] = settings.missing_cosine_share * words[missing]
    return cosine


def neighbours(evidence: Evidence, own: Rows, distances: list[int], settings: RankingSettings) -> Rows:
    """Evidence lent by the memories next to one in its session; who said it is never lent.

    `own` is relative to the mean, so a memory without neighbours is neither ahead nor behind.
    """
    lent = np.zeros_like(own)
    padded = np.append(own, 0.0)
    for column, distance in enumerate(distances):
        lent += settings.neighbour_shares[distance - 1] * padded[evidence.links[:, column]]
    return settings.neighbour * lent


def entity(evidence: Evidence, settings: RankingSettings) -> Rows:
    """Names the query mentions: those that said it count in full, those it is about by their rarity."""
    return settings.entity * np.maximum(evidence.names, evidence.said)


def corroboration(context: Context, settings: RankingSettings) -> Rows:
    """Saved again and again."""
    return settings.corroboration * context.corroboration


def pinned(context: Context, settings: RankingSettings) -> Rows:
    """Pinned by somebody."""
    return settings.pinned * context.pinned
