"""What vacuums took out of the log of a bank: one file for each, in `history/` beside the log.

    history/000000100000.jsonl.gz       the log as it was, up to the event that the file is named for

The content is that log byte for byte, in gzip members of some hundred kilobytes: `zcat` reads the file whole, and one
event costs one member. The first line goes on from the file before it, and the log from the last file, by the sum of
the line before: so the chain of sums verifies the files too. They are read when they are asked for, and indexed then:
about a second for 200,000 events.
"""

from __future__ import annotations

import threading
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET

from recall.memory.beginning import KEPT, History, kept_at
from recall.memory.errors import Damaged, HistoryArchived
from recall.memory.events import Event, LineError, Sum, decode
from recall.memory.files import Files
from recall.memory.refusal import refusals

FOLDER = "history"
SUFFIX = ".jsonl.gz"
GZIP = 31
"""Window bits of zlib for a gzip member."""
_READ_BYTES = 1 << 18
_REMEDY = "bring the file back from a backup"


def segment_name(last_seq: int) -> str:
    """The name of the file that ends with this event."""
    return f"{last_seq:012d}{SUFFIX}"


def last_seq_of(name: str) -> int | None:
    """The event that a file ends with by its name; None for a name that is no segment's."""
    number = name.removesuffix(SUFFIX)
    return int(number) if number.isdigit() and segment_name(int(number)) == name else None


@dataclass(frozen=True, slots=True)
class _Segment:
    """A file that was read once: where its members lie, and which event comes before which of the same memory."""

    path: Path
    first: int
    last: int
    head: Sum  # the sum of the event before the first
    sum: Sum  # that of the last
    members: list[tuple[int, int]]  # (first seq, offset), in order
    size: int
    before: array[int]  # seq - first → the event before it of the same memory, 0 when first


class _Reading:
    """One pass over a file: each line continues the one before. `lasts`: by memory the last event read so far."""

    def __init__(self, first: Event, lasts: dict[str, int]) -> None:
        self.before = array("q")
        self.seq, self.sum = first.seq - 1, first.prev
        self._lasts = lasts

    def take(self, line: bytes) -> None:
        event, stamp = decode(line)
        if event.seq != self.seq + 1 or event.prev != self.sum:
            raise LineError("does not continue the line before it")
        self.seq, self.sum = event.seq, stamp
        self.before.append(0 if event.op == KEPT else self._lasts.get(event.id, 0))
        if event.id:
            self._lasts[event.id] = event.of if event.op == KEPT and event.of is not UNSET else event.seq


class Segments:
    """The events of one bank up to `base`. Any thread. Raises HistoryArchived for what is there no more."""

    def __init__(self, folder: Path, files: Files, base: int, head: Sum) -> None:
        """`head` is the sum of event `base`; 0 and "" for a log that was never vacuumed."""
        self.base = base
        self.head = head
        self._folder = folder / FOLDER
        self._files = files
        self._lock = threading.Lock()
        self._found: list[_Segment] | None = None  # newest first
        self._last_read: tuple[tuple[Path, int], list[bytes]] = (folder, 0), []

    @property
    def first_seq(self) -> int:
        """The first event that can be read, here or in the log. Raises Damaged."""
        found = self._segments()
        return found[-1].first if found else self.base + 1

    def check(self) -> None:
        """Read every file that is there, if that has not been done. Raises Damaged, StorageFailure."""
        self._segments()

    def event(self, seq: int) -> Event:
        """One event."""
        segment = self._holding(seq)
        place = bisect_right(segment.members, seq, key=lambda member: member[0]) - 1
        first, offset = segment.members[place]
        end = segment.members[place + 1][1] if place + 1 < len(segment.members) else segment.size
        try:
            return decode(self._member(segment.path, offset, end)[seq - first])[0]
        except (zlib.error, LineError, IndexError) as error:
            raise Damaged(segment.path, seq - segment.first + 1, offset, str(error), _REMEDY) from None

    def read(self, from_seq: int, to_seq: int) -> Iterator[Event]:
        """The events from_seq to to_seq, both included, as far as they are here."""
        self._holding(from_seq)
        for segment in reversed(self._segments()):
            if segment.last < from_seq:
                continue
            for _, line in _lines(segment.path, self._files):
                event = decode(line)[0]
                if event.seq > to_seq:
                    return
                if event.seq >= from_seq:
                    yield event

    def stamp(self, seq: int) -> Sum:
        """The sum of one event; that of the one before the first is known too."""
        if seq == self.base:
            return self.head
        for segment in self._segments():
            if seq == segment.first - 1:
                return segment.head
        following = self.event(seq + 1)
        return following.prev

    def life(self, ordinal: int, last: int) -> list[int]:
        """The seqs of a memory's events up to `last`, oldest first; where some are gone, the `kept` in their stead."""
        seqs = []
        while last:
            segment = self._find(last)
            if segment is None:
                seqs.append(kept_at(ordinal, self.first_seq))
                break
            seqs.append(last)
            last = segment.before[last - segment.first]
        return seqs[::-1]

    def _member(self, path: Path, offset: int, end: int) -> list[bytes]:
        """The lines of a member; the last one read is kept, as who asks for one event often asks for the next."""
        known, lines = self._last_read
        if known != (path, offset):
            with refusals(path, "read"), closing(self._files.open_append(path)) as handle:
                lines = zlib.decompress(handle.read_at(offset, end - offset), GZIP).split(b"\n")
            self._last_read = (path, offset), lines
        return lines

    def _find(self, seq: int) -> _Segment | None:
        return next((one for one in self._segments() if one.first <= seq <= one.last), None)

    def _holding(self, seq: int) -> _Segment:
        found = self._find(seq)
        if found is None:
            raise HistoryArchived(seq, self.first_seq)
        return found

    def _segments(self) -> list[_Segment]:
        """Those that reach from the log backwards without a gap, newest first."""
        if not self.base:
            return []
        with self._lock:
            if self._found is None:
                self._found = self._indexed()
            return self._found

    def _indexed(self) -> list[_Segment]:
        chosen: list[tuple[Path, Event]] = []
        base = self.base
        while base and self._files.exists(path := self._folder / segment_name(base)):
            chosen.append((path, _first(path, self._files)))
            base = chosen[-1][1].seq - 1
        lasts: dict[str, int] = {}
        found = [_indexed(path, first, lasts, self._files) for path, first in reversed(chosen)][::-1]
        head, last = self.head, self.base
        for one in found:
            if (one.last, one.sum) != (last, head):
                raise Damaged(one.path, len(one.before), 0, "is not what the log goes on from", _REMEDY)
            head, last = one.head, one.first - 1
        return found


