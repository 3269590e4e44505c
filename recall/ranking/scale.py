"""The common scale of the legs: every leg's score is told in standard deviations of that leg over the bank.

Mean and deviation are taken over every accepted memory, those the leg does not match included. A handful of memories
tells little about either, so both start from a prior that weighs as much as a few memories:

    mean  = (n·m + n₀·m₀) / (n + n₀)
    var   = (n·(v + (m - mean)²) + n₀·(s₀² + (m₀ - mean)²)) / (n + n₀)
"""

import math
from collections.abc import Mapping
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
        return (scores - self.mean) / self.deviation

    @property
    def zero(self) -> float:
        """What a raw score of 0 is worth, as a positive number of deviations below the mean."""
        return self.mean / self.deviation if self.deviation > 0.0 else 0.0


def with_prior(seen: Scale, count: int, prior: Scale, prior_count: float) -> Scale:
    """`seen`, taken over `count` memories, drawn towards `prior` as if that had been seen on `prior_count` more."""
    total = count + prior_count
    if total <= 0.0:
        return Scale(0.0, 0.0)
    mean = (count * seen.mean + prior_count * prior.mean) / total
    spread = count * (seen.deviation**2 + (seen.mean - mean) ** 2)
    spread += prior_count * (prior.deviation**2 + (prior.mean - mean) ** 2)
    return Scale(mean, math.sqrt(spread / total))


def lexical_prior(idf: Mapping[str, float], terms: Mapping[str, int], settings: RankingSettings) -> Scale:
    """A bank in which BM25 spreads by a fixed share of what matching the whole query would score."""
    whole = sum(count * idf[term] for term, count in terms.items())
    return Scale(0.0, settings.prior_lexical_share * whole)


def semantic_prior(settings: RankingSettings) -> Scale:
    """Cosines between unrelated texts of the default model."""
    return Scale(settings.prior_cosine_mean, settings.prior_cosine_deviation)


def dense_scale(scores: NDArray[np.float64], count: int) -> Scale:
    """Scale of `count` memories, of which those that `scores` leaves out score 0."""
    if count == 0:
        return Scale(0.0, 0.0)
    mean = float(scores.sum()) / count
    return Scale(mean, math.sqrt(max(0.0, float(scores @ scores) / count - mean * mean)))


def expected_lexical_scale(
    frequencies: Mapping[str, int], idf: Mapping[str, float], terms: Mapping[str, int], count: int
) -> Scale:
    """BM25's scale from document frequencies alone, each term taken as independent and as frequent as in the mean text.

    For banks too large to be scored whole. On conversations it is within 10 % of the measured deviation.
    """
    mean = variance = 0.0
    for term, times in terms.items():
        share = frequencies[term] / count if count else 0.0
        mean += share * times * idf[term]
        variance += share * (1.0 - share) * (times * idf[term]) ** 2
    return Scale(mean, math.sqrt(variance))


def idf(frequency: int, count: int) -> float:
    """ln(1 + (N - df + .5) / (df + .5)), as BM25 weighs a term that `frequency` of `count` texts hold."""
    return math.log1p((count - frequency + 0.5) / (frequency + 0.5))
