"""The codes of an earlier copy, found again for the rows of a matrix that may be numbered otherwise.

Nothing of the file is believed: the codes of some rows are computed and must be what it says, and what it lacks is
encoded. It is then as if the copy had been made of these rows, but for the codebook, which may have been learnt of
fewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from index.kept_codes import BITS_PER_CODE, Codebook, KeptCodes
from index.moments import Moments
from index.row_blocks import RowView

_LEAST_SHARE: Final = 0.5  # of the rows must be known, or a new codebook is as quick and fits better
_COMPARED_ROWS: Final = 256
_LEAST_EQUAL: Final = 0.9  # of their codes: a text that was embedded again may lie a little beside
_ENCODED_ROWS: Final = 8_192


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Codes, and which of them is that of each row."""

    codes: KeptCodes
    places: NDArray[np.int64]
    """(rows,), -1 where the codes of a row are not there."""

    @staticmethod
    def of(codes: KeptCodes, fingerprints: NDArray[np.uint64]) -> KeptRows:
        """For rows with these fingerprints (rows,)."""
        order = np.argsort(codes.fingerprints, kind="stable")
        known = codes.fingerprints[order]
        at = np.minimum(known.searchsorted(fingerprints), len(known) - 1)
        return KeptRows(codes, np.where(known[at] == fingerprints, order[at], -1))

    def are_of(self, view: RowView) -> bool:
        """Whether these are codes of most of the rows."""
        held = np.flatnonzero(self.places >= 0)
        if len(held) < _LEAST_SHARE * view.rows or len(self.places) != view.rows:
            return False
        if not np.isfinite(self.codes.codebook.centroids).all():
            return False
        some = held[:: max(1, len(held) // _COMPARED_ROWS)]
        computed = _encode(self._quantiser(), view, some)
        return float((computed == self.codes.codes[self.places[some]]).mean()) >= _LEAST_EQUAL

    def index_of(self, view: RowView) -> Any:
        """The scan over all rows."""
        import faiss  # noqa: PLC0415

        plain = self._quantiser()
        codes = self.codes.codes[self.places]
        lacking = np.flatnonzero(self.places < 0)
        for start in range(0, len(lacking), _ENCODED_ROWS):
            some = lacking[start : start + _ENCODED_ROWS]
            codes[some] = _encode(plain, view, some)
        faiss.copy_array_to_vector(codes.ravel(), plain.codes)
        plain.ntotal = view.rows
        return faiss.IndexPQFastScan(plain)

    def moments_of(self, view: RowView, counted: NDArray[np.bool_]) -> Moments:
        """Of the rows that count. Those that were kept, and more, where all that they hold still counts once; else a
        sum over all rows, a second at 100,000.
        """
        theirs = np.flatnonzero(self.codes.counted)
        ours = counted & (self.places >= 0)
        of_theirs = ours & self.codes.counted[self.places]
        if not np.array_equal(np.sort(self.places[of_theirs]), theirs):
            return _sums(view, counted, Moments.of(np.zeros((1, view.dimensions), np.float32)))
        return _sums(view, counted & ~of_theirs, self.codes.moments)

    def _quantiser(self) -> Any:
        import faiss  # noqa: PLC0415

        book: Codebook = self.codes.codebook
        parts = book.dimensions // book.dimensions_a_code
        plain = faiss.IndexPQ(book.dimensions, parts, BITS_PER_CODE, faiss.METRIC_INNER_PRODUCT)
        faiss.copy_array_to_vector(np.ascontiguousarray(book.centroids, np.float32), plain.pq.centroids)
        plain.is_trained = True
        return plain


def empty_index(dimensions: int, dimensions_a_code: int) -> Any:
    """A scan that has learnt nothing."""
    import faiss  # noqa: PLC0415

    parts = dimensions // dimensions_a_code
    return faiss.IndexPQFastScan(dimensions, parts, BITS_PER_CODE, faiss.METRIC_INNER_PRODUCT)


def unpacked(index: Any, rows: int) -> NDArray[np.uint8]:
    """The codes (rows, bytes a row) of a scan, which holds them in blocks, mixed for the registers."""
    import faiss  # noqa: PLC0415

    packer = index.get_CodePacker()
    packed = faiss.vector_to_array(index.codes).reshape(-1, packer.block_size)
    flat = np.empty((len(packed), packer.nvec, packer.code_size), np.uint8)
    for block, codes in zip(packed, flat, strict=True):
        packer.unpack_all(faiss.swig_ptr(block), faiss.swig_ptr(codes))
    return flat.reshape(-1, packer.code_size)[:rows]


def _encode(plain: Any, view: RowView, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    codes: NDArray[np.uint8] = plain.sa_encode(view.gather(rows))
    return codes


def _sums(view: RowView, counted: NDArray[np.bool_], moments: Moments) -> Moments:
    for start, part in view.parts():
        chosen = counted[start : start + len(part)]
        if chosen.any():
            moments += Moments.of(part if chosen.all() else part[chosen])
    return moments
