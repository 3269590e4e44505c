"""Some memories of a bank in place of all: the same evidence in the same arrays, only shorter.

Places in these arrays are places in `part`, not ordinals. A part is closed when it holds all members of every session
that one of its memories is in: then what sessions lend is the same as in the whole bank; else it is less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from index.words import Words
from recall.memory.record import Record
from recall.ranking.evidence import Context
from recall.ranking.sessions import NONE, Sessions

Ordinals = NDArray[np.int64]

_NO_SESSIONS = np.zeros(0, np.int64)


def closed(ordinals: Ordinals, sessions: Sessions, size: int) -> Ordinals:
    """Distinct, ascending: these memories, and all members of their sessions."""
    codes = distinct(sessions.codes(size)[ordinals])
    return distinct(np.concatenate((ordinals, sessions.members(codes[codes > 0].tolist()))))


def distinct(ordinals: Ordinals) -> Ordinals:
    """Ascending, each once."""
    ascending = np.sort(ordinals)
    first = np.empty(len(ascending), np.bool_)
    first[:1] = True
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return ascending[first]


def words_of(part: Ordinals, words: Words) -> Words:
    """What the words say of the memories of a part."""
    if part is words.matching:
        return Words(np.arange(len(part)), words.matching_bm25, words.matching_cover, len(part))
    bm25, cover = words.of(part)
    matching = cover.nonzero()[0]
    return Words(matching, bm25[matching], cover[matching], len(part))


def context_of(part: Ordinals, context: Context) -> Context:
    """What is known of the memories of a part, which ascends."""
    held = context.any_session
    return replace(
        context,
        recency=context.recency[part],
        lends=context.lends[part],
        neighbours=tuple([places_in(part, column[part]) for column in context.neighbours]) if held else (),
        distances=context.distances if held else (),
        sessions=context.sessions[part] if held else _NO_SESSIONS,
        short=context.short[part],
        root_short=context.root_short[part],
        asks=context.asks[part],
        corroboration=context.corroboration[part],
        pinned=context.pinned[part],
    )


def places_in(part: Ordinals, ordinals: Ordinals) -> Ordinals:
    """Where in a part, which ascends, they are; NONE where it does not hold one."""
    places: Ordinals = part.searchsorted(ordinals)
    places[places == len(part)] = 0
    places[part[places] != ordinals] = NONE
    return places


class RecordsOf(Sequence[Record]):
    """The records of a part, looked up one at a time."""

    def __init__(self, records: Sequence[Record], part: Ordinals) -> None:
        self._records, self._part = records, part

    def __len__(self) -> int:
        return len(self._part)

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Record]: ...
    def __getitem__(self, at: int | slice) -> Record | Sequence[Record]:
        if isinstance(at, slice):
            return [self._records[ordinal] for ordinal in self._part[at].tolist()]
        record: Record = self._records[int(self._part[at])]
        return record
