"""Vectors on disk, found by the very text they were made from: one file per (bank, model), safe to delete.

    header   magic "RECVEC01" · dimensions u32 · record bytes u32 · blake2b-128 of the model id · sum 8
    record   key 16 · window u16 · windows u16 · float32 × dimensions · sum 8        (fixed size, little endian)

`key` is blake2b-128 of the whole text; a text of several windows is several records in a row, and counts only
when all of them are there. `sum` is blake2b-64 over the bytes before it. A record whose sum does not match, or
whose vector is zero or not finite, is dropped and counted; a torn tail is cut before anything is appended; a
file with another header (another model, not ours, emptied) is begun anew. Nothing here ever fails a bank:
damage costs a re-embed. Appends are not fsynced one by one, since what a crash takes is embedded again.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.sidecar_files import OsFiles, SidecarFiles, SidecarHandle

KEY_BYTES = 16
_MAGIC = b"RECVEC01"
_SUM_BYTES = 8
_HEADER = struct.Struct("<8sII16s")
_RECORD_HEAD = struct.Struct("<16sHH")
_READ_RECORDS = 512
_HELD_BYTES = 4 * 1024 * 1024
"""Of a file no larger than this the vectors that opening reads are held for the first `get_many`."""
_LEAST_NORM = 1e-6


def text_key(text: str) -> bytes:
    """blake2b-128 of the text; lone surrogates included, so any string has a key."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


def sidecar_name(model_id: str) -> str:
    """A file name for the vectors of one model."""
    return f"{_model_digest(model_id).hex()}.vectors"


@dataclass(frozen=True, slots=True)
class _Entry:
    first_record: int
    windows: int


_Head = tuple[bytes, int, int]
"""(key, window, windows) of one record."""
_Run = list[tuple[bytes, _Entry]]


@dataclass(slots=True)
class _Generation:
    """One file as it stands; compaction puts a new one in its place, so a reader holds handle and entries together."""

    handle: SidecarHandle
    entries: dict[bytes, _Entry]
    records: int
    read: NDArray[np.float32] | None = None
    """The vectors of all records as opening read them, until they were asked for."""


