"""Time as an argument."""

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> int:
        """Microseconds since 1970-01-01 UTC."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        """Microseconds since 1970-01-01 UTC."""
        return time.time_ns() // 1000
