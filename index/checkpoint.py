"""Which files make up the lexical snapshot of a bank, and proof that they are the ones that were written.

    checkpoint.json    line 1: BLAKE2b of the rest; the rest: one JSON object, see ``Checkpoint``
    segment-<n>/…      never changed once a checkpoint names it
    state-<n>.npz      the tail and the dead of each segment at that checkpoint

The checkpoint is written last and by rename, so there is always one whole snapshot or none. Whatever reads a snapshot
verifies every byte first: native code never sees a file that is not the one written.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterable, Iterator
from hashlib import blake2b, file_digest
from pathlib import Path

import msgspec

FORMAT = 1
_NAME = "checkpoint.json"
_UNFINISHED = "checkpoint.json.new"
_LOCKS = ".lock"


class FileSum(msgspec.Struct, frozen=True):
    """What a file must be."""

    size: int
    blake2b: str


class Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One whole snapshot."""

    format: int
    analyzer: str
    applied_seq: int
    state: str
    segments: tuple[str, ...]
    files: dict[str, FileSum]
    """By path below the folder, with slashes."""


class SnapshotUnusable(Exception):  # noqa: N818 - named for the state of the snapshot
    """There is no snapshot here that may be opened; ``problem`` says why."""

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(f"{folder}: {problem}")
        self.folder = folder
        self.problem = problem


def read(folder: Path, analyzer: str) -> Checkpoint:
    """The checkpoint of a folder whose files are all there and whole. Raises ``SnapshotUnusable``."""
    checkpoint = _parsed(folder)
    if (checkpoint.format, checkpoint.analyzer) != (FORMAT, analyzer):
        raise SnapshotUnusable(folder, "written by another format or analysis")
    for path, expected in checkpoint.files.items():
        _verify(folder, path, expected)
    return checkpoint


def write(folder: Path, checkpoint: Checkpoint) -> None:
    """Make it the snapshot of the folder. Its files must be on disk already."""
    body = msgspec.json.encode(checkpoint)
    unfinished = folder / _UNFINISHED
    with unfinished.open("wb") as file:
        file.write(_digest(body) + b"\n" + body)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(folder / _NAME)
    sync_folder(folder)


def sums(folder: Path, part: str) -> dict[str, FileSum]:
    """Sum up, and bring to disk, one part of the snapshot: a file or all files of a subfolder."""
    result = {}
    for path in _files(folder / part):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            digest = file_digest(file, _hash).hexdigest()
            result[path.relative_to(folder).as_posix()] = FileSum(file.tell(), digest)
    return result


def discard_all_but(folder: Path, parts: Iterable[str]) -> None:
    """Remove every segment and state that is not named; a part that cannot be removed now goes next time."""
    kept = set(parts)
    for part in _parts(folder):
        if part.name not in kept:
            with contextlib.suppress(OSError):
                _remove(part)


def forget(folder: Path) -> None:
    """Remove the snapshot, whatever state it is in."""
    for name in (_NAME, _UNFINISHED):
        _remove(folder / name)
    discard_all_but(folder, ())


def next_number(folder: Path) -> int:
    """A number no part of the folder has yet."""
    numbers = (part.stem.partition("-")[2] for part in _parts(folder))
    return 1 + max((int(number) for number in numbers if number.isdecimal()), default=0)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _parsed(folder: Path) -> Checkpoint:
    try:
        said, _, body = (folder / _NAME).read_bytes().partition(b"\n")
        if said != _digest(body):
            raise SnapshotUnusable(folder, "the checkpoint is damaged")
        return msgspec.json.decode(body, type=Checkpoint)
    except (OSError, msgspec.DecodeError) as error:
        raise SnapshotUnusable(folder, str(error)) from error


def _verify(folder: Path, path: str, expected: FileSum) -> None:
    try:
        with (folder / path).open("rb") as file:
            digest = file_digest(file, _hash).hexdigest()
            size = file.tell()
    except OSError as error:
        raise SnapshotUnusable(folder, str(error)) from error
    if FileSum(size, digest) != expected:
        raise SnapshotUnusable(folder, f"{path} is not the file that was written")


def _parts(folder: Path) -> Iterator[Path]:
    return itertools.chain(folder.glob("segment-*"), folder.glob("state-*"))


def _files(part: Path) -> Iterator[Path]:
    if part.is_file():
        return iter((part,))
    return (path for path in sorted(part.rglob("*")) if path.is_file() and path.suffix != _LOCKS)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _hash() -> blake2b:
    return blake2b(digest_size=16)


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).hexdigest().encode()
