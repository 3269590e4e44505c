"""A bank as it stood at one seq, to be copied while the bank goes on.

A log only grows, and what it grows by is never changed, so its first bytes are the log as it stood when they were all.
The image holds the file open for itself, until it is closed: it stays readable when the bank is closed, reloaded or
moved to the trash meanwhile.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recall.memory.errors import Damaged
from recall.memory.events import NO_SUM, Event, LineError, Sum, decode
from recall.memory.files import AppendHandle
from recall.memory.record import BankName
from recall.memory.refusal import refusals
from recall.memory.repair import REMEDY
from recall.memory.scan import CHUNK_BYTES, Scan


@dataclass(frozen=True, slots=True)
class LogImage:
    """The first `size` bytes of a log: every event up to `last_seq`, and nothing after."""

    path: Path
    last_seq: int
    size: int
    _handle: AppendHandle = field(repr=False)
    base: int = 0
    """The seq before its first event."""
    base_sum: Sum = NO_SUM

    def verify(self) -> None:
        """Check every sum and the chain. Raises Damaged, StorageFailure."""
        with refusals(self.path, "read"):
            scan = Scan(self._handle.read_at, self.size)
            for _ in scan:
                pass
        if scan.damage is not None:
            raise Damaged(self.path, scan.damage.line, scan.damage.offset, scan.damage.problem, REMEDY)
        if scan.last_seq != self.last_seq:
            raise Damaged(self.path, len(scan.offsets), scan.end, "became shorter", REMEDY)

    def chunks(self, position: int = 0) -> Iterator[bytes]:
        """The bytes from a place on, a megabyte at a time.

        Raises Damaged when the file became shorter, StorageFailure.
        """
        while position < self.size:
            with refusals(self.path, "read"):
                chunk = self._handle.read_at(position, min(CHUNK_BYTES, self.size - position))
            if not chunk:
                raise Damaged(self.path, self.last_seq, position, "became shorter while it was read", REMEDY)
            yield chunk
            position += len(chunk)

    def first(self) -> Event:
        """Its first event. Raises Damaged, StorageFailure."""
        line = b""
        for chunk in self.chunks():
            line += chunk
            if b"\n" in chunk:
                break
        try:
            return decode(line.split(b"\n", 1)[0])[0]
        except LineError as error:
            raise Damaged(self.path, 1, 0, str(error), REMEDY) from None

    def close(self) -> None:
        """Let go of the file."""
        self._handle.close()


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule document."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class HistoryFile:
    """A file of what vacuums took out of a log; it never changes."""

    path: Path
    size: int
    _handle: AppendHandle = field(repr=False)

    def chunks(self) -> Iterator[bytes]:
        """The bytes, a megabyte at a time. Raises StorageFailure."""
        for position in range(0, self.size, CHUNK_BYTES):
            with refusals(self.path, "read"):
                yield self._handle.read_at(position, CHUNK_BYTES)

    def close(self) -> None:
        """Let go of the file."""
        self._handle.close()


@dataclass(frozen=True, slots=True)
class BankImage:
    """What a bank cannot be built again from anything else: its log and its rules."""

    tenant: str
    bank: BankName
    log: LogImage
    rules: tuple[RuleFile, ...]
    history: tuple[HistoryFile, ...] = ()
    """Those that the bank needs, oldest first."""

    def close(self) -> None:
        """Let go of the files."""
        self.log.close()
        for one in self.history:
            one.close()
