"""Where one memory stands for a query: its place in the fused list and in every leg, and why it is no result if so."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recall.memory.record import Record
from recall.ranking import signals
from recall.ranking.explain import entity_leg, signals_of
from recall.ranking.fuse import positive
from recall.ranking.ranking import SEMANTIC, Ranking
from recall.ranking.results import LegRank, WhyNot
from recall.ranking.shortlist import Candidate


def why_not(record: Record, ranking: Ranking, excluded: str) -> WhyNot:
    """`excluded` says why the filters keep it out; empty when they do not."""
    at = record.ordinal
    fused = ranking.fused
    matched = not excluded and bool(fused.admitted[at])
    return WhyNot(
        id=record.id,
        excluded=excluded or ("" if matched else "no word, name, meaning or neighbour of it matches the query"),
        rank=_rank(record, ranking) if matched else 0,
        score=ranking.score(at) if matched else 0.0,
        legs=_legs(at, ranking),
        signals=signals_of(at, ranking.evidence, fused),
    )


def placed(found: WhyNot, candidates: Sequence[Candidate]) -> WhyNot:
    """`found` with the rank that a second stage gave the memory, where it was a candidate."""
    for place, one in enumerate(candidates, start=1):
        if one.record.id == found.id and found.rank:
            signals = one.signals or found.signals
            return replace(found, rank=place, score=positive(one.total), signals=signals)
    return found


def _rank(record: Record, ranking: Ranking) -> int:
    found = ranking.candidates()
    score, updated = ranking.fused.total, ranking.updated_at
    at = record.ordinal
    above = score[found] > score[at]
    level = score[found] == score[at]
    newer = level & (updated[found] > updated[at])
    tied = found[level & (updated[found] == updated[at])]
    before = sum(ranking.records[int(other)].id < record.id for other in tied)
    return 1 + int(above.sum()) + int(newer.sum()) + before


def _legs(at: int, ranking: Ranking) -> tuple[LegRank, ...]:
    evidence = ranking.evidence
    legs = [(signals.LEXICAL, evidence.words.bm25)] if ranking.retrieval != SEMANTIC else []
    if evidence.meaning is not None:
        legs.append((signals.SEMANTIC, np.nan_to_num(evidence.meaning.cosine, nan=-1.0)))
    entity = entity_leg(evidence.names)
    if entity is not None:
        legs.append((signals.ENTITY, entity))
    return tuple(_leg(name, at, scores, ranking) for name, scores in legs)


def _leg(name: str, at: int, scores: NDArray[np.float64], ranking: Ranking) -> LegRank:
    """Rank and score of a memory in one leg, and what leads it."""
    place = LegRank(name, _leg_rank(at, scores, ranking), float(scores[at]))
    rivals = np.flatnonzero(ranking.allowed & (scores > 0.0))
    if not rivals.size:
        return place
    best = int(rivals[np.argmax(scores[rivals])])
    return replace(place, best=ranking.records[best].id, best_score=float(scores[best]))


def _leg_rank(at: int, scores: NDArray[np.float64], ranking: Ranking) -> int:
    if scores[at] <= 0.0:
        return 0
    return 1 + int((scores[ranking.allowed] > scores[at]).sum())
