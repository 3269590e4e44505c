"""The postings of one query's terms, scored for all rows at once.

A posting is one 64-bit integer, ``row << 16 | term frequency``. A row is a document of the tail or of a segment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.bm25 import Statistics, Weighted, contributions

ROW_SHIFT = 16
_FREQUENCY_MASK = (1 << ROW_SHIFT) - 1
_SPARSE, _MANY_ROWS = 6, 30_000
"""So many times as many rows as postings, and so many rows: then postings are put in order, not all rows looked at."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Documents that hold a term: arrays of one shape, each ordinal once."""

    ordinals: NDArray[np.int64]
    bm25: NDArray[np.float64]
    cover: NDArray[np.float64]
    """The idf of the distinct terms that a document holds, as a share of all terms'; above 0."""


@dataclass(frozen=True, slots=True)
class PostingsView:
    """A moment of a tail or a segment; nothing in it changes any more."""

    weighted: Weighted
    postings: NDArray[np.int64]
    """Those of the first term, of the second, and so on; rows ascending within a term."""
    sizes: list[int]
    """How many postings each term has."""
    ordinals: NDArray[np.int64]
    norms: NDArray[np.uint8]
    alive: NDArray[np.bool_]

    def matches(self, statistics: Statistics) -> Matches:
        """Every live document that holds one of the terms, in one pass."""
        held = self.postings >> ROW_SHIFT
        rows, places = _grouped(held) if self._sparse else (None, held)
        count = len(self.ordinals) if rows is None else len(rows)
        cover = _sums(places, np.repeat(self.weighted.shares, self.sizes), count)
        bm25 = _sums(places, self._contributions(held, statistics), count)
        found = np.flatnonzero(cover)
        rows = found if rows is None else rows[found]
        lives = self.alive[rows]
        if not lives.all():
            rows, found = rows[lives], found[lives]
        return Matches(self.ordinals[rows], bm25[found], cover[found])

    @property
    def _sparse(self) -> bool:
        rows = len(self.ordinals)
        return rows > _MANY_ROWS and rows > _SPARSE * len(self.postings)

    def bm25(self, statistics: Statistics) -> NDArray[np.float64]:
        """By row, shape (rows,); 0.0 where nothing matches, dead rows included as if alive."""
        held = self.postings >> ROW_SHIFT
        return _sums(held, self._contributions(held, statistics), len(self.ordinals))

    def _contributions(self, held: NDArray[np.int64], statistics: Statistics) -> NDArray[np.float64]:
        frequencies = (self.postings & _FREQUENCY_MASK).astype(np.float64)
        weights = np.repeat(self.weighted.weights, self.sizes)
        return contributions(weights, frequencies, statistics.saturation()[self.norms[held]])


def _grouped(held: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows of some postings, and the place among them of each posting."""
    order = held.argsort(kind="stable")  # the rows of each term ascend already, and runs are merged fast
    ascending = held[order]
    first = np.empty(len(held), np.bool_)
    first[:1] = True
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    places = np.empty(len(held), np.int64)
    places[order] = first.cumsum() - 1
    return ascending[first], places


def _sums(places: NDArray[np.int64], added: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """By place; added up in the order of the postings, so that a document's sum is the same however it is found."""
    total: NDArray[np.float64] = np.bincount(places, added, count).astype(np.float64, copy=False)
    return total
