"""A growing matrix that is hardly ever copied: blocks that double from small to large, filled once, read by anyone.

A view holds the rows that were there when it was taken; rows appended later land behind it, in the same blocks. The
first few thousand rows are moved into one block as they come, for every block costs each reader a few microseconds;
memory of a large block that is not filled yet is never touched.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FIRST_BLOCK_ROWS = 64
_FEW_ROWS = 24  # are copied one by one: a block costs more than a row
MOVED_ROWS = 4_096
"""Rows up to which all are moved together when there is no more room: two milliseconds at the most."""
LARGEST_BLOCK_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class RowView:
    """Rows 0…rows-1."""

    blocks: tuple[NDArray[np.float32], ...]  # each (rows of the block, dimensions)
    starts: NDArray[np.int64]  # first row of each block
    first_rows: tuple[int, ...]  # the same
    rows: int
    dimensions: int

    def parts(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """(first row, filled rows of the block) in order."""
        for start, block in zip(self.starts.tolist(), self.blocks, strict=True):
            if start < self.rows:
                yield start, block[: self.rows - start]

    def products(self, query: NDArray[np.float32], first: int = 0) -> NDArray[np.float32]:
        """Inner product of every row from `first` on with (dimensions,): (rows - first,)."""
        result = np.empty(self.rows - first, dtype=np.float32)
        for start, part in self.parts():
            if start + len(part) > first:
                skipped = max(0, first - start)
                # `dot` would copy a block with gaps first
                np.matmul(part[skipped:], query, out=result[start + skipped - first : start + len(part) - first])
        return result

    def row(self, row: int) -> NDArray[np.float32]:
        """One row, not copied: (dimensions,)."""
        block = bisect_right(self.first_rows, row) - 1
        found: NDArray[np.float32] = self.blocks[block][row - self.first_rows[block]]
        return found

    def gather(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Copies of the named rows, in the order asked: (len(rows), dimensions)."""
        result = np.empty((len(rows), self.dimensions), dtype=np.float32)
        if len(rows) <= _FEW_ROWS:
            for place, row in enumerate(rows.tolist()):
                result[place] = self.row(row)
            return result
        held = self.starts.searchsorted(rows, side="right") - 1
        for number in range(len(self.blocks)):
            here = (held == number).nonzero()[0]
            if len(here):
                block, places = self.blocks[number], rows[here] - self.starts[number]
                # `take` is the faster, and copies a block with gaps as a whole first
                result[here] = block.take(places, axis=0) if block.flags.c_contiguous else block[places]
        return result


class RowBlocks:
    """The writer's side; one writer at a time."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._blocks: list[NDArray[np.float32]] = []
        self._starts: list[int] = []
        self._capacity = 0
        self._rows = 0

    def adopt(self, block: NDArray[np.float32]) -> None:
        """Takes a matrix in as it lies, in place of a copy; there are no rows yet, and it has `MOVED_ROWS` or more."""
        assert not self._rows
        assert len(block) >= MOVED_ROWS
        self._blocks, self._starts = [block], [0]
        self._rows = self._capacity = len(block)

    def append(self, vectors: NDArray[np.float32]) -> None:
        """Puts (n, dimensions) behind the last row."""
        while len(vectors):
            if self._rows == self._capacity:
                self._grow()
            place = self._rows - self._starts[-1]
            fitting = vectors[: self._capacity - self._rows]
            self._blocks[-1][place : place + len(fitting)] = fitting
            self._rows += len(fitting)
            vectors = vectors[len(fitting) :]

    def view(self) -> RowView:
        """What is there now."""
        starts = np.array(self._starts, dtype=np.int64)
        return RowView(tuple(self._blocks), starts, tuple(self._starts), self._rows, self._dimensions)

    def _grow(self) -> None:
        size = min(max(self._capacity, FIRST_BLOCK_ROWS), LARGEST_BLOCK_ROWS)
        if self._capacity < MOVED_ROWS:
            moved = self._blocks
            self._blocks = [np.empty((self._capacity + size, self._dimensions), dtype=np.float32)]
            for block in moved:
                self._blocks[0][: len(block)] = block
            self._starts = [0]
        else:
            self._blocks.append(np.empty((size, self._dimensions), dtype=np.float32))
            self._starts.append(self._capacity)
        self._capacity += size
