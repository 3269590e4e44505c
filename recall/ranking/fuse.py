"""From the legs to one score, for every memory of the bank.

    content(m) = wl·(b·bm25 + c·cover·√short)·recency + ws·z(cosine)
    score(m)   = content(m) + near(m) + session(m) + we·entity(m) + wd·date(m) - wq·asks(m) + wc·ln(1 + n) + wp·pinned

z is standardisation over the bank; this `content` is that of the default fusion, `recall.ranking.fusions` has others.
`near` is a share of the best neighbour's content, `session` a share of what the best memory of the session has over
this one; only memories well above the mean lend, and nothing but content is lent.

A constant (what a cosine of zero falls short of the mean) is added to every score, which changes no order and makes
the parts of a score what a reader expects. What is still below 1 is folded into (0, 1) by exp(x - 1), so a score is
always positive and the order is that of the sum.

Context raises, it does not admit: a memory is a result when a word matches, when its cosine or a rare name reaches the
floor, or when those next to it lend it enough.
"""

import math
from dataclasses import dataclass

import numpy as np

from recall.ranking import signals
from recall.ranking.evidence import Context, Evidence, Mask, Meaning, Rows
from recall.ranking.fusions import FUSIONS
from recall.ranking.settings import RankingSettings


@dataclass(frozen=True, slots=True)
class Fused:
    """Sums by ordinal, who may be a result, and the parts of the sums by name. `positive` makes scores of sums."""

    total: Rows
    admitted: Mask
    parts: tuple[tuple[str, Rows], ...]


def fuse(evidence: Evidence, settings: RankingSettings) -> Fused:
    """Score every memory by every leg that ran."""
    context = evidence.context
    parts, content = _content(evidence, settings)
    near = _lent(content, parts, context, settings) if context.any_session else None
    if context.asks.any():
        parts.append((signals.QUESTION, signals.question(context, settings)))
    entity = signals.entity(evidence.names, settings)
    if entity is not None:
        parts.append((signals.ENTITY, entity))
    if evidence.names.dates is not None:
        parts.append((signals.DATE, signals.dates(evidence.names.dates, settings)))
    if context.any_boosted:
        parts.append((signals.CORROBORATION, signals.corroboration(context, settings)))
        parts.append((signals.PINNED, signals.pinned(context, settings)))
    return Fused(_sum(parts), _admitted(evidence, near, settings), tuple(parts))


def fuse_meaning(meaning: Meaning, settings: RankingSettings) -> Fused:
    """Vectors alone, for measurement: nothing else adds anything, and every cosine above 0 is admitted."""
    known = ~np.isnan(meaning.cosine)
    cosine = np.where(known, meaning.cosine, -1.0)
    leg = settings.semantic * (meaning.scale.standard(cosine) + meaning.scale.zero)
    return Fused(leg, cosine > 0.0, ((signals.SEMANTIC, leg),))


def positive(total: float) -> float:
    """The score of a sum: itself from 1 on, exp(sum - 1) below. Strictly increasing, smooth, above 0."""
    return total if total >= 1.0 else math.exp(total - 1.0)


def sum_of(score: float) -> float:
    """The sum that gives this score; minus infinity for what no score is under."""
    if score <= 0.0:
        return -math.inf
    return score if score >= 1.0 else 1.0 + math.log(score)


def _content(evidence: Evidence, settings: RankingSettings) -> tuple[list[tuple[str, Rows]], Rows]:
    """The legs as parts of the score, and what a memory may lend."""
    if evidence.meaning is None:
        lexical = signals.lexical(evidence.words, evidence.context, settings, settings.bm25_alone)
        return [(signals.LEXICAL, lexical)], lexical.copy()
    blend = FUSIONS[settings.fusion](evidence, settings)
    return [(signals.LEXICAL, blend.lexical), (signals.SEMANTIC, blend.semantic)], blend.content


def _lent(content: Rows, parts: list[tuple[str, Rows]], context: Context, settings: RankingSettings) -> Rows:
    """Adds what sessions lend to the parts; gives what came from near by."""
    if not context.lends.all():
        content *= context.lends
    lenders = np.flatnonzero(content >= settings.lent_from)
    near = signals.near(content, lenders, context, settings)
    parts.append((signals.NEIGHBOUR, near + signals.session(content, lenders, context, settings)))
    return near


def _sum(parts: list[tuple[str, Rows]]) -> Rows:
    total = parts[0][1].copy()
    for _, part in parts[1:]:
        total += part
    return total


def _admitted(evidence: Evidence, near: Rows | None, settings: RankingSettings) -> Mask:
    admitted = np.zeros(evidence.words.size, np.bool_)
    admitted[evidence.words.matching] = True
    if evidence.names.rarity is not None:
        admitted |= evidence.names.rarity >= settings.entity_floor
    if near is not None:
        admitted |= near >= settings.near_floor
    if evidence.meaning is not None:
        admitted |= evidence.meaning.cosine >= settings.semantic_floor
    return admitted
