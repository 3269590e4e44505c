"""The log of one bank: an ordered, append-only list of events that survives.

`Log` is the seam: whatever keeps order and refuses a stale `expected_seq` will do. `FileLog` keeps it in one file, a
line an event (see `events`).

What `FileLog.append` promises for the events it is given, by what goes wrong:

| fault | file afterwards | log afterwards |
|---|---|---|
| none | the lines, fdatasynced | longer |
| the write fails (disk full, I/O error) | cut back to where it was | unchanged, goes on |
| cutting back fails | a torn tail | poisoned |
| the fdatasync fails | cut back as far as the disk lets us | poisoned |
| the file was replaced or resized by somebody else | as it was | poisoned |
| the same while the write ran | as the other left it | poisoned, the write not acknowledged |

A poisoned log takes no more events: what a failed fdatasync left in the page cache may read back well and not be on
the disk, and a second fdatasync of the same descriptor would report success. Only a new log on a new descriptor, after
everything was read again, goes on.

A crash leaves a prefix of the last write, or holes in it. A write may hold several commands and a command several
events. Opening keeps whole commands and cuts the rest (`scan` says how it is told from damage), but first copies what
it cuts to `log.broken-<n>`. Commands kept in this way were never acknowledged, which is no harm: their callers know
nothing. They are synced before the log is used, so that what is seen once stays.
"""

import logging
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

from recall.memory.errors import Closed, Damaged, StorageFailure
from recall.memory.events import Entry, Event, LineError, Said, Sum, decode, decode_said, encode, verified_sum
from recall.memory.files import AppendHandle, Files, HandleClosed
from recall.memory.fold import FoldError
from recall.memory.log_image import LogImage
from recall.memory.refusal import refusal, refusals
from recall.memory.repair import REMEDY, cut_tear, keep_broken
from recall.memory.scan import CHUNK_BYTES, Group, Scan, Start

LOG_NAME = "log.jsonl"
_logger = logging.getLogger(__name__)


class StaleLog(Exception):  # noqa: N818
    """Somebody else appended: the expected last seq is not the last seq."""


class NotThisLog(Exception):  # noqa: N818
    """What is known of a log does not fit the file."""


class LogClosed(Closed):
    """The log was closed before it could be read; whoever asks the bank again gets its successor's."""


class Log(Protocol):
    """An ordered, durable list of events. Reads raise LogClosed once it is closed; those that run end well."""

    @property
    def last_seq(self) -> int:
        """The seq of the last event, 0 when there is none."""

    @property
    def poisoned(self) -> str | None:
        """Why the log takes no more events."""

    @property
    def size_bytes(self) -> int:
        """How much it holds."""

    def append(self, expected_seq: int, entries: Sequence[Entry]) -> None:
        """Make events durable, all or none. Raises StaleLog, StorageFailure."""

    def read(self, from_seq: int, to_seq: int) -> Iterator[Event]:
        """The events from_seq to to_seq, both included."""

    def event(self, seq: int) -> Event:
        """One event."""

    def text(self, seq: int) -> str:
        """The text of one event that holds one."""

    def text_of(self, memory_id: str, seq: int) -> str | None:
        """The same, if that event is one of this memory; None when it is not, or holds no text."""

    def stamp(self, seq: int) -> Sum:
        """The sum of one event, which stands for the whole log up to it; "" for 0."""

    def image(self, last_seq: int | None = None) -> LogImage:
        """The log as it stands now, or as it stood at `last_seq`: for a backup, or to be verified."""

    def line_ends(self, last_seq: int) -> "array[int]":
        """A copy of where each of the first lines ends, by seq."""

    def distrust(self, why: str) -> None:
        """Take no more events."""

    def close(self) -> None:
        """Let go of it; running reads end well."""


