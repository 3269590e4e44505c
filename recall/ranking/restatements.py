"""Restatements do not eat the limit: of memories that say the same, the best stands for all.

A candidate is folded into a result above it when nothing but the wording differs: equal canonical wording, or a cosine
of at least `merge_cosine`, and no guard of `consolidate` has a reason why the two must stay apart. "The port is 5432"
and "the port is 5433" are nearly one vector and stay two results. Nothing is retired: the result names what it folded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from consolidate.canonical import same_wording
from consolidate.guards import Verdict
from consolidate.judgement import Likeness, judge
from consolidate.memo import Memo
from consolidate.settings import ConsolidateSettings
from consolidate.words import CACHED_TEXTS
from recall.memory.record import Record
from recall.ranking.shortlist import Candidate, Texts

RESTATED = ConsolidateSettings()
"""What counts as the same; nothing of it is retired here, so a bank's own settings of tending do not matter."""

_LEAST_COSINE = 0.5
"""Texts less alike than this are not compared word for word: that takes 0.05 ms a text, and of 136 pairs of one
wording the least alike had 0.74 with the default model."""
_LEAST_SHARED = 0.4
"""Part of the shorter text's words that begin as one of the other's; of the same 136 pairs the least had 0.6."""
_BEGINNING = 3
_NO_VECTOR = -1.0

Vector = NDArray[np.float32]
VectorOf = Callable[[int], Vector | None]


def folded(
    candidates: Sequence[Candidate], limit: int, texts: Texts, vector_of: VectorOf, settings: ConsolidateSettings
) -> list[Candidate]:
    """The first `limit` that are left; `vector_of` gives the unit vector of a memory by ordinal, where it has one."""
    kept: list[Candidate] = []
    vectors = _Vectors(limit)
    for candidate in candidates:
        if len(kept) == limit:
            break
        vector = vector_of(candidate.ordinal)
        above = _restated(candidate, kept, vectors.cosines(vector), texts, settings)
        if above is None:
            kept.append(candidate)
            vectors.add(vector)
        else:
            one = kept[above]
            kept[above] = replace(one, restatements=(*one.restatements, candidate.record.id))
    return kept


class _Vectors:
    """Those of the results so far, to compare a candidate with all of them at once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: Vector | None = None
        self._count = 0

    def add(self, vector: Vector | None) -> None:
        """That of the next result; None where it has none."""
        if vector is not None:
            if self._rows is None:
                self._rows = np.full((self._limit, len(vector)), np.nan, np.float32)
            self._rows[self._count] = vector
        self._count += 1

    def cosines(self, vector: Vector | None) -> Vector:
        """(results so far,) of this vector with each; NaN where either is missing."""
        if vector is None or self._rows is None:
            return np.full(self._count, np.nan, np.float32)
        found: Vector = self._rows[: self._count] @ vector
        return found


def _restated(
    candidate: Candidate,
    kept: Sequence[Candidate],
    cosines: NDArray[np.float32],
    texts: Texts,
    settings: ConsolidateSettings,
) -> int | None:
    """The place in `kept` of the memory that `candidate` repeats; `cosines` of it with each of them."""
    text = texts.of(candidate.record)
    for place in np.flatnonzero(~(cosines < _LEAST_COSINE)).tolist():
        cosine, other = float(cosines[place]), kept[place]
        likeness = Likeness(_NO_VECTOR if math.isnan(cosine) else cosine, 0.0)
        if likeness.cosine < settings.merge_cosine and not _same_wording(text, texts.of(other.record)):
            continue
        memo, above = _memo(candidate.record, text), _memo(other.record, texts.of(other.record))
        if judge(memo, above, likeness, settings).verdict is Verdict.MERGE:
            return place
    return None


def _same_wording(a: str, b: str) -> bool:
    """As `same_wording`, with a cheap look first: it analyses both texts, and hardly any two results are alike."""
    ours, theirs = _beginnings(a), _beginnings(b)
    shared = len(ours & theirs)
    return shared >= _LEAST_SHARED * min(len(ours), len(theirs)) and same_wording(a, b)


@lru_cache(maxsize=CACHED_TEXTS)
def _beginnings(text: str) -> frozenset[str]:
    return frozenset([word[:_BEGINNING] for word in text.lower().split()])


def _memo(record: Record, text: str) -> Memo:
    return Memo(
        id=record.id,
        text=text,
        kind=record.kind.value,
        tags=record.tags,
        entities=record.entities,
        author=record.author,
    )
