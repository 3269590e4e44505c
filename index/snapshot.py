"""The lexical segments of a bank on disk: built, merged, checkpointed and loaded again. See ``index.checkpoint``."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index import checkpoint
from index.checkpoint import FORMAT, Checkpoint, FileSum, SnapshotUnusable
from index.columns import Columns, merge
from index.segments import Segment, SegmentSettings, build, open_segment
from index.tail import Tail

_FROM_BEFORE = -1
"""Version at which those died who were dead in the checkpoint already: before every search."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a snapshot held."""

    applied_seq: int = 0
    tail: Tail = field(default_factory=Tail)
    segments: tuple[Segment, ...] = ()


class Snapshot:
    """The caller serialises all calls. Without a folder segments are built in RAM and nothing is kept."""

    def __init__(self, folder: Path | None, analyzer: str, settings: SegmentSettings) -> None:
        self._folder = folder
        self._analyzer = analyzer
        self._settings = settings
        self._sums: dict[str, dict[str, FileSum]] = {}
        """Of segments, by name: they never change."""
        self._last_number = 0

    @property
    def kept(self) -> bool:
        """Whether there is a folder to keep a snapshot in."""
        return self._folder is not None

    def load(self) -> Loaded:
        """The snapshot on disk. One that is missing, damaged or foreign is removed, and nothing is loaded."""
        if self._folder is None:
            return Loaded()
        try:
            return self._loaded(self._folder, checkpoint.read(self._folder, self._analyzer))
        except (SnapshotUnusable, OSError, ValueError):
            with contextlib.suppress(OSError):
                checkpoint.forget(self._folder)
            return Loaded()

    def holds(self, segment: Segment) -> bool:
        """Whether the files of a segment are still there; somebody may delete them under a running service."""
        if self._folder is None:
            return True
        return all(_has_size(self._folder / path, file.size) for path, file in self._sums[segment.name].items())

    def build(self, columns: Columns) -> Segment:
        """Write a segment that becomes part of the snapshot with the next ``save``."""
        if self._folder is None:
            return build(columns, self._settings, None)
        folder = self._new_segment(self._folder)
        try:
            segment = build(columns, self._settings, folder)
            self._sums[folder.name] = checkpoint.sums(self._folder, folder.name)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return segment

    def merge(self, segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]]) -> tuple[Segment, ...]:
        """One segment of the documents that the masks (bool by row) keep, or none where nobody lives."""
        if not any(mask.any() for mask in alive):
            return ()
        return (self.build(merge([(segment.columns, mask) for segment, mask in zip(segments, alive, strict=True)])),)

    def save(
        self, tail: Columns, segments: Sequence[Segment], dead: Sequence[NDArray[np.int64]], applied_seq: int
    ) -> None:
        """Leave a checkpoint of the tail, the segments and the dead of each, and remove what it no longer names."""
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        state = f"state-{self._next_number(self._folder)}.npz"
        names = tuple(segment.name for segment in segments)
        arrays: dict[str, Any] = tail.arrays() | dict(zip(map(_dead, names), dead, strict=True))
        np.savez(self._folder / state, **arrays)
        files = checkpoint.sums(self._folder, state)
        for name in names:
            files |= self._sums[name]
        checkpoint.write(self._folder, Checkpoint(FORMAT, self._analyzer, applied_seq, state, names, files))
        self._sums = {name: self._sums[name] for name in names}
        checkpoint.discard_all_but(self._folder, (state, *names))

    def _loaded(self, folder: Path, found: Checkpoint) -> Loaded:
        with np.load(folder / found.state, allow_pickle=False) as state:
            tail = Tail.of(Columns.of(state))
            segments = tuple(self._open(folder, name, state[_dead(name)]) for name in found.segments)
        self._last_number = checkpoint.next_number(folder)
        for name in found.segments:
            self._sums[name] = {path: known for path, known in found.files.items() if path.startswith(f"{name}/")}
        return Loaded(found.applied_seq, tail, segments)

    def _open(self, folder: Path, name: str, dead: NDArray[np.int64]) -> Segment:
        segment = open_segment(folder / name, self._settings)
        segment.bury_all(dead.tolist(), _FROM_BEFORE)
        return segment

    def _new_segment(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        segment = folder / f"segment-{self._next_number(folder)}"
        segment.mkdir()
        return segment

    def _next_number(self, folder: Path) -> int:
        """A number that neither a part of the folder has nor a part that was deleted under the running service."""
        self._last_number = max(self._last_number + 1, checkpoint.next_number(folder))
        return self._last_number


def _dead(segment: str) -> str:
    return f"dead-{segment}"


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False
