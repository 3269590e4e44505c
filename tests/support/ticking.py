"""A clock that a test moves."""

from dataclasses import dataclass

START = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z in microseconds."""


@dataclass(slots=True)
class Ticking:
    """Shows `time` and moves it by `step` microseconds with every look."""

    time: int = START
    step: int = 1_000

    def now(self) -> int:
        """Microseconds since 1970-01-01 UTC."""
        self.time += self.step
        return self.time
