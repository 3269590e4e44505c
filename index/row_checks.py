"""What is given as vectors: told apart, refused where it cannot be scored, and cut into pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

PIECE_ROWS = 4_096
"""Texts at a time: one by one is slow for a whole bank, all at once copies it."""


def rows_of(vectors: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    """(windows, dimensions) of one memory, given so or as (dimensions,). Raises ValueError for another shape."""
    rows = np.asarray(vectors, dtype=np.float32)
    rows = rows[np.newaxis] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.shape[1] != dimensions or not len(rows):
        raise ValueError(f"vectors of shape {np.shape(vectors)}, expected (windows, {dimensions})")
    return rows


def refuse_unusable(rows: NDArray[np.float32]) -> None:
    """Raises ValueError where a row is zero or not finite."""
    if not np.isfinite(rows).all() or not rows.any(axis=1).all():
        raise ValueError("a vector that is zero or not finite is never scored")


def pieces(rows: Sequence[NDArray[np.float32]]) -> Iterator[NDArray[np.float32]]:
    """(n, dimensions) matrices of some thousand texts."""
    for start in range(0, len(rows), PIECE_ROWS):
        yield np.concatenate(rows[start : start + PIECE_ROWS])


def spread(first: NDArray[np.int64], windows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of each text, one text after the other: `windows` of them from `first` on."""
    before = np.cumsum(windows) - windows
    return np.repeat(first - before, windows) + np.arange(int(windows.sum()))
