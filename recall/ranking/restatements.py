"""Restatements do not eat the limit: of memories that say the same, the best stands for all.

A candidate is folded into a result above it when nothing but the wording differs: equal canonical wording, or a cosine
of at least `merge_cosine`, and no guard of `consolidate` has a reason why the two must stay apart. "The port is 5432"
and "the port is 5433" are nearly one vector and stay two results. Nothing is retired: the result names what it folded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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

Vectors = NDArray[np.float32]


def folded(
    candidates: Sequence[Candidate], limit: int, texts: Texts, vectors: Vectors | None, settings: ConsolidateSettings
) -> list[Candidate]:
    """The first `limit` that are left; `vectors` (candidates, dimensions) are unit rows, NaN where one has none."""
    kept: dict[int, Candidate] = {}
    cosines = _cosines(vectors, len(candidates))
    for at, candidate in enumerate(candidates):
        if len(kept) == limit:
            break
        above = _restated(candidate, kept, cosines[at], texts, settings)
        if above is None:
            kept[at] = candidate
        else:
            one = kept[above]
            kept[above] = replace(one, restatements=(*one.restatements, candidate.record.id))
    return list(kept.values())


def _cosines(vectors: Vectors | None, count: int) -> list[list[float]]:
    """Of each candidate with each; NaN where either has no vector."""
    if vectors is None:
        return [[math.nan] * count] * count
    found: list[list[float]] = (vectors @ vectors.T).tolist()
    return found


def _restated(
    candidate: Candidate,
    kept: Mapping[int, Candidate],
    cosines: Sequence[float],
    texts: Texts,
    settings: ConsolidateSettings,
) -> int | None:
    """The place of the one in `kept` that `candidate` repeats; `cosines` of it with every candidate."""
    for place, other in kept.items():
        cosine = cosines[place]
        if cosine < _LEAST_COSINE:
            continue
        text, above = texts.of(candidate.record), texts.of(other.record)
        likeness = Likeness(_NO_VECTOR if math.isnan(cosine) else cosine, 0.0)
        if likeness.cosine < settings.merge_cosine and not _same_wording(text, above):
            continue
        ours, theirs = _memo(candidate.record, text), _memo(other.record, above)
        if judge(ours, theirs, likeness, settings).verdict is Verdict.MERGE:
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
