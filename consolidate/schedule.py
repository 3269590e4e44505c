"""When a bank is due. Pure: the clock and the last run are arguments.

A pass may come early by the slack, so that a schedule that looks once an hour does not drift by an hour a day. A last
run that lies in the future is the mark of a clock that was wrong: within the slack that is no matter, beyond it the
bank is due at once, and its checkpoint is then right again. So no clock, however wrong it was, silences a bank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MICROS: Final = 1_000_000
HOUR: Final = 3_600 * MICROS
MOST_SLACK: Final = 300 * MICROS


@dataclass(frozen=True, slots=True)
class Interval:
    """How often a bank is due. Times are microseconds."""

    length: int

    @classmethod
    def of_hours(cls, hours: float) -> Interval:
        """An interval of some hours, at least a microsecond."""
        return cls(max(1, round(hours * HOUR)))

    @property
    def slack(self) -> int:
        """How much too early is early enough: min(5 minutes, a tenth of the interval)."""
        return min(MOST_SLACK, self.length // 10)

    def due(self, last_run: int, now: int) -> bool:
        """Whether a bank that last had a clean pass at `last_run` (0: never) is due at `now`, both UTC."""
        if last_run == 0:
            return True
        elapsed = now - last_run
        return elapsed + self.slack >= self.length or elapsed < -self.slack

    def next_at(self, last_run: int, now: int) -> int:
        """When it will be due, microseconds UTC; `now` when it is."""
        return now if self.due(last_run, now) else last_run + self.length - self.slack
