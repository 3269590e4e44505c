"""The exact fused top k that all systems are held against.

BM25 as in Robertson and Zaragoza 2009 with k1 = 1.2, b = 0.75 and idf = ln(1 + (N - df + 0.5) / (df + 0.5)); fusion by
reciprocal ranks, Σ 1 / (60 + rank), over all memories that match a word and all vectors (Cormack et al. 2009).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from index.stopwords import STOP_WORDS

K1, B, RANK_CONSTANT = 1.2, 0.75, 60


def tokens(text: str) -> list[str]:
    """Lower-cased words between spaces, without stop words."""
    return [word for word in text.lower().split() if word not in STOP_WORDS]


class ExactWords:
    """BM25 of every text."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._ids: dict[str, int] = {}
        pairs = [
            (row, self._ids.setdefault(word, len(self._ids))) for row, text in enumerate(texts) for word in tokens(text)
        ]
        found, counts = np.unique(np.array(pairs, np.int64).reshape(-1, 2)[:, ::-1], axis=0, return_counts=True)
        lengths = np.bincount(found[:, 1], counts, len(texts))
        self._starts = np.searchsorted(found[:, 0], np.arange(len(self._ids) + 1))
        self._rows = found[:, 1]
        df = np.diff(self._starts)
        idf = np.log1p((len(texts) - df + 0.5) / (df + 0.5))
        norm = K1 * (1.0 - B + B * lengths / max(lengths.mean(), 1e-9))
        self._weights = idf[found[:, 0]] * counts * (K1 + 1.0) / (counts + norm[self._rows])
        self._size = len(texts)

    def scores(self, text: str) -> NDArray[np.float64]:
        """(texts,), 0 where no word matches."""
        total = np.zeros(self._size)
        for word in dict.fromkeys(tokens(text)):
            if (place := self._ids.get(word)) is not None:
                span = slice(self._starts[place], self._starts[place + 1])
                total[self._rows[span]] += self._weights[span]
        return total


def fused(bm25: NDArray[np.float64], cosine: NDArray[np.float32], k: int, depth: int = 0) -> NDArray[np.int64]:
    """The k best rows; equal sums by the better cosine. `depth`: rows of each leg that take part; 0 for all."""
    most = depth or len(cosine)
    near, words = _ranks(cosine), _ranks(bm25)
    total = np.where(near <= most, 1.0 / (RANK_CONSTANT + near), 0.0)
    matching = (bm25 > 0.0) & (words <= most)
    total[matching] += 1.0 / (RANK_CONSTANT + words[matching])
    return np.lexsort((-cosine, -total))[:k].astype(np.int64)


def _ranks(scores: NDArray[np.generic]) -> NDArray[np.float64]:
    """1 for the best."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores.astype(np.float64), kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
