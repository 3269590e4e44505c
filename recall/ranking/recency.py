"""How fresh what a memory says is: a bounded factor on its lexical evidence.

    recency = max(floor, 2^(-age / half_life))          age from when it was last said to now, to the minute

A memory was last said when its writer says it was (created_at), or when it was saved again. An edit, a pin or a move
to another status says nothing new. The factors are divided by their root mean square over the bank before they
multiply BM25, so that a bank in which everything is old ranks as it did when all of it was new.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_MINUTE = 60_000_000
_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Recency:
    """Factors by ordinal in [floor, 1], and what they are divided by."""

    factors: NDArray[np.float64]
    norm: float


def recency(
    said_at: NDArray[np.int64], accepted: NDArray[np.bool_], now: int, half_life_days: float, floor: float
) -> Recency:
    """Factors of every memory at `now` (microseconds UTC); times in the future count as now."""
    minute = now // _MINUTE * _MINUTE
    age_days = np.maximum(minute - said_at, 0) / _DAY
    factors = np.maximum(np.exp2(-age_days / half_life_days), floor)
    counted = factors[accepted]
    norm = float(np.sqrt(np.mean(counted * counted))) if counted.size else 1.0
    return Recency(factors, norm)


class RecencyCache:
    """The last factors computed for one bank; computed anew after a write, a minute or another half-life."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[int, int, float, float], Recency] | None = None

    def at(
        self,
        version: int,
        said_at: NDArray[np.int64],
        accepted: NDArray[np.bool_],
        now: int,
        half_life_days: float,
        floor: float,
    ) -> Recency:
        """As `recency`; `version` stands for the state of the columns. Readers may race: both compute the same."""
        key = (version, now // _MINUTE, half_life_days, floor)
        kept = self._kept
        if kept is None or kept[0] != key:
            kept = (key, recency(said_at, accepted, now, half_life_days, floor))
            self._kept = kept
        return kept[1]
