"""Is a difference more than chance? Paired over questions, seeded, so that the same run says the same twice.

*Interval*: percentile bootstrap of the mean difference (Efron 1979): questions are drawn with replacement, both
systems keep their values for each. *p*: two-sided randomisation test (Fisher; Smucker et al., CIKM 2007): under the
null hypothesis the two systems' values on a question may be swapped, so signs of the differences are flipped at random;
p = (1 + flips at least as extreme) / (1 + flips).

Both treat questions as independent. Questions about one conversation are not quite: read intervals as a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

_BLOCK_VALUES = 4_000_000


@dataclass(frozen=True, slots=True)
class ResamplingSettings:
    """``samples`` draws each for the interval and for p; ``confidence`` is the interval's."""

    samples: int = 10_000
    confidence: float = 0.95
    seed: int = 20_240_501


DEFAULT_RESAMPLING = ResamplingSettings()


class Difference(msgspec.Struct, frozen=True):
    """Mean of (other - baseline), its interval, and p."""

    mean: float
    low: float
    high: float
    p: float

    @property
    def is_significant(self) -> bool:
        """The interval does not hold zero."""
        return self.low > 0 or self.high < 0


def difference(
    baseline: NDArray[np.float64], other: NDArray[np.float64], settings: ResamplingSettings = DEFAULT_RESAMPLING
) -> Difference:
    """Compares values (n,) of the same questions in the same order. Raises ValueError when the shapes differ."""
    if baseline.shape != other.shape or baseline.size == 0:
        raise ValueError(f"need the same questions on both sides, got {baseline.shape} and {other.shape}")
    deltas = other - baseline
    rng = np.random.default_rng(settings.seed)
    means = _bootstrap_means(deltas, settings.samples, rng)
    tail = (1.0 - settings.confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Difference(float(deltas.mean()), float(low), float(high), _sign_flip_p(deltas, settings.samples, rng))


def interval(values: NDArray[np.float64], settings: ResamplingSettings = DEFAULT_RESAMPLING) -> tuple[float, float]:
    """The bootstrap interval of a mean."""
    means = _bootstrap_means(values, settings.samples, np.random.default_rng(settings.seed))
    tail = (1.0 - settings.confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)


def _bootstrap_means(values: NDArray[np.float64], samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    n = len(values)
    blocks = [values[rng.integers(0, n, (rows, n))].mean(axis=1) for rows in _rows(samples, n)]
    return np.concatenate(blocks)


def _sign_flip_p(deltas: NDArray[np.float64], samples: int, rng: np.random.Generator) -> float:
    n = len(deltas)
    observed = abs(deltas.sum())
    extreme = 0
    for rows in _rows(samples, n):
        signs = rng.integers(0, 2, (rows, n), np.int8) * 2 - 1
        extreme += int((np.abs(signs @ deltas) >= observed - 1e-12).sum())
    return (1 + extreme) / (1 + samples)


def _rows(samples: int, n: int) -> list[int]:
    block = max(1, _BLOCK_VALUES // n)
    return [min(block, samples - done) for done in range(0, samples, block)]
