"""What every system under measurement does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]


class Peer(Protocol):
    """One store on one folder. Memories are known by their row in the corpus."""

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Takes rows 0 to n - 1 in, vectors (n, dimensions); returns when searches are at their full speed."""

    def save(self, row: int, text: str, vector: Vector) -> None:
        """Takes one memory more in, as durably as the system does by itself."""

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:
        """Rows, best first."""

    def processes(self) -> Sequence[int]:
        """Process ids beside this one that hold memory for the store."""

    def close(self) -> None:
        """Lets go of the folder."""
