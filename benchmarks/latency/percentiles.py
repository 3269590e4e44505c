"""Latencies by name, and their percentiles."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import msgspec
import numpy as np

T = TypeVar("T")

_POINTS = (50.0, 90.0, 99.0, 99.9)


class Percentiles(msgspec.Struct, frozen=True, rename={"p999": "p99.9"}):
    """Milliseconds. A percentile that ``n`` is too small for equals the maximum, or nearly."""

    n: int
    p50: float
    p90: float
    p99: float
    p999: float
    max: float
    mean: float

    @staticmethod
    def of(milliseconds: list[float]) -> Percentiles:
        """Of at least one measurement."""
        values = np.array(milliseconds, np.float64)
        p50, p90, p99, p999 = (round(float(point), 4) for point in np.percentile(values, _POINTS))
        return Percentiles(
            len(values), p50, p90, p99, p999, round(float(values.max()), 4), round(float(values.mean()), 4)
        )


class Recorder:
    """Measures calls under names."""

    def __init__(self, clock_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self._clock_ns = clock_ns
        self._milliseconds: dict[str, list[float]] = {}

    def measure(self, name: str, call: Callable[[], T]) -> T:
        """Runs the call and keeps how long it took."""
        began = self._clock_ns()
        result = call()
        self.add(name, (self._clock_ns() - began) / 1e6)
        return result

    def add(self, name: str, milliseconds: float) -> None:
        self._milliseconds.setdefault(name, []).append(milliseconds)

    def percentiles(self) -> dict[str, Percentiles]:
        """By name, in the order first measured."""
        return {name: Percentiles.of(values) for name, values in self._milliseconds.items()}