class FileLog:
    """A log in one file. One thread appends at a time; any number read."""

    def __init__(
        self, path: Path, files: Files, handle: AppendHandle, offsets: "array[int]", last_sum: Sum, slow_sync_ms: float
    ) -> None:
        self._path = path
        self._files = files
        self._handle = handle
        self._offsets = offsets  # event n lies in offsets[n-1]:offsets[n]
        self._last_sum = last_sum
        self._slow_sync_ms = slow_sync_ms
        self._poisoned: str | None = None
        self.unacknowledged_tail = False
        """True when the file may hold bytes past the last durable event that nobody was promised."""

    @classmethod
    def open(
        cls,
        path: Path,
        files: Files,
        slow_sync_ms: float,
        take: Callable[[Event], None],
        start: Start | None = None,
    ) -> "FileLog":
        """Read and verify the log, mend a torn tail, sync. Each event goes to `take`, which may raise FoldError.

        Of the events before `start` only the last is looked at. Raises NotThisLog when it stands there no more.

        Raises Damaged where the log cannot be trusted, StorageFailure where the disk refuses.
        """
        with refusals(path, "open"):
            handle = files.open_append(path)
        try:
            return cls._verified(path, files, handle, slow_sync_ms, take, start)
        except BaseException:
            handle.close()
            raise

    @classmethod
    def _verified(
        cls,
        path: Path,
        files: Files,
        handle: AppendHandle,
        slow_sync_ms: float,
        take: Callable[[Event], None],
        start: Start | None,
    ) -> "FileLog":
        with refusals(path, "open"):
            if start is not None:
                _check_start(handle, start)
            scan = Scan(handle.read_at, handle.size(), start)
            for group in scan:
                _take_all(path, scan, group, take)
            if scan.damage is not None:
                raise Damaged(path, scan.damage.line, scan.damage.offset, scan.damage.problem, REMEDY)
            if scan.tear is not None:
                cut_tear(path, files, handle, scan)
            elif scan.newline_missing:
                handle.append(b"\n")
            handle.sync()
        return cls(path, files, handle, scan.offsets, scan.last_sum, slow_sync_ms)

    @property
    def last_seq(self) -> int:
        """The seq of the last durable event."""
        return len(self._offsets) - 1

    @property
    def poisoned(self) -> str | None:
        """Why the log takes no more events."""
        return self._poisoned

    @property
    def size_bytes(self) -> int:
        """Bytes of durable events."""
        return self._offsets[-1]

    def append(self, expected_seq: int, entries: Sequence[Entry]) -> None:
        """One write, one fdatasync, for all entries or none. Raises StaleLog, StorageFailure, DiskFull."""
        if expected_seq != self.last_seq:
            raise StaleLog(f"expected seq {expected_seq}, but the log ends at {self.last_seq}")
        if self._poisoned is not None:
            raise StorageFailure(self._path, "append to", self._poisoned)
        lines, ends, last_sum = self._encoded(entries)
        self._check_unchanged()
        self._write(b"".join(lines))
        self._sync()
        self._check_kept(ends[-1] if ends else self._offsets[-1])
        self._offsets.extend(ends)
        self._last_sum = last_sum

    def read(self, from_seq: int, to_seq: int) -> Iterator[Event]:
        """The events from_seq to to_seq, both included; read in chunks, also when the log is closed meanwhile."""
        with self._open_still():
            handle = self._handle.share()
        return self._read(handle, from_seq, to_seq)

    def _read(self, handle: AppendHandle, from_seq: int, to_seq: int) -> Iterator[Event]:
        with closing(handle):
            yield from self._events(handle, from_seq, to_seq)

    def _events(self, handle: AppendHandle, from_seq: int, to_seq: int) -> Iterator[Event]:
        seq = max(from_seq, 1)
        to_seq = min(to_seq, self.last_seq)
        while seq <= to_seq:
            stop = seq
            while stop < to_seq and self._offsets[stop + 1] - self._offsets[seq - 1] <= CHUNK_BYTES:
                stop += 1
            with refusals(self._path, "read"):
                data = handle.read_at(self._offsets[seq - 1], self._offsets[stop] - self._offsets[seq - 1])
            for line in data.split(b"\n")[: stop - seq + 1]:
                yield self._decoded(seq, line)
                seq += 1

    def event(self, seq: int) -> Event:
        """One event. Raises Damaged when its bytes changed since they were verified."""
        return self._decoded(seq, self._line(seq))

    def text(self, seq: int) -> str:
        """The text of one event. Raises Damaged when its bytes changed since they were verified."""
        try:
            return decode_said(self._line(seq)).text
        except LineError as error:
            raise self._damaged(seq, str(error)) from None

    def text_of(self, memory_id: str, seq: int) -> str | None:
        """The same, if that event is one of this memory; None when it is not, or holds no text."""
        if seq > self.last_seq:
            return None
        said = self._said(seq)
        return said.text if said is not None and said.id == memory_id else None

    def stamp(self, seq: int) -> Sum:
        """The sum of one event, which stands for the whole log up to it; "" for 0."""
        if seq == 0:
            return Sum("")
        return Sum(self._line(seq)[-34:-2].decode("ascii", "replace"))

    def image(self, last_seq: int | None = None) -> LogImage:
        """The durable events as they stand now, or up to `last_seq`; what is appended later is not in it."""
        last_seq = self.last_seq if last_seq is None else last_seq
        with self._open_still():
            return LogImage(self._path, last_seq, self._offsets[last_seq], self._handle.share())

    def line_ends(self, last_seq: int) -> "array[int]":
        """A copy of where each of the first lines ends, by seq; 0 for 0."""
        return self._offsets[: last_seq + 1]

    def distrust(self, why: str) -> None:
        """Take no more events: `why` is told to who tries."""
        self._poisoned = why

    def continued_by(self, later: "FileLog") -> bool:
        """Whether the other one holds every durable event of this one, as it was written."""
        return later.last_seq >= self.last_seq and later.stamp(self.last_seq) == self._last_sum

    @property
    def replaced(self) -> bool:
        """Whether its path names another file by now; this one is then nowhere but here."""
        return not self._handle.same_as(self._path)

    def keep_aside(self) -> Path:
        """Write the durable events to a `log.broken-<n>`. Raises OSError."""
        return keep_broken(self._path, self._files, self._handle.read_at(0, self.size_bytes))

    def close(self) -> None:
        """Let go of the file."""
        self._handle.close()

    def _encoded(self, entries: Sequence[Entry]) -> tuple[list[bytes], list[int], Sum]:
        lines, ends = [], []
        first = self.last_seq + 1
        end, last_sum = self._offsets[-1], self._last_sum
        for seq, entry in enumerate(entries, first):
            line, last_sum = encode(entry, seq, last_sum, first)
            end += len(line)
            lines.append(line)
            ends.append(end)
        return lines, ends, last_sum

    def _check_unchanged(self) -> None:
        if self._handle.same_as(self._path) and self._handle.size() == self._offsets[-1]:
            return
        self._poisoned = "the file was changed by another program; reload the bank to take its changes in"
        raise StorageFailure(self._path, "append to", self._poisoned)

    def _check_kept(self, end: int) -> None:
        """What was written beside a replaced file, or into another's writes, is safe nowhere: nobody is promised it."""
        if self._handle.same_as(self._path) and self._handle.size() == end:
            return
        self._poisoned = "the file was changed by another program while it was written; reload the bank"
        raise StorageFailure(self._path, "append to", self._poisoned)

    def _write(self, data: bytes) -> None:
        try:
            self._handle.append(data)
        except BaseException as error:
            self._cut_back()
            if isinstance(error, OSError):
                raise refusal(self._path, "append to", error) from error
            raise

    def _cut_back(self) -> None:
        try:
            self._handle.truncate(self._offsets[-1])
        except OSError as error:
            self.unacknowledged_tail = True
            self._poisoned = f"a failed write could not be taken back ({error.strerror}); reload the bank"

    def _sync(self) -> None:
        started = time.perf_counter()
        try:
            self._handle.sync()
        except BaseException as error:
            self._cut_back()
            self.unacknowledged_tail = True
            self._poisoned = f"an fdatasync failed ({error}); reload the bank once the disk is well"
            if isinstance(error, OSError):
                raise refusal(self._path, "sync", error) from error
            raise
        elapsed_ms = (time.perf_counter() - started) * 1_000
        if elapsed_ms > self._slow_sync_ms:
            _logger.warning("slow fdatasync file=%s ms=%.0f", self._path, elapsed_ms)

    def _said(self, seq: int) -> Said | None:
        line = self._line(seq)
        try:
            return decode_said(line)
        except LineError:
            self._decoded(seq, line)  # raises where it is damage
            return None

    def _line(self, seq: int) -> bytes:
        start, end = self._offsets[seq - 1], self._offsets[seq]
        with refusals(self._path, "read"), self._open_still():
            return self._handle.read_at(start, end - start)[:-1]

    @contextmanager
    def _open_still(self) -> Iterator[None]:
        try:
            yield
        except HandleClosed:
            raise LogClosed(str(self._path)) from None

    def _decoded(self, seq: int, line: bytes) -> Event:
        try:
            return decode(line)[0]
        except LineError as error:
            raise self._damaged(seq, str(error)) from None

    def _damaged(self, seq: int, problem: str) -> Damaged:
        return Damaged(self._path, seq, self._offsets[seq - 1], problem, REMEDY)


def _check_start(handle: AppendHandle, start: Start) -> None:
    begin, end = start.offsets[-2:]
    line = handle.read_at(begin, end - begin)
    try:
        fits = line.endswith(b"\n") and verified_sum(line[:-1]) == start.last_sum
    except LineError:
        fits = False
    if not fits:
        raise NotThisLog


def _take_all(path: Path, scan: Scan, group: Group, take: Callable[[Event], None]) -> None:
    for event in group:
        try:
            take(event)
        except FoldError as error:
            raise Damaged(path, event.seq, scan.offsets[event.seq - 1], str(error), REMEDY) from None
