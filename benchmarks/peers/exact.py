"""The exact fused top k that all systems are held against, with what ties leave open.

BM25 as in Robertson and Zaragoza 2009 with k1 = 1.2, b = 0.75 and idf = ln(1 + (N - df + 0.5) / (df + 0.5)); fusion by
reciprocal ranks, Σ 1 / (60 + rank), over all memories that match a word and all vectors (Cormack et al. 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from index.stopwords import STOP_WORDS

K1, B, RANK_CONSTANT = 1.2, 0.75, 60
_DIGITS = 9
"""What a score has beyond them hangs on the order in which its words were summed up."""


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


def accepted(bm25: NDArray[np.float64], cosine: NDArray[np.float32], k: int, depth: int = 0) -> NDArray[np.int64]:
    """Rows that belong to the k best, ascending: k of them, and more where equal scores leave the order open.

    A row's fused sum lies between that with the worst and that with the best rank among its equals; a row is accepted
    when its best sum reaches the k-th of the worst ones. `depth`: rows of each leg that take part; 0 for all.
    """
    most, bm25 = depth or len(cosine), bm25.round(_DIGITS)
    best, worst = (_sum(bm25 > 0.0, _ranks(bm25, side), _ranks(cosine, side), most) for side in ("right", "left"))
    bar = np.partition(worst, -k)[-k] if k < len(worst) else 0.0
    return np.flatnonzero(best >= bar).astype(np.int64)


def _sum(
    matching: NDArray[np.bool_], words: NDArray[np.float64], near: NDArray[np.float64], most: int
) -> NDArray[np.float64]:
    total = np.where(near <= most, 1.0 / (RANK_CONSTANT + near), 0.0)
    taken = matching & (words <= most)
    total[taken] += 1.0 / (RANK_CONSTANT + words[taken])
    return total


def _ranks(scores: NDArray[np.generic], side: Literal["left", "right"]) -> NDArray[np.float64]:
    """1 for the best. `right`: equal scores share the best of their ranks, `left`: the worst."""
    ascending = np.sort(scores)
    above = len(scores) - np.searchsorted(ascending, scores, side=side)
    return np.asarray(above + (1.0 if side == "right" else 0.0), np.float64)
