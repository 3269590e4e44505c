"""What the words of a query say of the documents: of those that hold one, and of all of them where that is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Words:
    """Few documents of many, as a rule: arrays by ordinal are made when they are first asked for."""

    matching: NDArray[np.int64]
    """Ordinals of the documents that hold one of the words, ascending, each once; all below `size`."""
    matching_bm25: Rows
    """(len(matching),)"""
    matching_cover: Rows
    """(len(matching),), above 0."""
    size: int

    @cached_property
    def bm25(self) -> Rows:
        """(size,) by ordinal; 0 where no word matches."""
        return self._scattered(self.matching_bm25)

    @cached_property
    def cover(self) -> Rows:
        """(size,) by ordinal: the share (`bm25.Weighted.shares`) of the query that a document holds, 0 to 1."""
        return self._scattered(self.matching_cover)

    def of(self, ordinals: NDArray[np.int64]) -> tuple[Rows, Rows]:
        """BM25 and cover of these documents, (len(ordinals),) each."""
        bm25, cover = np.zeros(len(ordinals)), np.zeros(len(ordinals))
        if len(self.matching):
            places = self.matching.searchsorted(ordinals)
            places[places == len(self.matching)] = 0
            held = (self.matching[places] == ordinals).nonzero()[0]
            bm25[held], cover[held] = self.matching_bm25[places[held]], self.matching_cover[places[held]]
        return bm25, cover

    def plus(self, other: Words, share: float = 1.0) -> Words:
        """The sums of both, `other` by a share; a cover stays at most 1."""
        ordinals = np.concatenate((self.matching, other.matching))
        distinct, places = np.unique(ordinals, return_inverse=True)
        bm25 = np.concatenate((self.matching_bm25, share * other.matching_bm25))
        cover = np.concatenate((self.matching_cover, share * other.matching_cover))
        return Words(
            distinct,
            np.bincount(places, bm25, len(distinct)).astype(np.float64, copy=False),
            np.minimum(np.bincount(places, cover, len(distinct)), 1.0),
            max(self.size, other.size),
        )

    def _scattered(self, found: Rows) -> Rows:
        by_ordinal = np.zeros(self.size)
        by_ordinal[self.matching] = found
        return by_ordinal
