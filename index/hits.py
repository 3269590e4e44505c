"""What one retrieval leg answers, and how the best of many scores are chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EXHAUSTED = float("-inf")


@dataclass(frozen=True, slots=True)
class Hits:
    """The best memories of one leg, best first, equal scores by ordinal.

    ``ordinals`` has shape (n,), distinct; ``scores`` has shape (n,), higher is better. Nothing outside
    ``ordinals`` (and inside the mask that was searched) scores higher than ``bound``. When nothing else matches at
    all, ``bound`` is 0.0 on legs that score a miss 0.0 (words, names) and ``EXHAUSTED`` on the others.
    ``exact`` is False when a compressed scan may have missed some.
    """

    ordinals: NDArray[np.int64]
    scores: NDArray[np.float32]
    bound: float
    exact: bool = True

    @staticmethod
    def none(bound: float = EXHAUSTED) -> Hits:
        """No memory matches."""
        return Hits(np.empty(0, np.int64), np.empty(0, np.float32), bound)

    def __len__(self) -> int:
        return len(self.ordinals)


def best(ordinals: NDArray[np.int64], scores: NDArray[np.float32], k: int, rest: float) -> Hits:
    """The ``k`` best of distinct ``ordinals`` and their scores, two arrays of shape (n,).

    ``rest`` bounds the score of what is not among them. The k best are the first k of the k + 1 best.
    """
    if len(scores) > k:
        next_best = float(np.partition(scores, len(scores) - k - 1)[len(scores) - k - 1])
        rest = max(rest, next_best)
        chosen = _at_least(ordinals, scores, k, next_best)
        ordinals, scores = ordinals[chosen], scores[chosen]
    order = np.lexsort((ordinals, -scores))
    return Hits(ordinals[order], scores[order], rest)


def _at_least(ordinals: NDArray[np.int64], scores: NDArray[np.float32], k: int, floor: float) -> NDArray[np.intp]:
    above = np.flatnonzero(scores > floor)
    ties = np.flatnonzero(scores == floor)
    missing = k - len(above)
    if missing < len(ties):
        ties = ties[np.argsort(ordinals[ties], kind="stable")[:missing]]
    return np.concatenate((above, ties))
