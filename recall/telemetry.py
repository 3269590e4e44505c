"""What the service counts about itself, in the process: calls by rpc and code, and how long things took.

A `Histogram` has buckets whose bounds grow by a fifth, from 0.01 ms to a minute: a percentile is right within 20 %.
Everything here is thread-safe and costs about a microsecond a call; `Telemetry.figures()` is what Status reports.
"""

from __future__ import annotations

import bisect
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_BOUNDS_MS = tuple(
    itertools.takewhile(lambda bound: bound <= 60_000, (0.01 * 1.2**power for power in itertools.count()))
)


class Histogram:
    """Durations in milliseconds. Not thread-safe: its owner locks."""

    __slots__ = ("_buckets", "count", "largest_ms", "total_ms")

    def __init__(self) -> None:
        self._buckets = [0] * (len(_BOUNDS_MS) + 1)
        self.count = 0
        self.total_ms = 0.0
        self.largest_ms = 0.0

    def observe(self, ms: float) -> None:
        """Counts one duration."""
        self._buckets[bisect.bisect_left(_BOUNDS_MS, ms)] += 1
        self.count += 1
        self.total_ms += ms
        self.largest_ms = max(self.largest_ms, ms)

    def percentile(self, fraction: float) -> float:
        """The upper bound of the bucket that holds this fraction of the durations, in milliseconds; 0.0 when empty."""
        wanted = fraction * self.count
        for bucket, reached in enumerate(itertools.accumulate(self._buckets)):
            if reached and reached >= wanted:
                return min(_BOUNDS_MS[bucket], self.largest_ms) if bucket < len(_BOUNDS_MS) else self.largest_ms
        return 0.0


@dataclass(frozen=True, slots=True)
class Figures:
    """One measured thing since the start."""

    name: str
    """An rpc ("RecallService/Recall") or a stage of one ("recall.embed")."""
    count: int
    """How often it happened."""
    failed: tuple[tuple[str, int], ...]
    """How often each status code other than OK came of it, by code."""
    p50_ms: float
    """Median duration, in milliseconds."""
    p99_ms: float
    """99th percentile of the duration, in milliseconds."""
    max_ms: float
    """Longest duration, in milliseconds."""


class _Series:
    __slots__ = ("durations", "failed")

    def __init__(self) -> None:
        self.durations = Histogram()
        self.failed: Counter[str] = Counter()


class Telemetry:
    """Counts and durations by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._series: dict[str, _Series] = {}
        self._gauges: dict[str, Callable[[], int]] = {}

    def show(self, gauges: Mapping[str, Callable[[], int]]) -> None:
        """Numbers that are read when asked for, by name; cheap to read, in any thread."""
        with self._lock:
            self._gauges.update(gauges)

    def gauges(self) -> dict[str, int]:
        """What every gauge shows now, by name."""
        with self._lock:
            shown = sorted(self._gauges.items())
        return {name: read() for name, read in shown}

    def observe(self, name: str, ms: float, code: str = "OK") -> None:
        """Counts one event called `name` that took `ms` milliseconds and ended in the status `code`."""
        with self._lock:
            series = self._series.get(name)
            if series is None:
                series = self._series[name] = _Series()
            series.durations.observe(ms)
            if code != "OK":
                series.failed[code] += 1

    def figures(self) -> tuple[Figures, ...]:
        """Everything counted so far, by name."""
        with self._lock:
            return tuple(_figures(name, self._series[name]) for name in sorted(self._series))


def _figures(name: str, series: _Series) -> Figures:
    durations = series.durations
    return Figures(
        name=name,
        count=durations.count,
        failed=tuple(sorted(series.failed.items())),
        p50_ms=durations.percentile(0.50),
        p99_ms=durations.percentile(0.99),
        max_ms=durations.largest_ms,
    )
