"""Vectors on disk, found by the very text they were made from: one file per (bank, model), safe to delete.

    header   magic "RECVEC01" · dimensions u32 · record bytes u32 · blake2b-128 of the model id · sum 8
    record   key 16 · window u16 · windows u16 · float32 × dimensions · sum 8        (fixed size, little endian)

`key` is blake2b-128 of the whole text; a text of several windows is several records in a row, and counts only
when all of them are there. `sum` is blake2b-64 over the bytes before it. A record whose sum does not match, or
whose vector is zero or not finite, is dropped and counted; a torn tail is cut before anything is appended; a
file with another header (another model, not ours, emptied) is begun anew. Nothing here ever fails a bank:
damage costs a re-embed. Appends are not fsynced one by one, since what a crash takes is embedded again.

What was checked at the opening is mapped: `table` are the rows as they lie on disk, in no memory of their own.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from index.sidecar_files import OsFiles, SidecarFiles, SidecarHandle

KEY_BYTES = 16
_MAGIC = b"RECVEC01"
_SUM_BYTES = 8
_HEADER = struct.Struct("<8sII16s")
_RECORD_HEAD = struct.Struct("<16sHH")
_READ_RECORDS = 512
_LEAST_NORM = 1e-6


def text_key(text: str) -> bytes:
    """blake2b-128 of the text; lone surrogates included, so any string has a key."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


def sidecar_name(model_id: str) -> str:
    """A file name for the vectors of one model."""
    return f"{_model_digest(model_id).hex()}.vectors"


_NO_PLACE = -1
_WINDOW_BITS = 16
_MOST_WINDOWS = (1 << _WINDOW_BITS) - 1
_Number = TypeVar("_Number", int, NDArray[np.int64])


@dataclass(frozen=True, slots=True)
class Mapped:
    """Vectors that lie in a file, by text."""

    rows: NDArray[np.float32]
    """(records, dimensions), read-only and with gaps between the rows."""
    first: NDArray[np.int64]
    """The first row of each text, -1 where it has none here."""
    windows: NDArray[np.int64]
    """How many rows in a row are its."""

    def of(self, texts: NDArray[np.bool_]) -> Mapped:
        """Those of the chosen texts."""
        return Mapped(self.rows, self.first[texts], self.windows[texts])


@dataclass(slots=True)
class _Generation:
    """One file as it stands; compaction puts a new one in its place, so a reader holds handle and entries together."""

    handle: SidecarHandle
    entries: dict[bytes, int]
    """Where the records of a text lie: see `_packed`."""
    records: int
    table: NDArray[np.void]
    """Those that were there when the file was opened, mapped."""


