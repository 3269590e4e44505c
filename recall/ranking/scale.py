"""The scale of the cosine leg: how far a cosine is above what this query has with the bank at large.

Mean and deviation are taken over every memory with a vector. A handful of memories tells little about either, so both
start from a prior that weighs as much as a few memories:

    mean  = (n·m + n₀·m₀) / (n + n₀)
    var   = (n·(s² + (m - mean)²) + n₀·(s₀² + (m₀ - mean)²)) / (n + n₀)
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall.ranking.settings import RankingSettings


@dataclass(frozen=True, slots=True)
class Scale:
    """Mean and standard deviation of one leg over the bank; a deviation of 0 switches the leg off."""

    mean: float
    deviation: float

    def standard(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores in deviations from the mean."""
        if self.deviation <= 0.0:
            return np.zeros_like(scores)
        standard = scores - self.mean
        standard *= 1.0 / self.deviation
        return standard

    def standard_one(self, score: float) -> float:
        """One score in deviations from the mean."""
        return (score - self.mean) / self.deviation if self.deviation > 0.0 else 0.0

    @property
    def zero(self) -> float:
        """How many deviations a raw score of 0 lies below the mean."""
        return self.mean / self.deviation if self.deviation > 0.0 else 0.0


def scale_of(cosines: NDArray[np.float64], settings: RankingSettings) -> Scale:
    """The scale over these cosines, none of them NaN."""
    seen = _seen(cosines) if cosines.size else Scale(0.0, 0.0)
    return sampled_scale(seen.mean, seen.deviation, cosines.size, settings)


def sampled_scale(mean: float, deviation: float, count: int, settings: RankingSettings) -> Scale:
    """The scale of `count` cosines of which a sample has this mean and deviation."""
    prior = Scale(settings.prior_cosine_mean, settings.prior_cosine_deviation)
    return with_prior(Scale(mean, deviation), count, prior, settings.prior_memories)


def _seen(cosines: NDArray[np.float64]) -> Scale:
    mean = float(cosines.sum()) / cosines.size
    return Scale(mean, math.sqrt(max(0.0, float(cosines @ cosines) / cosines.size - mean * mean)))


def with_prior(seen: Scale, count: int, prior: Scale, prior_count: float) -> Scale:
    """`seen`, taken over `count` memories, drawn towards `prior` as if that had been seen on `prior_count` more."""
    total = count + prior_count
    if total <= 0.0:
        return Scale(0.0, 0.0)
    mean = (count * seen.mean + prior_count * prior.mean) / total
    spread = count * (seen.deviation**2 + (seen.mean - mean) ** 2)
    spread += prior_count * (prior.deviation**2 + (prior.mean - mean) ** 2)
    return Scale(mean, math.sqrt(spread / total))
