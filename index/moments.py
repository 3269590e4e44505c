"""The first two moments of a bank's rows: mean and deviation of any query's cosines, without looking at a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over rows."""

    total: NDArray[np.float32]
    """(dimensions,)"""
    products: NDArray[np.float32]
    """(dimensions, dimensions)"""

    @staticmethod
    def of(rows: NDArray[np.float32]) -> Moments:
        """Over (n, dimensions)."""
        return Moments(rows.sum(axis=0, dtype=np.float64).astype(np.float32), rows.T @ rows)

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.total + other.total, self.products + other.products)

    def __sub__(self, other: Moments) -> Moments:
        return Moments(self.total - other.total, self.products - other.products)

    def sums(self, query: NDArray[np.float32]) -> tuple[float, float]:
        """Sum of the cosines, and of their squares."""
        return float(self.total @ query), float(query @ (self.products @ query))
