"""How long one answer may take: the least of what was asked, what the deadline leaves, and the server's maximum."""

from dataclasses import dataclass

from recall.ranking.query import Mode
from recall.ranking.settings import BudgetSettings, RankingSettings

_MS = 1_000.0


@dataclass(frozen=True, slots=True)
class Budget:
    """A moment on the monotonic clock, in seconds, by which the answer must be ready."""

    started: float
    deadline: float

    def remaining(self, now: float) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.deadline - now)

    def wait_until(self, mode: Mode, settings: RankingSettings) -> float:
        """Until when, on the monotonic clock, `mode` waits for the query's vector."""
        if mode is Mode.AUTO:
            return self.started + (self.deadline - self.started) * settings.auto_share
        return self.deadline


def budget(settings: BudgetSettings, now: float, asked_s: float | None, call_s: float | None) -> Budget:
    """The budget of a request that came at `now` (monotonic), asks for `asked_s`, in a call that ends in `call_s`."""
    seconds = min(settings.default_ms if asked_s is None else asked_s * _MS, settings.max_ms) / _MS
    if call_s is not None:
        seconds = min(seconds, call_s - settings.reserve_ms / _MS)
    return Budget(started=now, deadline=now + max(0.0, seconds))
