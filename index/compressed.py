"""A compressed copy of a bank's rows that proposes candidates fast: FAISS product quantisation, scanned in registers.

Two dimensions share a code of four bits, in a very large bank four. A scan reads a sixteenth of the bytes of the rows,
or a thirty-second, and says of every row about how near it is. The caller computes the exact cosines of those that look
nearest, which tells how far off the estimates are for this query, and so how near any other row can be: see `bounds`.

Immutable once built, cheap to extend. It knows no deletions (fast-scan refuses selectors): the caller leaves them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.kept_codes import Codebook
from index.kept_rows import KeptRows, empty_index, unpacked
from index.moments import Moments
from index.row_blocks import RowView

_TRAIN_SEED = 20_240_601  # the same rows give the same codebook
_TRAIN_ROUNDS = 8  # of k-means: 25 take three times as long and estimate by a twentieth better
_TRAIN_ROWS_A_CENTROID = 128
_LEAST_TO_JUDGE = 8  # exact cosines that tell how far off the estimates are


@dataclass(frozen=True, slots=True)
class CompressedSettings:
    """How the codebook is learnt, and how fine it is."""

    train_rows: int = 20_000
    """Rows it is trained on; a codebook of 5,000 is as good as one of 50,000."""
    fine_rows: int = 300_000
    """Rows up to which two dimensions share a code; four beyond that."""
    retrain_growth: float = 4.0
    """By what the rows may have grown since the codebook was learnt before it is learnt anew."""

    def dimensions_a_code(self, rows: int) -> int:
        """How many dimensions share a code."""
        return 2 if rows <= self.fine_rows else 4


@dataclass(frozen=True, slots=True)
class Proposed:
    """Rows that look nearest, best first, and what their cosines look like."""

    rows: NDArray[np.int64]
    estimates: NDArray[np.float32]
    all_rows: bool
    """There are no others."""

    def bounds(self, cosines: NDArray[np.float32], deviations: float) -> NDArray[np.float32]:
        """How near those behind the first `len(cosines)` can be, given the exact `cosines` of these.

        An estimate is off by an error whose mean and deviation are those of the farther half of these; `deviations`
        says how many of these an error has at the most.
        """
        judged = len(cosines)
        errors = (cosines - self.estimates[:judged])[judged // 2 :].astype(np.float64)
        if len(errors) < _LEAST_TO_JUDGE:
            return np.ones(len(self.rows) - judged, np.float32)
        mean = float(errors.sum()) / len(errors)
        deviation = max(0.0, float(errors @ errors) / len(errors) - mean * mean) ** 0.5
        bounds: NDArray[np.float32] = self.estimates[judged:] + np.float32(mean + deviations * deviation)
        return bounds


class CompressedRows:
    """Codes of the first `rows` rows of a matrix, and moments of those that counted when they were taken in."""

    def __init__(
        self,
        view: RowView,
        counted: NDArray[np.bool_],
        settings: CompressedSettings,
        before: CompressedRows | None = None,
        moments: Moments | None = None,
        kept: KeptRows | None = None,
    ) -> None:
        """`counted` (rows,): whose moments are kept; `moments` are those of them that `before` holds. Where there is no
        `before`, `kept` may have the codes of most rows.

        Takes a second at 10,000 rows and three at 100,000, on one thread; next to nothing where the codes of most are
        there already.
        """
        import faiss  # noqa: PLC0415 - a small bank needs none of it

        faiss.omp_set_num_threads(1)  # of the calling thread: a build must not take the cores from recalls
        self.rows = view.rows
        self.counted = counted
        self.dimensions_a_code = settings.dimensions_a_code(view.rows)
        self.dimensions = view.dimensions
        self.trained_of: int
        self.recall: float | None = None
        """How many of the ten nearest a scan proposes, as it was measured last for this codebook."""
        self._index: Any
        if before is not None and moments is not None and self._still_fits(before.codebook, settings):
            self._index = faiss.clone_index(before._index)
            self.trained_of, self.recall, self.moments = before.trained_of, before.recall, moments
            self._extend(view, before.rows)
        elif kept is not None and self._still_fits(kept.codes.codebook, settings) and kept.are_of(view):
            self._index, self.moments = kept.index_of(view), kept.moments_of(view, counted)
            self.trained_of, self.recall = kept.codes.codebook.trained_of, kept.codes.codebook.recall
        else:
            self._index, self.trained_of = self._trained(view, settings), view.rows
            self.moments = Moments.of(np.zeros((1, view.dimensions), np.float32))
            self._extend(view, 0)

    @property
    def codebook(self) -> Codebook:
        """What the codes stand for."""
        import faiss  # noqa: PLC0415

        centroids = faiss.vector_to_array(self._index.pq.centroids)
        return Codebook(self.dimensions, self.dimensions_a_code, centroids, self.trained_of, self.recall)

    def codes(self) -> NDArray[np.uint8]:
        """(rows, bytes a row): a tenth of a second at 100,000 rows."""
        return unpacked(self._index, self.rows)

    def _extend(self, view: RowView, first: int) -> None:
        for start, part in view.parts():
            if start + len(part) > first:
                fresh = part[max(0, first - start) :]
                self._index.add(fresh)
                self.moments += Moments.of(fresh[self.counted[max(first, start) : start + len(part)]])

    def _still_fits(self, before: Codebook, settings: CompressedSettings) -> bool:
        grown = self.rows > settings.retrain_growth * before.trained_of
        sizes = before.dimensions, before.dimensions_a_code
        return not grown and sizes == (self.dimensions, self.dimensions_a_code)

    def _trained(self, view: RowView, settings: CompressedSettings) -> Any:
        index = empty_index(view.dimensions, self.dimensions_a_code)
        learning = index.pq.cp
        learning.niter, learning.max_points_per_centroid = _TRAIN_ROUNDS, _TRAIN_ROWS_A_CENTROID
        learning.min_points_per_centroid = 1
        sample = np.random.default_rng(_TRAIN_SEED).permutation(view.rows)[: settings.train_rows]
        index.train(view.gather(np.sort(sample)))
        return index

    def nearest(self, query: NDArray[np.float32], count: int) -> Proposed:
        """At most `count` rows."""
        estimates, found = self._index.search(query[np.newaxis], min(count, self.rows))
        rows, near = found[0], estimates[0]
        if rows[-1] < 0:
            rows, near = rows[rows >= 0], near[rows >= 0]
        return Proposed(rows, near, all_rows=count >= self.rows)
