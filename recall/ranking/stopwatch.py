"""Where the time of one recall goes."""

from collections.abc import Callable

from recall.ranking.results import Timings

_MS = 1_000.0


class Stopwatch:
    """Laps on a monotonic clock in seconds; a stage may have several laps."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._started = self._last = monotonic()
        self._laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """The time since the last lap belongs to `stage` (a field of Timings without its unit)."""
        now = self._monotonic()
        self._laps[stage] = self._laps.get(stage, 0.0) + (now - self._last) * _MS
        self._last = now

    def timings(self) -> Timings:
        """All laps, in milliseconds."""
        laps = {f"{stage}_ms": spent for stage, spent in self._laps.items()}
        return Timings(total_ms=(self._last - self._started) * _MS, **laps)
