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
        cover = self._by_row(held, np.repeat(self.weighted.shares, self.sizes))
        rows = np.flatnonzero(cover > 0.0)
        rows = rows[self.alive[rows]]
        return Matches(self.ordinals[rows], self._bm25(held, statistics)[rows], cover[rows])

    def bm25(self, statistics: Statistics) -> NDArray[np.float64]:
        """By row, shape (rows,); 0.0 where nothing matches, dead rows included as if alive."""
        return self._bm25(self.postings >> ROW_SHIFT, statistics)

    def _bm25(self, rows: NDArray[np.int64], statistics: Statistics) -> NDArray[np.float64]:
        frequencies = (self.postings & _FREQUENCY_MASK).astype(np.float64)
        weights = np.repeat(self.weighted.weights, self.sizes)
        return self._by_row(rows, contributions(weights, frequencies, statistics.saturation()[self.norms[rows]]))

    def _by_row(self, rows: NDArray[np.int64], added: NDArray[np.float64]) -> NDArray[np.float64]:
        total: NDArray[np.float64] = np.bincount(rows, added, len(self.ordinals)).astype(np.float64, copy=False)
        return total
