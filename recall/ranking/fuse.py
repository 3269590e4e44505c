"""From the legs to one score, for every memory of the bank.

    content(m) = wl·(b·bm25 + c·cover·√short)·recency + ws·z(cosine)
    score(m)   = content(m) + near(m) + session(m) + we·entity(m) + wd·date(m) - wq·asks(m) + wc·ln(1 + n) + wp·pinned

z is standardisation over the bank. `near` is a share of the best neighbour's content, `session` a share of what the
best memory of the session has over this one; both lend what is above the mean, and nothing else is ever lent.

A constant (what a cosine of zero falls short of the mean) is added to every score, which changes no order and makes
the parts of a score what a reader expects. What is still below 1 is folded into (0, 1) by exp(x - 1), so a score is
always positive and the order is that of the sum.

Context raises, it does not admit: a memory is a result when a word matches, when its cosine or a rare name reaches the
floor, or when those next to it lend it enough.
"""

from dataclasses import dataclass

import numpy as np

from recall.ranking import signals
from recall.ranking.evidence import Evidence, Mask, Meaning, Rows
from recall.ranking.settings import RankingSettings


@dataclass(frozen=True, slots=True)
class Fused:
    """Scores by ordinal, who may be a result, and the parts of the scores by name."""

    score: Rows
    admitted: Mask
    parts: tuple[tuple[str, Rows], ...]


def fuse(evidence: Evidence, settings: RankingSettings) -> Fused:
    """Score every memory by every leg that ran."""
    context, meaning = evidence.context, evidence.meaning
    lexical = signals.lexical(evidence.words, context, settings)
    semantic = signals.semantic(meaning, lexical, settings) if meaning else np.zeros_like(lexical)
    content = np.maximum(lexical + semantic, 0.0)
    content *= context.lends
    near = signals.near(content, context, settings)
    neighbour = near + signals.session(content, context, settings)
    if meaning is not None:
        semantic += settings.semantic * meaning.scale.zero
    parts = (
        (signals.LEXICAL, lexical),
        (signals.SEMANTIC, semantic),
        (signals.NEIGHBOUR, neighbour),
        (signals.ENTITY, signals.entity(evidence.names, settings)),
        (signals.DATE, signals.dates(evidence.names, settings)),
        (signals.QUESTION, signals.question(context, settings)),
        (signals.CORROBORATION, signals.corroboration(context, settings)),
        (signals.PINNED, signals.pinned(context, settings)),
    )
    return Fused(positive(_sum(parts)), _admitted(evidence, near, settings), parts)


def fuse_meaning(meaning: Meaning, settings: RankingSettings) -> Fused:
    """Vectors alone, for measurement: no word, name, neighbour or context adds anything."""
    known = ~np.isnan(meaning.cosine)
    cosine = np.where(known, meaning.cosine, -1.0)
    leg = settings.semantic * (meaning.scale.standard(cosine) + meaning.scale.zero)
    admitted = known & (cosine >= settings.semantic_floor)
    return Fused(positive(leg), admitted, ((signals.SEMANTIC, leg),))


def positive(total: Rows) -> Rows:
    """`total` where it is at least 1, exp(total - 1) below: strictly increasing, smooth, above 0."""
    low = total < 1.0
    if low.any():
        total[low] = np.exp(total[low] - 1.0)
    return total


def _sum(parts: tuple[tuple[str, Rows], ...]) -> Rows:
    total = parts[0][1] + parts[1][1]
    for _, part in parts[2:]:
        total += part
    return total


def _admitted(evidence: Evidence, near: Rows, settings: RankingSettings) -> Mask:
    admitted = evidence.words.bm25 > 0.0
    admitted |= evidence.names.rarity >= settings.entity_floor
    admitted |= near >= settings.near_floor
    if evidence.meaning is not None:
        admitted |= evidence.meaning.cosine >= settings.semantic_floor
    return admitted
