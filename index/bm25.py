"""BM25 as Tantivy and Lucene compute it, in numpy and double precision.

    idf(t)      = ln(1 + (N - df + 1/2) / (df + 1/2))
    score(q, d) = Σ_t count(t, q) · idf(t) · tf · (k1 + 1) / (tf + k1 · (1 - b + b · dl / avgdl))

``dl`` is the length of a document in terms, coarsened to one byte as Tantivy stores it, so that a document scores the
same whether it is held in RAM or in a Tantivy segment. Robertson and Zaragoza, "The Probabilistic Relevance Framework:
BM25 and Beyond" (2009).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
"""Both are constants inside Tantivy, hence no settings here."""

_TINY = 1e-300
_EXACT_NORMS = 24
_MANTISSA_BITS = 3


def _length_of_norm(norm: int) -> int:
    if norm < _EXACT_NORMS:
        return norm
    mantissa, shift = (norm - _EXACT_NORMS) & 7, ((norm - _EXACT_NORMS) >> _MANTISSA_BITS) - 1
    return _EXACT_NORMS + (mantissa if shift < 0 else (mantissa | 8) << shift)


LENGTHS: NDArray[np.float64] = np.array([_length_of_norm(norm) for norm in range(256)], np.float64)
"""Shape (256,): the length each norm byte stands for."""


def norms_of(lengths: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The norm bytes of documents of these lengths in terms: the greatest length that is not above."""
    return (np.searchsorted(LENGTHS, lengths, side="right") - 1).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Weighted:
    """The distinct terms of a query, sorted so that sums round alike everywhere."""

    terms: tuple[str, ...]
    weights: NDArray[np.float64]
    """count × idf of each term."""
    shares: NDArray[np.float64]
    """idf of each term as a share of the idf of all that some document holds; 0 for those that none holds."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of all live documents together."""

    documents: int
    tokens: int

    @property
    def average_length(self) -> float:
        """Mean length in terms; 1 for an empty collection."""
        return self.tokens / self.documents if self.tokens else 1.0

    def idf(self, document_frequency: int) -> float:
        """Inverse document frequency, always positive."""
        return math.log1p((self.documents - document_frequency + 0.5) / (document_frequency + 0.5))

    def saturation(self) -> NDArray[np.float64]:
        """Shape (256,): k1 · (1 - b + b · dl / avgdl) by norm byte."""
        result: NDArray[np.float64] = K1 * (1.0 - B + B * LENGTHS / self.average_length)
        return result


def weigh(
    counts: Mapping[str, int], terms: tuple[str, ...], frequencies: list[int], collection: Statistics
) -> Weighted:
    """The sorted ``terms`` of a query, each with the live documents that hold it."""
    idf = np.array([collection.idf(frequency) for frequency in frequencies], np.float64)
    known = idf * (np.array(frequencies, np.int64) > 0)
    times = np.array([counts[term] for term in terms], np.float64)
    return Weighted(terms, times * idf, known / max(float(known.sum()), _TINY))


def contributions(
    weights: NDArray[np.float64], frequencies: NDArray[np.float64], saturation: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What each posting adds to its document's score; three arrays of one shape."""
    return weights * (frequencies * (K1 + 1.0) / (frequencies + saturation))
