"""One pass over one state of a bank: evidence of every leg that is there, fused, with the filters beside it."""

import math
from dataclasses import dataclass

import numpy as np

from index.words import Words
from recall.ranking import legs, vector_leg
from recall.ranking.allowed import allowed
from recall.ranking.bank_index import BankIndex
from recall.ranking.embedded import Embedded
from recall.ranking.evidence import Context, Evidence, Meaning
from recall.ranking.fuse import fuse, fuse_meaning
from recall.ranking.part import RecordsOf, closed, context_of, words_of
from recall.ranking.pruned import Asked, prunable, pruned
from recall.ranking.query import Mode, RecallQuery
from recall.ranking.question import Question
from recall.ranking.ranking import HYBRID, LEXICAL, SEMANTIC, Ranking
from recall.ranking.results import Degraded, DegradedReason
from recall.ranking.settings import RankingSettings
from recall.ranking.stopwatch import Stopwatch
from recall.ranking.vector_leg import Arrived

_SESSION_COSTS = 20
"""So many memories of the bank are scored in the time that one takes whose session is looked up first."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass works with, besides the state of the bank."""

    query: RecallQuery
    question: Question
    settings: RankingSettings
    now: int
    """Microseconds UTC."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The ranking, and why it may be worse than it could be."""

    ranking: Ranking
    degraded: tuple[Degraded, ...]
    floor: float = -math.inf
    """Whoever scores less may have others above it that were not scored; a sum of signals."""


def score(index: BankIndex, one: Pass, words: Words, arrived: Arrived, watch: Stopwatch) -> Scored:
    """Score every memory. The caller holds the index for reading since `words` were scored."""
    meaning, degraded = _meaning(index, one, words, arrived)
    watch.lap("vector")
    evidence = Evidence(
        words=words,
        meaning=meaning,
        names=legs.names(index, one.question, one.settings),
        context=_context(index, one),
    )
    alone = meaning is not None and one.query.mode is Mode.SEMANTIC
    ranking = Ranking(
        evidence=evidence,
        fused=fuse_meaning(meaning, one.settings) if alone and meaning is not None else fuse(evidence, one.settings),
        retrieval=SEMANTIC if alone else HYBRID if meaning is not None else LEXICAL,
        allowed=allowed(index.columns, one.query, one.now),
        records=index.columns.records,
        updated_at=index.columns.updated_at,
    )
    return Scored(ranking, degraded)


def score_few(index: BankIndex, one: Pass, words: Words, arrived: Arrived, watch: Stopwatch) -> Scored | None:
    """Score those that can be the best `limit`; None where that cannot be proven. Held as for `score`."""
    if arrived.vector is None:
        return _score_by_words(index, one, words, arrived)
    embedded = index.embedded
    if embedded is None or embedded.model_id != arrived.model_id or not embedded.scored:
        return None
    if not prunable(index, one.query, one.settings):
        return None
    question, settings = one.question, one.settings
    named = legs.named(index, question, settings)
    asked = Asked(index, embedded, arrived.vector, words, question, _context(index, one), settings, named)
    found = pruned(asked, one.query.limit + one.settings.pruned_spare)
    watch.lap("vector")
    if found is None:
        return None
    return Scored(
        found.ranking, arrived.degraded if found.exact else (*arrived.degraded, _approximate(embedded)), found.floor
    )


def _score_by_words(index: BankIndex, one: Pass, words: Words, arrived: Arrived) -> Scored | None:
    """Without vectors nobody matches who holds no word, is of no session of one that does, and has no rare name."""
    if one.query.why_not_id is not None:
        return None
    context, part = _context(index, one), words.matching
    rare = legs.rare_carriers(index, one.question, one.settings)
    if context.any_session or len(rare):
        if _SESSION_COSTS * len(part) > words.size:
            return None
        part = closed(np.concatenate((part, rare)), index.sessions, words.size)
    if len(part) > words.size // 2:
        return None
    evidence = Evidence(
        words=words_of(part, words),
        meaning=None,
        names=legs.names(index, one.question, one.settings, part),
        context=context_of(part, context),
    )
    ranking = Ranking(
        evidence=evidence,
        fused=fuse(evidence, one.settings),
        retrieval=LEXICAL,
        allowed=allowed(index.columns, one.query, one.now)[part],
        records=RecordsOf(index.columns.records, part),
        updated_at=index.columns.updated_at[part],
    )
    return Scored(ranking, arrived.degraded)


def _context(index: BankIndex, one: Pass) -> Context:
    half_life = index.bank.info.half_life_days or one.settings.half_life_days
    if one.query.weights is not None and one.query.weights.half_life_days is not None:
        half_life = one.query.weights.half_life_days
    return legs.context(index, one.now, half_life, one.settings)


def _meaning(
    index: BankIndex, one: Pass, words: Words, arrived: Arrived
) -> tuple[Meaning | None, tuple[Degraded, ...]]:
    """The vector leg, unless the vector is missing or the bank's vectors are not those of its model any more."""
    if arrived.vector is None:
        return None, arrived.degraded
    embedded = index.embedded
    if embedded is None or embedded.model_id != arrived.model_id or not embedded.scored:
        return None, (vector_leg.behind(index.coverage_now(arrived.model_id)),)
    meaning = legs.meaning(embedded, arrived.vector, words, one.settings)
    degraded = [*arrived.degraded]
    if embedded.coverage.share < 1.0:
        degraded.append(vector_leg.behind(embedded.coverage))
    if not meaning.exact:
        degraded.append(_approximate(embedded))
    return meaning, tuple(degraded)


def _approximate(embedded: Embedded) -> Degraded:
    return Degraded(DegradedReason.APPROXIMATE, f"{len(embedded.vectors)} vectors are scanned compressed")


def capped(question: Question) -> tuple[Degraded, ...]:
    """The query was longer than the engine reads."""
    return (Degraded(DegradedReason.QUERY_CAPPED, question.capped),) if question.capped else ()
