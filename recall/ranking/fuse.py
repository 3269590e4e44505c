"""From the legs to one score.

    own(m)   = wl·z(bm25·recency) + ws·z(cosine)
    score(m) = own(m) + Σ_d share_d·(own(prev_d) + own(next_d)) + we·entity(m) + wc·ln(1 + n) + wp·pinned

z is standardisation over the bank. A constant (what raw scores of zero fall short of the mean) is added to every
score, which changes no order and makes the parts of a score what a reader expects: more than nothing when the leg
matched. What is still below 1 is folded into (0, 1) by exp(x - 1), so a score is always positive, and the order is
that of the sum.

Context raises, it does not admit: a memory is a result when a word matches, when its cosine or a name reaches its
floor, or when its neighbours lend it enough.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall.ranking import signals
from recall.ranking.evidence import Context, Evidence, Scales
from recall.ranking.settings import RankingSettings
from recall.ranking.signals import Rows


@dataclass(frozen=True, slots=True)
class LegWeights:
    """Weights of the two scored legs in one mode."""

    lexical: float
    semantic: float


@dataclass(frozen=True, slots=True)
class Fused:
    """Scores and their parts, by row of the evidence."""

    score: Rows
    admitted: NDArray[np.bool_]
    lexical: Rows
    semantic: Rows
    neighbour: Rows
    entity: Rows
    corroboration: Rows
    pinned: Rows


def leg_weights(settings: RankingSettings, hybrid: bool) -> LegWeights:
    """The settings' weights, or all weight on the words when there are no vectors, so that scores keep their size."""
    if hybrid:
        return LegWeights(settings.lexical, settings.semantic)
    return LegWeights(settings.lexical + settings.semantic, 0.0)


def fuse(
    evidence: Evidence, context: Context, scales: Scales, distances: list[int], settings: RankingSettings
) -> Fused:
    """Score every row by every leg that ran."""
    weights = leg_weights(settings, hybrid=evidence.cosine is not None)
    words = signals.lexical(evidence, context, scales)
    lexical = weights.lexical * words
    semantic = weights.semantic * signals.semantic(evidence, words, scales, settings)
    own = lexical + semantic
    neighbour = signals.neighbours(evidence, own, distances, settings)
    entity = signals.entity(evidence, settings)
    corroboration = signals.corroboration(context, settings)
    pinned = signals.pinned(context, settings)
    lexical += weights.lexical * scales.lexical.zero
    semantic += weights.semantic * scales.semantic.zero
    total = lexical + semantic + neighbour + entity + corroboration + pinned
    admitted = _admitted(evidence, neighbour, settings)
    return Fused(positive(total), admitted, lexical, semantic, neighbour, entity, corroboration, pinned)


def fuse_semantic(evidence: Evidence, scales: Scales, settings: RankingSettings) -> Fused:
    """Vectors alone, for measurement: no word, name, neighbour or context adds anything."""
    assert evidence.cosine is not None
    weight = settings.lexical + settings.semantic
    known = ~np.isnan(evidence.cosine)
    cosine = np.where(known, evidence.cosine, -1.0)
    semantic = weight * (scales.semantic.standard(cosine) + scales.semantic.zero)
    nothing = np.zeros_like(semantic)
    admitted = known & (cosine >= settings.semantic_floor)
    return Fused(positive(semantic), admitted, nothing, semantic, nothing, nothing, nothing, nothing)


def positive(total: Rows) -> Rows:
    """`total` where it is at least 1, exp(total - 1) below: strictly increasing, smooth, never negative."""
    return np.where(total >= 1.0, total, np.exp(np.minimum(total, 1.0) - 1.0))


def _admitted(evidence: Evidence, neighbour: Rows, settings: RankingSettings) -> NDArray[np.bool_]:
    admitted = evidence.lexical > 0.0
    admitted |= evidence.names >= settings.entity_floor
    admitted |= neighbour >= settings.neighbour_floor
    if evidence.cosine is not None:
        with np.errstate(invalid="ignore"):
            admitted |= evidence.cosine >= settings.semantic_floor
    return admitted
