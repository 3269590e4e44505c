"""An int8 copy of a bank's rows that proposes candidates, with a bound that proves which rows can be left out.

    x' = round(s·x) / s        one s for all rows, another for the query
    |q·x - q'·x'| ≤ ‖x - x'‖ + ‖q - q'‖·‖x'‖             for unit queries, by Cauchy and Schwarz

A quarter of the bytes of the rows is read, which is what a scan of some ten thousand costs. Beside the codes lie the
first two moments of the rows: mean and deviation of any query's cosines over all of them, without looking at one.

Immutable once built. It knows no deletions: the caller filters, and takes the dead out of the moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.row_blocks import RowView

_GREATEST_CODE = 127.0
_FLOAT_SLACK = 1e-5  # of sums of some hundred products in single precision


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over rows, for the mean and the deviation of cosines."""

    total: NDArray[np.float32]
    """(dimensions,)"""
    products: NDArray[np.float32]
    """(dimensions, dimensions)"""

    @staticmethod
    def of(rows: NDArray[np.float32]) -> Moments:
        """Over (n, dimensions)."""
        return Moments(rows.sum(axis=0, dtype=np.float64).astype(np.float32), rows.T @ rows)

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.total + other.total, self.products + other.products)

    def sums(self, query: NDArray[np.float32]) -> tuple[float, float]:
        """Sum of the cosines, and of their squares."""
        return float(self.total @ query), float(query @ (self.products @ query))


@dataclass(frozen=True, slots=True)
class Proposed:
    """Rows that look nearest; every row that was scanned and is not among them has a cosine of at most `rest`."""

    rows: NDArray[np.int64]
    rest: float


class QuantisedRows:
    """Codes of the first `rows` rows of a matrix, and moments of those that counted when they were taken in."""

    def __init__(self, view: RowView, counted: NDArray[np.bool_], before: QuantisedRows | None = None) -> None:
        """`counted` (rows,): whose moments are kept.

        Takes a tenth of a second at 10,000 rows; next to nothing where `before` holds most.
        """
        import faiss  # noqa: PLC0415 - a small bank needs none of it

        faiss.omp_set_num_threads(1)  # of the calling thread: a build must not take the cores from recalls
        self.rows = view.rows
        self._index: Any
        if before is None:
            greatest = max(float(np.abs(part).max()) for _, part in view.parts())
            self._scale, self._error, first = _GREATEST_CODE / greatest, _FLOAT_SLACK, 0
            self._index = faiss.IndexScalarQuantizer(
                view.dimensions, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
            )
            self.counted = counted
            self.moments = Moments.of(np.zeros((1, view.dimensions), np.float32))
        else:
            self._scale, self._error, first = before._scale, before._error, before.rows
            self._index = faiss.clone_index(before._index)
            self.counted = np.concatenate((before.counted, counted[first:]))
            self.moments = before.moments
        for start, part in view.parts():
            if start + len(part) > first:
                self._take_in(part[max(0, first - start) :], counted[max(first, start) : start + len(part)])

    def _take_in(self, rows: NDArray[np.float32], counted: NDArray[np.bool_]) -> None:
        codes = np.rint(rows * np.float32(self._scale)).clip(-_GREATEST_CODE, _GREATEST_CODE)
        self._index.add(codes)
        lost = np.linalg.norm(rows - codes / np.float32(self._scale), axis=1)
        self._error = max(self._error, float(lost.max()) + _FLOAT_SLACK)
        self.moments += Moments.of(rows[counted])

    def nearest(self, query: NDArray[np.float32], count: int) -> Proposed:
        """At most `count` rows, best first; `query` of unit length."""
        scale = np.float32(_GREATEST_CODE / float(np.abs(query).max()))
        codes = np.rint(query * scale)
        scores, found = self._index.search(codes[np.newaxis], min(count, self.rows))
        if count >= self.rows:
            return Proposed(found[0], -np.inf)
        lost = float(np.linalg.norm(query - codes / scale)) * (1.0 + self._error)
        return Proposed(found[0], float(scores[0, -1]) / (self._scale * float(scale)) + self._error + lost)
