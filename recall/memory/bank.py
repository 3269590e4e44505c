"""The truth of one bank (signatures; the body follows)."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from recall.memory.errors import MemoryServiceError
from recall.memory.events import Event
from recall.memory.lifecycle import Action
from recall.memory.record import (
    LOCAL,
    Actor,
    BankInfo,
    BankName,
    Change,
    Counts,
    HistoryEntry,
    Imported,
    ImportedMemory,
    InfoChanges,
    MemoryChanges,
    NewMemory,
    Record,
    Saved,
    Superseded,
    Written,
)


class Derived(Protocol):
    """Something built from a bank's memories that can be thrown away."""

    def apply(self, changes: Sequence[Change], last_seq: int) -> None:
        """Take in changes, in seq order: after the fdatasync, before the acknowledgement, under the write lock."""

    def rebuild(self, last_seq: int) -> None:
        """The bank was reloaded with changes: read it again from the start."""


class Bank:
    """One bank. Every method may be called from any thread."""

    name: BankName
    tenant: str
    info: BankInfo
    last_seq: int
    read_only_reason: str | None

    def save(
        self, items: Sequence[NewMemory], actor: Actor = LOCAL, request_id: str = ""
    ) -> list[Saved | MemoryServiceError]:
        """Save texts durably; a result for each item, in order."""
        raise NotImplementedError

    def update(
        self,
        memory_id: str,
        changes: MemoryChanges,
        actor: Actor = LOCAL,
        expected_revision: int | None = None,
        request_id: str = "",
    ) -> Written:
        """Change fields of a live memory."""
        raise NotImplementedError

    def delete(
        self, memory_id: str, actor: Actor = LOCAL, expected_revision: int | None = None, request_id: str = ""
    ) -> Written:
        """Retire a memory; again is no error."""
        raise NotImplementedError

    def pin(self, memory_id: str, pinned: bool, actor: Actor = LOCAL, request_id: str = "") -> Written:
        """Pin or unpin."""
        raise NotImplementedError

    def supersede(self, loser_id: str, winner_id: str, actor: Actor = LOCAL, request_id: str = "") -> Superseded:
        """Retire one memory in favour of another."""
        raise NotImplementedError

    def expire(self, ids: Sequence[str], actor: Actor) -> list[Written | MemoryServiceError]:
        """Record that memories are past their expires_at."""
        raise NotImplementedError

    def transition(self, memory_id: str, action: Action, actor: Actor, note: str = "") -> Written:
        """Take an edge of the lifecycle table."""
        raise NotImplementedError

    def import_records(
        self, items: Sequence[ImportedMemory], actor: Actor = LOCAL
    ) -> list[Imported | MemoryServiceError]:
        """Take in records from elsewhere."""
        raise NotImplementedError

    def update_info(self, changes: InfoChanges, actor: Actor = LOCAL) -> BankInfo:
        """Change the bank's own settings."""
        raise NotImplementedError

    def get(self, memory_id: str) -> Record:
        """One memory, in any status."""
        raise NotImplementedError

    def text(self, record: Record) -> str:
        """Its text, read from the log."""
        raise NotImplementedError

    def record_at(self, ordinal: int) -> Record:
        """The memory with this ordinal."""
        raise NotImplementedError

    def history(self, memory_id: str) -> list[HistoryEntry]:
        """The events of one memory, oldest first."""
        raise NotImplementedError

    def records(self) -> Sequence[Record]:
        """Every memory, by ordinal: a snapshot."""
        raise NotImplementedError

    def counts(self, now: int) -> Counts:
        """How many memories are in each status."""
        raise NotImplementedError

    def tags(self) -> list[tuple[str, int]]:
        """Tags of live memories, most frequent first, then by name."""
        raise NotImplementedError

    def events(self, from_seq: int) -> Iterator[Event]:
        """The log from a seq on."""
        raise NotImplementedError

    def subscribe(self, derived: Derived) -> None:
        """Keep `derived` up to date from now on."""
        raise NotImplementedError

    def stamp(self, seq: int) -> str:
        """The checksum of the event at `seq`; it stands for the whole log up to it. For checkpoints."""
        raise NotImplementedError

    def reload(self) -> list[str]:
        """Read the log again: take in hand edits, end read-only; one line for each change."""
        raise NotImplementedError

    def close(self) -> None:
        """Finish running writes and let go of the files."""
        raise NotImplementedError