class Sidecar:
    """All vectors of one bank under one model. Thread-safe; readers never wait for a write to the disk."""

    def __init__(self, path: Path, model_id: str, dimensions: int, files: SidecarFiles | None = None) -> None:
        self._path = path
        self._dimensions = dimensions
        self._files = files if files is not None else OsFiles()
        self._record_bytes = _RECORD_HEAD.size + 4 * dimensions + _SUM_BYTES
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
        entry = file.entries.get(key)
        if entry is None:
            return None
        try:
            raw = file.handle.read_at(self._offset(entry.first_record), entry.windows * self._record_bytes)
        except OSError:
            return None
        vectors = self._checked(key, raw, entry.windows)
        if vectors is None:
            self._forget(file, key)
        return vectors

    def get_many(self, keys: Sequence[bytes]) -> list[NDArray[np.float32] | None]:
        """As `get` of each key, in their order, but read and checked a run of records at a time."""
        file = self._file
        wanted = {key: entry for key in keys if (entry := file.entries.get(key)) is not None}
        read, file.read = file.read, None
        if read is not None:
            return [
                None if (one := wanted.get(key)) is None else read[one.first_record :][: one.windows] for key in keys
            ]
        found: dict[bytes, NDArray[np.float32]] = {}
        for run in _runs(sorted(wanted.items(), key=lambda item: item[1].first_record)):
            found.update(self._read_run(file, run))
        return [found.get(key) for key in keys]

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
            kept = [(key, entry) for key, entry in self._file.entries.items() if key in live]
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
        used = sum(entry.windows for key, entry in list(file.entries.items()) if key in live)
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
            return _Generation(handle, {}, 0)
        records, torn = divmod(handle.size() - len(self._header), self._record_bytes)
        if torn:
            self._dropped += 1
            handle.truncate(self._offset(records))
        held: list[NDArray[np.float32]] | None = [] if records * self._record_bytes <= _HELD_BYTES else None
        entries = self._scan(handle, records, held)
        whole = held is not None and sum(map(len, held)) == records > 0
        return _Generation(handle, entries, records, np.concatenate(held) if held and whole else None)

    def _scan(self, handle: SidecarHandle, records: int, held: list[NDArray[np.float32]] | None) -> dict[bytes, _Entry]:
        """Every text whose windows are all there, in a row and whole; `held` gets the vectors of all records."""
        entries: dict[bytes, _Entry] = {}
        expected, key, first = 0, b"", 0
        for number, head in self._read_all(handle, records, held):
            if head is None:
                self._dropped += 1
                expected = 0
                continue
            record_key, window, windows = head
            if window == 0:
                key, first, expected = record_key, number, 0
            if (record_key, window) != (key, expected) or number != first + window:
                expected = 0
                continue
            expected += 1
            if expected == windows:
                entries[key] = _Entry(first, windows)
        return entries

    def _read_all(
        self, handle: SidecarHandle, records: int, held: list[NDArray[np.float32]] | None
    ) -> Iterator[tuple[int, _Head | None]]:
        """(number, head) of every record; None for one that is damaged."""
        for start in range(0, records, _READ_RECORDS):
            count = min(_READ_RECORDS, records - start)
            heads, vectors = self._parsed(handle.read_at(self._offset(start), count * self._record_bytes), count)
            if held is not None:
                held.append(vectors)
            yield from enumerate(heads, start)

    def _read_run(self, file: _Generation, run: _Run) -> dict[bytes, NDArray[np.float32]]:
        """The vectors of texts whose records lie in a row; those that turned bad meanwhile are forgotten."""
        first, count = run[0][1].first_record, sum(entry.windows for _, entry in run)
        try:
            raw = file.handle.read_at(self._offset(first), count * self._record_bytes)
        except OSError:
            return {}
        heads, vectors = self._parsed(raw, count)
        found: dict[bytes, NDArray[np.float32]] = {}
        for key, entry in run:
            at = entry.first_record - first
            if _whole(key, heads[at : at + entry.windows], entry.windows):
                found[key] = vectors[at : at + entry.windows]
            else:
                self._forget(file, key)
        return found

    def _parsed(self, raw: bytes, count: int) -> tuple[list[_Head | None], NDArray[np.float32]]:
        """The heads of `count` records, None for those that are damaged or missing, and the vectors of the others."""
        size, dimensions = self._record_bytes, self._dimensions
        present = min(count, len(raw) // size)
        bodies = np.frombuffer(raw, np.uint8, present * size).reshape(present, size)
        numbers = np.ascontiguousarray(bodies[:, _RECORD_HEAD.size : -_SUM_BYTES]).view("<f4")
        vectors = numbers.reshape(present, dimensions).astype(np.float32, copy=False)
        usable, view = _usable(vectors), memoryview(raw)
        heads: list[_Head | None] = [None] * count
        for at in np.flatnonzero(usable).tolist():
            end = (at + 1) * size
            if _sum(view[at * size : end - _SUM_BYTES]) == raw[end - _SUM_BYTES : end]:
                head: _Head = _RECORD_HEAD.unpack_from(raw, at * size)
                heads[at] = head if head[1] < head[2] else None
        return heads, vectors

    def _checked(self, key: bytes, raw: bytes, windows: int) -> NDArray[np.float32] | None:
        heads, vectors = self._parsed(raw, windows)
        return vectors if _whole(key, heads, windows) else None

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
        file.read = None  # before there are entries that it lacks
        for key, vectors in items:
            file.entries[key] = _Entry(file.records, len(vectors))
            file.records += len(vectors)

    def _encoded(self, key: bytes, vectors: NDArray[np.float32]) -> bytes:
        bodies = (
            _RECORD_HEAD.pack(key, window, len(vectors)) + vector.astype("<f4").tobytes()
            for window, vector in enumerate(vectors)
        )
        return b"".join(body + _sum(body) for body in bodies)

    def _copied(self, handle: SidecarHandle, kept: list[tuple[bytes, _Entry]]) -> _Generation:
        handle.append(self._header)
        copy = _Generation(handle, {}, 0)
        for key, entry in kept:
            raw = self._file.handle.read_at(self._offset(entry.first_record), entry.windows * self._record_bytes)
            if self._checked(key, raw, entry.windows) is None:
                self._dropped += 1
                continue
            handle.append(raw)
            copy.entries[key] = _Entry(copy.records, entry.windows)
            copy.records += entry.windows
        return copy

    def _forget(self, file: _Generation, key: bytes) -> None:
        with self._writing:
            if file.entries.pop(key, None) is not None:
                self._dropped += 1

    def _refuse_unusable(self, vectors: NDArray[np.float32]) -> None:
        if vectors.ndim != 2 or vectors.shape[1] != self._dimensions or not 0 < len(vectors) <= 0xFFFF:
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


def _whole(key: bytes, heads: Sequence[_Head | None], windows: int) -> bool:
    """Whether these are the heads of all windows of one text."""
    return list(heads) == [(key, window, windows) for window in range(windows)]


def _runs(entries: Sequence[tuple[bytes, _Entry]]) -> Iterator[_Run]:
    """Entries in the order of their records, cut where a record is left out or some hundred are together."""
    run: _Run = []
    for key, entry in entries:
        if run and (len(run) == _READ_RECORDS or entry.first_record != run[-1][1].first_record + run[-1][1].windows):
            yield run
            run = []
        run.append((key, entry))
    if run:
        yield run


def _usable(vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Of each row, whether it can be scored: neither zero nor without end."""
    with np.errstate(over="ignore", invalid="ignore"):
        squared = np.einsum("ij,ij->i", vectors, vectors)  # NaN and infinity survive, and fail a comparison
        usable: NDArray[np.bool_] = (squared > _LEAST_NORM**2) & (squared < np.inf)
    return usable
