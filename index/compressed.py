"""A compressed copy of a bank's rows that proposes candidates fast: FAISS PQ{dimensions/4}x4 fast-scan.

Immutable once built. It knows no deletions (fast-scan refuses selectors): the caller over-fetches, filters and
computes the exact cosine of what is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.row_blocks import RowView

DIMENSIONS_PER_CODE = 4
_BITS_PER_CODE = 4
_TRAIN_SEED = 20_240_601  # the same rows give the same codebook


@dataclass(frozen=True, slots=True)
class CompressedSettings:
    """How the codebook is learnt."""

    train_rows: int = 20_000
    """Rows it is trained on; a codebook of 5,000 is as good as one of 50,000."""


class CompressedRows:
    """Codes of the first `rows` rows of a matrix."""

    def __init__(self, view: RowView, settings: CompressedSettings) -> None:
        """Dimensions must be divisible by 4. Takes seconds at 100,000 rows, on one thread."""
        import faiss  # noqa: PLC0415 - only a bank large enough pays for it

        faiss.omp_set_num_threads(1)  # of the calling thread: a build must not take the cores from recalls
        codes = view.dimensions // DIMENSIONS_PER_CODE
        index = faiss.IndexPQFastScan(view.dimensions, codes, _BITS_PER_CODE, faiss.METRIC_INNER_PRODUCT)
        sample = np.random.default_rng(_TRAIN_SEED).permutation(view.rows)[: settings.train_rows]
        index.train(view.gather(np.sort(sample)))
        for _, part in view.parts():
            index.add(part)
        self._index = index
        self.rows = view.rows

    def nearest(self, query: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """At most `count` row numbers that look nearest."""
        _, found = self._index.search(query[np.newaxis], min(count, self.rows))
        rows: NDArray[np.int64] = found[0]
        return rows[rows >= 0]