class Sidecar:
    """All vectors of one bank under one model. Thread-safe; readers never wait for a write to the disk."""

    def __init__(self, path: Path, model_id: str, dimensions: int, files: SidecarFiles | None = None) -> None:
        self._path = path
        self._dimensions = dimensions
        self._files = files if files is not None else OsFiles()
        self._record = np.dtype(
            [("key", "V16"), ("window", "<u2"), ("windows", "<u2"), ("vector", "<f4", (dimensions,)), ("sum", "<u8")]
        )
        self._record_bytes = self._record.itemsize
        self._header = _header(model_id, dimensions, self._record_bytes)
        self._writing = threading.Lock()
        self._dropped = 0
        self._file = self._opened()

    @classmethod
    def open(cls, path: Path, model_id: str, dimensions: int, files: SidecarFiles | None = None) -> Sidecar:
        """Reads and checks the whole file; makes it when missing. Raises OSError when the disk refuses."""
        return cls(path, model_id, dimensions, files)

    @property
    def dropped(self) -> int:
        """Damaged records met since opening; a foreign or torn file counts as one."""
        return self._dropped

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def __len__(self) -> int:
        """Texts that have their vectors."""
        return len(self._file.entries)

    def __contains__(self, key: bytes) -> bool:
        return key in self._file.entries

    def get(self, key: bytes) -> NDArray[np.float32] | None:
        """(windows, dimensions), or None when the text is not embedded or its records turned bad meanwhile."""
        file = self._file
        place = file.entries.get(key)
        if place is None:
            return None
        first, windows = _unpacked(place)
        try:
            raw = file.handle.read_at(self._offset(first), windows * self._record_bytes)
        except OSError:
            return None
        vectors = self._checked(key, raw, windows)
        if vectors is None:
            self._forget(file, key)
        return vectors

    def mapped(self, keys: Sequence[bytes]) -> Mapped:
        """Where the vectors of texts lie among those that were checked when the file was opened; nothing is copied."""
        file = self._file
        places = np.array([file.entries.get(key, _NO_PLACE) for key in keys], np.int64)
        first, windows = _unpacked(places)
        first[(places < 0) | (first + windows > len(file.table))] = _NO_PLACE
        return Mapped(file.table["vector"], first, windows)

    def put(self, items: Sequence[tuple[bytes, NDArray[np.float32]]]) -> None:
        """Appends the vectors (windows, dimensions) of texts that have none yet, in one write.

        Raises ValueError for a wrong shape, a zero or a non-finite vector (nothing is written then), OSError when
        the disk refuses (what was written is cut back).
        """
        for _, vectors in items:
            self._refuse_unusable(vectors)
        with self._writing:
            fresh = {key: vectors for key, vectors in items if key not in self._file.entries}
            self._append(list(fresh.items()))

    def compact(self, live_keys: Collection[bytes]) -> None:
        """Rewrites the file with the vectors of `live_keys` alone, behind one rename. Raises OSError."""
        live = frozenset(live_keys)
        with self._writing:
            kept = [(key, place) for key, place in self._file.entries.items() if key in live]
            temporary = self._path.with_name(self._path.name + ".compact")
            if self._files.exists(temporary):
                self._files.remove(temporary)
            handle = self._files.open_append(temporary)
            compacted = self._copied(handle, kept)
            handle.sync()
            self._files.rename(temporary, self._path)
            self._file = compacted
            self._files.sync_dir(self._path.parent)

    def garbage(self, live_keys: Collection[bytes]) -> float:
        """Share of the file's records that `live_keys` do not need, 0 to 1; damaged ones included."""
        live = frozenset(live_keys)
        file = self._file
        used = sum(place & _MOST_WINDOWS for key, place in list(file.entries.items()) if key in live)
        return 1.0 - used / file.records if file.records else 0.0

    def sync(self) -> None:
        """Makes what was put safe against a power cut. Raises OSError."""
        self._file.handle.sync()

    def close(self) -> None:
        """Lets go of the file."""
        self._file.handle.close()

    def _opened(self) -> _Generation:
        handle = self._files.open_append(self._path)
        if handle.read_at(0, len(self._header)) != self._header:
            self._dropped += handle.size() > 0
            handle.truncate(0)
            handle.append(self._header)
            return _Generation(handle, {}, 0, np.empty(0, self._record))
        records, torn = divmod(handle.size() - len(self._header), self._record_bytes)
        if torn:
            self._dropped += 1
            handle.truncate(self._offset(records))
        raw = handle.map(self._offset(records))
        table = np.frombuffer(raw, self._record, records, len(self._header))
        return _Generation(handle, self._scan(raw, table), records, table)

    def _scan(self, raw: memoryview, table: NDArray[np.void]) -> dict[bytes, int]:
        """Every text whose windows are all there, in a row and whole."""
        good = np.empty(len(table), np.bool_)
        for start in range(0, len(table), _READ_RECORDS):
            part = table[start : start + _READ_RECORDS]
            good[start : start + len(part)] = self._good(raw[self._offset(start) :], part)
        self._dropped += int((~good).sum())
        alone = np.flatnonzero(good & (table["windows"] == 1) & (table["window"] == 0))
        keys = table["key"][alone].tobytes()
        places = _packed(alone.astype(np.int64), np.ones(1, np.int64)).tolist()
        entries = dict(zip(_cut(keys), places, strict=True))
        expected, key, first = 0, b"", 0
        for number in np.flatnonzero(table["windows"] > 1).tolist():
            record_key, window, windows = _head(table[number])
            if window == 0:
                key, first, expected = record_key, number, 0
            if not good[number] or (record_key, window) != (key, expected) or number != first + window:
                expected = 0
                continue
            expected += 1
            if expected == windows:
                entries[key] = int(_packed(first, windows))
        return entries

    def _good(self, raw: memoryview, records: NDArray[np.void]) -> NDArray[np.bool_]:
        """Of each record at the beginning of `raw`, whether its sum is right and its vector can be scored."""
        size = self._record_bytes
        body = size - _SUM_BYTES
        sums = b"".join([_sum(raw[at : at + body]) for at in range(0, len(records) * size, size)])
        right: NDArray[np.bool_] = np.frombuffer(sums, "<u8") == records["sum"]
        return right & (records["window"] < records["windows"]) & _usable(records["vector"])

    def _checked(self, key: bytes, raw: bytes, windows: int) -> NDArray[np.float32] | None:
        if len(raw) != windows * self._record_bytes:
            return None
        records = np.frombuffer(raw, self._record)
        whole = [_head(record) for record in records] == [(key, window, windows) for window in range(windows)]
        return records["vector"].astype(np.float32) if whole and self._good(memoryview(raw), records).all() else None

    def _append(self, items: list[tuple[bytes, NDArray[np.float32]]]) -> None:
        if not items:
            return
        file = self._file
        if file.handle.size() != self._offset(file.records):  # a failed append could not be taken back
            file.handle.truncate(self._offset(file.records))
        try:
            file.handle.append(b"".join(self._encoded(key, vectors) for key, vectors in items))
        except OSError:
            file.handle.truncate(self._offset(file.records))
            raise
        for key, vectors in items:
            file.entries[key] = int(_packed(file.records, len(vectors)))
            file.records += len(vectors)

    def _encoded(self, key: bytes, vectors: NDArray[np.float32]) -> bytes:
        bodies = (
            _RECORD_HEAD.pack(key, window, len(vectors)) + vector.astype("<f4").tobytes()
            for window, vector in enumerate(vectors)
        )
        return b"".join(body + _sum(body) for body in bodies)

    def _copied(self, handle: SidecarHandle, kept: list[tuple[bytes, int]]) -> _Generation:
        handle.append(self._header)
        copy = _Generation(handle, {}, 0, np.empty(0, self._record))
        for key, place in kept:
            first, windows = _unpacked(place)
            raw = self._file.handle.read_at(self._offset(first), windows * self._record_bytes)
            if self._checked(key, raw, windows) is None:
                self._dropped += 1
                continue
            handle.append(raw)
            copy.entries[key] = int(_packed(copy.records, windows))
            copy.records += windows
        return copy

    def _forget(self, file: _Generation, key: bytes) -> None:
        with self._writing:
            if file.entries.pop(key, None) is not None:
                self._dropped += 1

    def _refuse_unusable(self, vectors: NDArray[np.float32]) -> None:
        if vectors.ndim != 2 or vectors.shape[1] != self._dimensions or not 0 < len(vectors) <= _MOST_WINDOWS:
            raise ValueError(f"vectors of shape {vectors.shape}, expected (windows, {self._dimensions})")
        if not _usable(vectors).all():
            raise ValueError("a vector that is zero or not finite is never stored")

    def _offset(self, record: int) -> int:
        return len(self._header) + record * self._record_bytes


