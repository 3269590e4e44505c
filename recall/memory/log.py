"""The log of one bank: an ordered, append-only list of events that survives.

`Log` is the seam (see `log_seam`): whatever keeps order and refuses a stale `expected_seq` will do. `FileLog`
keeps it in one file, a line an event (see `events`); what vacuums took out of it lies in others (see `segments`).

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import UNSET

from recall.memory.errors import Damaged, StorageFailure
from recall.memory.events import Entry, Event, LineError, Said, Sum, decode, decode_said, encode, verified_sum
from recall.memory.files import AppendHandle, Files, HandleClosed
from recall.memory.fold_error import FoldError
from recall.memory.log_image import LogImage
from recall.memory.log_seam import LogClosed, NotThisLog, StaleLog
from recall.memory.refusal import refusal, refusals
from recall.memory.repair import REMEDY, cut_tear, keep_broken
from recall.memory.scan import CHUNK_BYTES, Group, Scan, Start
from recall.memory.segments import Segments

LOG_NAME = "log.jsonl"
_logger = logging.getLogger(__name__)


class FileLog:
    """A log in one file. One thread appends at a time; any number read."""

    def __init__(self, path: Path, files: Files, handle: AppendHandle, known: Start, slow_sync_ms: float) -> None:
        self._path = path
        self._files = files
        self._handle = handle
        self._base = known.base
        self._offsets = known.offsets  # event base + n lies in offsets[n-1]:offsets[n]
        self._last_sum = known.last_sum
        self._before = Segments(path.parent, files, known.base, known.base_sum)
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
            safe_bytes = start.offsets[-1] if start is not None else 0  # the scan goes on writing into these offsets
            scan = Scan(handle.read_at, handle.size(), start)
            for group in scan:
                _take_all(path, scan, group, take)
            if scan.damage is not None:
                raise Damaged(path, scan.damage.line, scan.damage.offset, scan.damage.problem, REMEDY)
            if scan.tear is not None:
                cut_tear(path, files, handle, scan)
            elif scan.newline_missing:
                handle.append(b"\n")
            if handle.size() != safe_bytes:  # what stands in an image was safe before that was written
                handle.sync()
            if scan.base:  # a vacuum that was killed may have left the name of its log unsafe
                files.sync_dir(path.parent)
        return cls(path, files, handle, Start(scan.offsets, scan.last_sum, scan.base, scan.base_sum), slow_sync_ms)

    @property
    def last_seq(self) -> int:
        """The seq of the last durable event."""
        return self._base + len(self._offsets) - 1

    @property
    def first_seq(self) -> int:
        """The first event that can be read."""
        return self._before.first_seq

    @property
    def before(self) -> Segments:
        """What vacuums took out of the log."""
        return self._before

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
        if seq <= self._base:
            yield from self._before.read(seq, to_seq)
            seq = self._base + 1
        line, last = seq - self._base, to_seq - self._base
        while line <= last:
            stop, start = line, self._offsets[line - 1]
            while stop < last and self._offsets[stop + 1] - start <= CHUNK_BYTES:
                stop += 1
            with refusals(self._path, "read"):
                data = handle.read_at(start, self._offsets[stop] - start)
            for found in data.split(b"\n")[: stop - line + 1]:
                yield self._decoded(self._base + line, found)
                line += 1

    def event(self, seq: int) -> Event:
        """One event. Raises Damaged when its bytes changed since they were verified."""
        return self._decoded(seq, self._line(seq)) if seq > self._base else self._before.event(seq)

    @property
    def base(self) -> int:
        """The event before the first one in the file."""
        return self._base

    def line_bytes(self, seq: int) -> int:
        """How long the line of an event in the file is."""
        return self._offsets[seq - self._base] - self._offsets[seq - self._base - 1]

    def life(self, ordinal: int, seqs: Sequence[int]) -> list[int]:
        """The seqs of a memory's events, oldest first."""
        if seqs[0] > self._base:
            return list(seqs)
        return [*self._before.life(ordinal, seqs[0]), *seqs[1:]]

    def text(self, seq: int) -> str:
        """The text of one event. Raises Damaged when its bytes changed since they were verified."""
        if seq <= self._base:
            said = self._before.event(seq).text
            return "" if said is UNSET else said
        try:
            return decode_said(self._line(seq)).text
        except LineError as error:
            raise self._damaged(seq, str(error)) from None

    def text_of(self, memory_id: str, seq: int) -> str | None:
        """The same, if that event is one of this memory; None when it is not, or holds no text."""
        if not self._base < seq <= self.last_seq:
            return None
        said = self._said(seq)
        return said.text if said is not None and said.id == memory_id else None

    def stamp(self, seq: int) -> Sum:
        """The sum of one event, which stands for the whole log up to it; "" for 0."""
        if seq <= self._base:
            return self._before.stamp(seq)
        return Sum(self._line(seq)[-34:-2].decode("ascii", "replace"))

    def image(self, last_seq: int | None = None) -> LogImage:
        """The durable events as they stand now, or up to `last_seq`; what is appended later is not in it."""
        last_seq = self.last_seq if last_seq is None else last_seq
        with self._open_still():
            size, handle = self._offsets[last_seq - self._base], self._handle.share()
        return LogImage(self._path, last_seq, size, handle, self._base, self._before.head)

    def known(self, last_seq: int) -> Start:
        """A copy of what a later start need not read again."""
        ends = self._offsets[: last_seq - self._base + 1]
        return Start(ends, self.stamp(last_seq), self._base, self._before.head)

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
        start, end = self._offsets[seq - self._base - 1], self._offsets[seq - self._base]
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
        return Damaged(self._path, seq - self._base, self._offsets[seq - self._base - 1], problem, REMEDY)


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
            raise Damaged(path, *scan.line_of(event.seq), str(error), REMEDY) from None
