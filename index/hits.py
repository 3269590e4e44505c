"""What one retrieval leg answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EXHAUSTED = float("-inf")


@dataclass(frozen=True, slots=True)
class Hits:
    """The best memories of one leg, best first, equal scores by ordinal.

    ``ordinals`` has shape (n,), distinct; ``scores`` has shape (n,), higher is better. Nothing outside
    ``ordinals`` (and inside the mask that was searched) scores higher than ``bound``; ``bound`` is
    ``EXHAUSTED`` when nothing else matches at all. ``exact`` is False when a compressed scan may have missed some.
    """

    ordinals: NDArray[np.int64]
    scores: NDArray[np.float32]
    bound: float = EXHAUSTED
    exact: bool = True

    @staticmethod
    def none() -> Hits:
        """No memory matches."""
        return Hits(np.empty(0, np.int64), np.empty(0, np.float32))

    def __len__(self) -> int:
        return len(self.ordinals)
