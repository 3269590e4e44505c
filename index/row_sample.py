"""Evenly spaced live rows of a matrix, which stand for all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from index.row_blocks import RowView


class RowSample:
    """Drawn anew when the matrix grew or shrank by a quarter."""

    def __init__(self, rows: int) -> None:
        """About so many."""
        self._wanted = rows
        self._rows: NDArray[np.float32] | None = None
        self._drawn_of = 0

    def of(self, view: RowView, alive: NDArray[np.bool_]) -> NDArray[np.float32]:
        """(n, dimensions)."""
        sample = self._rows
        if sample is None or abs(len(alive) - self._drawn_of) > self._drawn_of // 4:
            live = np.flatnonzero(alive)
            sample = view.gather(live[:: max(1, len(live) // self._wanted)])
            self._rows, self._drawn_of = sample, len(alive)
        return sample