def _header(model_id: str, dimensions: int, record_bytes: int) -> bytes:
    body = _HEADER.pack(_MAGIC, dimensions, record_bytes, _model_digest(model_id))
    return body + _sum(body)


def _model_digest(model_id: str) -> bytes:
    return blake2b(model_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _sum(body: bytes | memoryview) -> bytes:
    return blake2b(body, digest_size=_SUM_BYTES).digest()


def _packed(first: _Number, windows: _Number) -> _Number:
    """First record and number of windows in one number: an object less for each text of a bank."""
    return (first << _WINDOW_BITS) | windows


def _unpacked(place: _Number) -> tuple[_Number, _Number]:
    return place >> _WINDOW_BITS, place & _MOST_WINDOWS


def _head(record: np.void) -> tuple[bytes, int, int]:
    """(key, window, windows)."""
    return record["key"].tobytes(), int(record["window"]), int(record["windows"])


def _cut(keys: bytes) -> Iterator[bytes]:
    return (keys[at : at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES))


def _usable(vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Of each row, whether it can be scored: neither zero nor without end."""
    with np.errstate(over="ignore", invalid="ignore"):
        squared = np.einsum("ij,ij->i", vectors, vectors)  # NaN and infinity survive, and fail a comparison
        usable: NDArray[np.bool_] = (squared > _LEAST_NORM**2) & (squared < np.inf)
    return usable
