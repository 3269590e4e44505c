"""What a score is made of, for people: the raw value of every signal that took part, and what it added."""

import numpy as np

from recall.ranking import signals
from recall.ranking.evidence import Evidence, Names, Rows
from recall.ranking.fuse import Fused
from recall.ranking.results import Signal


def signals_of(ordinal: int, evidence: Evidence, fused: Fused) -> tuple[Signal, ...]:
    """The signals of one memory, those that added nothing left out. Recency is a factor, already in the words' part."""
    found = [
        Signal(name, _value(name, ordinal, evidence), float(part[ordinal]))
        for name, part in fused.parts
        if part[ordinal] != 0.0
    ]
    if any(signal.name == signals.LEXICAL for signal in found):
        recency = float(evidence.context.recency[ordinal])
        found.append(Signal(signals.RECENCY, recency, recency / evidence.context.recency_norm))
    return tuple(found)


def _value(name: str, ordinal: int, evidence: Evidence) -> float:
    match name:
        case signals.LEXICAL:
            return float(evidence.words.bm25[ordinal])
        case signals.SEMANTIC:
            return _cosine(ordinal, evidence)
        case signals.ENTITY:
            return _at(ordinal, entity_leg(evidence.names))
        case signals.DATE:
            return _at(ordinal, evidence.names.dates)
        case signals.CORROBORATION:
            return round(float(np.expm1(evidence.context.corroboration[ordinal])))
        case _:
            return 1.0


def entity_leg(names: Names) -> Rows | None:
    """The entity leg by ordinal, 0 to 1: 1 where somebody named said it, else the rarity of the names."""
    if names.said is None or names.rarity is None:
        return names.rarity if names.said is None else names.said.astype(np.float64)
    return np.maximum(names.rarity, names.said)


def _at(ordinal: int, leg: Rows | None) -> float:
    return float(leg[ordinal]) if leg is not None else 0.0


def _cosine(ordinal: int, evidence: Evidence) -> float:
    """0 for a memory whose vector is not there yet: its part was inferred from its words."""
    if evidence.meaning is None:
        return 0.0
    return float(np.nan_to_num(evidence.meaning.cosine[ordinal]))
