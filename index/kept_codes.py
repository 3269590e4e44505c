"""A compressed copy as it lies on disk, so that a start neither learns a codebook nor encodes every row again.

    one JSON line    format · rows · dimensions · dimensions_a_code · trained_of · recall · sum
    fingerprints     uint64  [rows]                of the text and the window of each row
    counted          uint8   [rows]                whether the moments count it
    codes            uint8   [rows, bytes a row]   two codes of four bits a byte
    centroids        float32 [dimensions × 16]     by code, value and dimension
    total, products  float32 [dimensions], [dimensions, dimensions]     see `index.moments`

`sum` is blake2b-128 of the columns, little endian all. Rows are known by their texts, so they may be numbered otherwise
in the next process. Two rows of a bank share a fingerprint with a chance of 3 in 10⁸ at a million; one of them is then
proposed in the place of the other, and its exact cosine decides as for any.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any, Final, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.moments import Moments

BITS_PER_CODE: Final = 4
_FORMAT: Final = 1
_WINDOW_STEP: Final = np.uint64(0x9E3779B97F4A7C15)  # odd: no two windows of a text share a fingerprint


class _Head(msgspec.Struct, frozen=True):
    format: int
    rows: int
    dimensions: int
    dimensions_a_code: int
    trained_of: int
    recall: float | None
    sum: str


@dataclass(frozen=True, slots=True)
class Codebook:
    """What a row's codes stand for."""

    dimensions: int
    dimensions_a_code: int
    centroids: NDArray[np.float32]
    """(dimensions × 16,)"""
    trained_of: int
    """Rows there were when it was learnt."""
    recall: float | None
    """Of the ten nearest, how many a scan proposes; None when it was not measured yet."""

    @property
    def row_bytes(self) -> int:
        """Bytes of the codes of a row."""
        return _row_bytes(self.dimensions, self.dimensions_a_code)


@dataclass(frozen=True, slots=True)
class KeptCodes:
    """Codes of the rows of some texts, and the moments of those that count."""

    codebook: Codebook
    fingerprints: NDArray[np.uint64]
    """(rows,)"""
    counted: NDArray[np.bool_]
    """(rows,)"""
    codes: NDArray[np.uint8]
    """(rows, bytes a row)"""
    moments: Moments

    def encoded(self) -> bytes:
        """The file."""
        book = self.codebook
        columns = (
            self.fingerprints.astype("<u8"),
            self.counted.astype("u1"),
            self.codes,
            book.centroids.astype("<f4"),
            self.moments.total.astype("<f4"),
            self.moments.products.astype("<f4"),
        )
        body = b"".join(column.tobytes() for column in columns)
        sizes = len(self.codes), book.dimensions, book.dimensions_a_code, book.trained_of
        return msgspec.json.encode(_Head(_FORMAT, *sizes, book.recall, _sum(body))) + b"\n" + body

    @staticmethod
    def decoded(raw: bytes) -> KeptCodes | None:
        """What `encoded` made, over the same bytes; None of anything else."""
        end = raw.find(b"\n") + 1
        try:
            head = msgspec.json.decode(raw[:end], type=_Head)
        except msgspec.DecodeError:
            return None
        body = memoryview(raw)[end:]
        if head.format != _FORMAT or head.dimensions < 1 or head.dimensions_a_code < 1 or head.rows < 1:
            return None
        layout = _Layout.of(head.rows, head.dimensions, head.dimensions_a_code)
        if len(body) != layout.size or _sum(body) != head.sum:
            return None
        return layout.read(body, head)


@dataclass(frozen=True, slots=True)
class _Layout:
    """(type, shape) of each column, in order."""

    fingerprints: tuple[str, tuple[int, ...]]
    counted: tuple[str, tuple[int, ...]]
    codes: tuple[str, tuple[int, ...]]
    centroids: tuple[str, tuple[int, ...]]
    total: tuple[str, tuple[int, ...]]
    products: tuple[str, tuple[int, ...]]

    @staticmethod
    def of(rows: int, dimensions: int, dimensions_a_code: int) -> _Layout:
        codes = "u1", (rows, _row_bytes(dimensions, dimensions_a_code))
        centroids = "<f4", (dimensions << BITS_PER_CODE,)
        return _Layout(
            ("<u8", (rows,)),
            ("u1", (rows,)),
            codes,
            centroids,
            ("<f4", (dimensions,)),
            ("<f4", (dimensions, dimensions)),
        )

    @property
    def size(self) -> int:
        return sum(_bytes(*getattr(self, column.name)) for column in fields(self))

    def read(self, body: memoryview, head: _Head) -> KeptCodes:
        found: dict[str, NDArray[Any]] = {}
        at = 0
        for column in fields(self):
            kind, shape = getattr(self, column.name)
            size = _bytes(kind, shape)
            found[column.name] = np.frombuffer(body[at : at + size], kind).reshape(shape)
            at += size
        book = Codebook(head.dimensions, head.dimensions_a_code, found["centroids"], head.trained_of, head.recall)
        moments = Moments(found["total"], found["products"])
        return KeptCodes(book, found["fingerprints"], found["counted"] > 0, found["codes"], moments)


class StoredCodes(Protocol):
    """Where the codes of an earlier process lie, and how rows are known."""

    def load(self) -> KeptCodes | None:
        """What lies there, if it is whole."""

    def keys(self, ordinals: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The first 64 bits of the keys of these memories' texts; 0 where there is none."""


def row_fingerprints(keys: NDArray[np.uint64], windows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Of rows (rows,), from the first 64 bits of their text's key and the number of their window."""
    return keys ^ (windows.astype(np.uint64) * _WINDOW_STEP)


def _row_bytes(dimensions: int, dimensions_a_code: int) -> int:
    return (dimensions // dimensions_a_code * BITS_PER_CODE + 7) // 8


def _bytes(kind: str, shape: tuple[int, ...]) -> int:
    return int(np.prod(shape)) * np.dtype(kind).itemsize


def _sum(body: bytes | memoryview) -> str:
    return blake2b(body, digest_size=16).hexdigest()
