"""A numpy array that grows at the end."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_FIRST_CAPACITY = 256


class Growing:
    """One value a row; unset places hold `fill`.

    Growing swaps in a larger copy, so a view taken before stays valid and keeps what it showed.
    """

    def __init__(self, dtype: DTypeLike, fill: int = 0) -> None:
        self._fill = fill
        self._rows: NDArray[Any] = self._blank(_FIRST_CAPACITY, dtype)

    def __setitem__(self, at: int, value: object) -> None:
        self.reserve(at + 1)
        self._rows[at] = value

    def put(self, rows: NDArray[np.int64], values: NDArray[Any]) -> None:
        """Set these rows, (n,) each."""
        self.reserve(int(rows.max(initial=-1)) + 1)
        self._rows[rows] = values

    def fill(self, values: Sequence[object]) -> None:
        """Set the first `len(values)` rows."""
        self.reserve(len(values))
        self._rows[: len(values)] = values

    def reserve(self, size: int) -> None:
        """Make room for `size` rows."""
        if size > len(self._rows):
            larger = self._blank(max(size, 2 * len(self._rows)), self._rows.dtype)
            larger[: len(self._rows)] = self._rows
            self._rows = larger

    def view(self, size: int) -> NDArray[Any]:
        """The first `size` rows, not copied."""
        self.reserve(size)
        return self._rows[:size]

    def _blank(self, capacity: int, dtype: DTypeLike) -> NDArray[Any]:
        return np.full(capacity, self._fill, dtype)