def needed(bank: Path, files: Files, first: Event) -> Iterator[Path]:
    """The files that a bank cannot do without, newest first, there or not; `first` is the first event of its log.

    They end where a vacuum archived what came before it. Raises Damaged.
    """
    while first.vacuum is not UNSET and first.vacuum.history is History.KEEP:
        path = bank / FOLDER / segment_name(first.vacuum.seqs)
        yield path
        if not files.exists(path):
            return
        first = _first(path, files)


def _indexed(path: Path, first: Event, lasts: dict[str, int], files: Files) -> _Segment:
    reading = _Reading(first, lasts)
    members: list[tuple[int, int]] = []
    for offset, line in _lines(path, files):
        if not members or members[-1][1] != offset:
            members.append((reading.seq + 1, offset))
        try:
            reading.take(line)
        except LineError as error:
            raise Damaged(path, len(reading.before) + 1, offset, str(error), _REMEDY) from None
    size = files.size(path)
    return _Segment(path, first.seq, reading.seq, first.prev, reading.sum, members, size, reading.before)


def _first(path: Path, files: Files) -> Event:
    for offset, line in _lines(path, files):
        try:
            return decode(line)[0]
        except LineError as error:
            raise Damaged(path, 1, offset, str(error), _REMEDY) from None
    raise Damaged(path, 1, 0, "holds no event", _REMEDY)


def _lines(path: Path, files: Files) -> Iterator[tuple[int, bytes]]:
    """(offset of its member in the file, line without newline). Raises Damaged, StorageFailure."""
    number = 1
    for offset, content in _members(path, files):
        *lines, rest = content.split(b"\n")
        for line in lines:
            yield offset, line
        number += len(lines)
        if rest:
            raise Damaged(path, number, offset, "does not end in a newline", _REMEDY)


def content_of(path: Path, files: Files) -> Iterator[bytes]:
    """The lines of a file, a member at a time. Raises Damaged, StorageFailure."""
    return (content for _, content in _members(path, files))


def _members(path: Path, files: Files) -> Iterator[tuple[int, bytes]]:
    """(offset, content) of each gzip member."""
    offset, position, unpacker, parts = 0, 0, zlib.decompressobj(GZIP), list[bytes]()
    with refusals(path, "read"), closing(files.open_append(path)) as handle:
        while chunk := handle.read_at(position, _READ_BYTES):
            position += len(chunk)
            while chunk:
                parts.append(_unpacked(unpacker, chunk, path, offset))
                chunk = unpacker.unused_data
                if unpacker.eof:
                    yield offset, b"".join(parts)
                    offset, unpacker, parts = position - len(chunk), zlib.decompressobj(GZIP), []
    if parts:
        raise Damaged(path, 1, offset, "ends in the middle", _REMEDY)


def _unpacked(unpacker: zlib._Decompress, chunk: bytes, path: Path, offset: int) -> bytes:
    try:
        return unpacker.decompress(chunk)
    except zlib.error as error:
        raise Damaged(path, 1, offset, f"cannot be unpacked: {error}", _REMEDY) from None
