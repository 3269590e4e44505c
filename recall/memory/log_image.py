"""A bank as it stood at one seq, to be copied while the bank goes on.

A log only grows, and what it grows by is never changed, so its first bytes are the log as it stood when they were all.
The image holds the file open for itself, until it is closed: it stays readable when the bank is closed, reloaded or
moved to the trash meanwhile.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recall.memory.errors import Damaged
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

    def verify(self) -> None:
        """Check every sum and the chain. Raises Damaged, StorageFailure."""
        with refusals(self.path, "read"):
            scan = Scan(self._handle.read_at, self.size)
            for _ in scan:
                pass
        if scan.damage is not None:
            raise Damaged(self.path, scan.damage.line, scan.damage.offset, scan.damage.problem, REMEDY)
        if scan.last_seq != self.last_seq:
            raise Damaged(self.path, scan.last_seq + 1, scan.end, "became shorter", REMEDY)

    def chunks(self) -> Iterator[bytes]:
        """The bytes, about a megabyte at a time. Raises Damaged when the file became shorter, StorageFailure."""
        position = 0
        while position < self.size:
            with refusals(self.path, "read"):
                chunk = self._handle.read_at(position, min(CHUNK_BYTES, self.size - position))
            if not chunk:
                raise Damaged(self.path, self.last_seq, position, "became shorter while it was read", REMEDY)
            yield chunk
            position += len(chunk)

    def close(self) -> None:
        """Let go of the file."""
        self._handle.close()


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule document."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class BankImage:
    """What a bank cannot be built again from anything else: its log and its rules."""

    tenant: str
    bank: BankName
    log: LogImage
    rules: tuple[RuleFile, ...]
