"""Of the memories that are nearest to a memory, how many does a compressed scan propose? Measured on the bank's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.compressed import CompressedRows
from index.row_blocks import RowView

NEAREST = 10
_ASKED = 32


@dataclass(frozen=True, slots=True)
class ScanState:
    """How the rows of a bank are searched."""

    copied_rows: int
    """Rows of the compressed copy; 0 while the rows themselves are scanned."""
    trained_of: int
    """Rows there were when its codebook was learnt; of some of them."""
    recall: float | None
    """Of the ten nearest, the share that a scan of the copy proposes; None until it is measured."""


def scan_recall(view: RowView, alive: NDArray[np.bool_], compressed: CompressedRows, listed: int) -> float:
    """Mean share of the ten nearest live rows of some rows, evenly spaced, that are among the first `listed` proposed.

    Equal cosines stand for each other. 1 where there are no more rows than these. Takes as long as 32 exact scans.
    """
    rows = compressed.rows
    live = np.flatnonzero(alive[:rows])
    if len(live) <= NEAREST:
        return 1.0
    asked = live[:: -(-len(live) // _ASKED)]
    return float(np.mean([_share(view, alive[:rows], compressed, int(row), listed) for row in asked]))


def _share(view: RowView, alive: NDArray[np.bool_], compressed: CompressedRows, row: int, listed: int) -> float:
    query = view.row(row)
    cosines = view.products(query)[: compressed.rows]
    cosines[~alive] = -np.inf
    cosines[row] = -np.inf
    least = np.partition(cosines, len(cosines) - NEAREST)[len(cosines) - NEAREST]
    found = cosines[compressed.nearest(query, listed).rows] >= least
    return min(1.0, float(found.sum()) / NEAREST)
