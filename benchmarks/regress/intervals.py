"""A ratio of paired measurements and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

_RESAMPLES = 2_000
_SEED = 7
_PERCENT = (2.5, 97.5)


class Interval(msgspec.Struct, frozen=True):
    """B / A: the median over rounds, and a 95 % bootstrap interval of it."""

    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Whether the interval leaves out 1."""
        if self.low > 1.0:
            return "slower"
        return "faster" if self.high < 1.0 else "alike"


def interval(a: Sequence[float], b: Sequence[float]) -> Interval:
    """Of rounds in pairs. Raises ValueError unless both have the same number of rounds, at least one, all positive."""
    if len(a) != len(b) or not a or min(*a, *b) <= 0:
        raise ValueError(f"{len(a)} and {len(b)} rounds do not make pairs of positive figures")
    ratios = np.asarray(b, np.float64) / np.asarray(a, np.float64)
    drawn = np.random.default_rng(_SEED).integers(len(ratios), size=(_RESAMPLES, len(ratios)))
    low, high = np.percentile(np.median(ratios[drawn], axis=1), _PERCENT)
    return Interval(round(float(np.median(ratios)), 3), round(float(low), 3), round(float(high), 3))
