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

    def bm25(self, statistics: Statistics) -> NDArray[np.float64]:
        """By row, shape (rows,); 0.0 where nothing matches, dead rows included as if alive."""
        rows = self.postings >> ROW_SHIFT
        frequencies = (self.postings & _FREQUENCY_MASK).astype(np.float64)
        weights = np.repeat(self.weighted.weights, self.sizes)
        return self._by_row(rows, contributions(weights, frequencies, statistics.saturation()[self.norms[rows]]))

    def cover(self) -> NDArray[np.float64]:
        """By row, shape (rows,): the idf of the distinct terms that a document holds, as a share of all terms'."""
        return self._by_row(self.postings >> ROW_SHIFT, np.repeat(self.weighted.shares, self.sizes))

    def _by_row(self, rows: NDArray[np.int64], added: NDArray[np.float64]) -> NDArray[np.float64]:
        total: NDArray[np.float64] = np.bincount(rows, added, len(self.ordinals)).astype(np.float64, copy=False)
        return total
