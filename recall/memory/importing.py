"""Importing: whole records from elsewhere, with the ids, times, status and pointers they had.

A record whose id is there already changes nothing; a live record whose text is live under another id reinforces that
one; everything else is taken as it is. What an export gives, an empty bank takes in to the same records.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET

from recall.memory import lifecycle, names
from recall.memory.commands import Setting
from recall.memory.errors import InvalidField, MemoryServiceError, ProvenanceTaken
from recall.memory.events import Body
from recall.memory.lifecycle import Action
from recall.memory.record import Imported, ImportedMemory, MemoryId, NewMemory, Outcome, Record
from recall.memory.saving import Item, in_use, reinforce
from recall.memory.state import Draft


@dataclass(frozen=True, slots=True)
class Import:
    """Take in whole records; a result for each, in order. Each stands alone."""

    items: Sequence[tuple[ImportedMemory, Item] | MemoryServiceError]

    def plan(self, draft: Draft, setting: Setting) -> list[Imported | MemoryServiceError]:
        """Raises nothing: each record has its own result."""
        return [self._result(draft, setting, item) for item in self.items]

    def _result(
        self, draft: Draft, setting: Setting, item: tuple[ImportedMemory, Item] | MemoryServiceError
    ) -> Imported | MemoryServiceError:
        if isinstance(item, MemoryServiceError):
            return item
        try:
            return self._import(draft, setting, *item)
        except MemoryServiceError as error:
            return error

    def _import(self, draft: Draft, setting: Setting, memory: ImportedMemory, item: Item) -> Imported:
        lifecycle.target(item.new_id, None, Action.IMPORT, setting.actor.role)
        there = draft.find(memory.id) if memory.id else None
        if there is not None:
            return self._unchanged(there, memory, item)
        if memory.status.live or not memory.id:
            holder = draft.text_holder(item.text_hash)
            if holder is not None and in_use(holder, setting.now):
                saved = reinforce(draft, setting, holder, item.memory, UNSET)
                return Imported(saved.record, saved.outcome, saved.seq)
            self._check_provenance(draft, memory, item)
        change = draft.emit(imported_body(memory, item, setting.now), setting.now)
        return Imported(change.after, Outcome.CREATED, change.seq)

    def _unchanged(self, there: Record, memory: ImportedMemory, item: Item) -> Imported:
        if there.text_hash != item.text_hash or there.revision != memory.revision:
            raise InvalidField("id", f"{memory.id!r} is taken by another memory or another revision of this one")
        return Imported(there, Outcome.UNCHANGED, 0)

    def _check_provenance(self, draft: Draft, memory: ImportedMemory, item: Item) -> None:
        provenance = item.memory.source.provenance if item.memory.source is not None else None
        holder = None if provenance is None else draft.source_holder(provenance)
        if provenance is not None and holder is not None and memory.status.live:
            raise ProvenanceTaken(*provenance, holder.id)


def checked_import(memory: ImportedMemory, new_id: MemoryId) -> tuple[ImportedMemory, Item] | MemoryServiceError:
    """The record and its checked part, or why it cannot be taken."""
    try:
        if memory.id:
            names.memory_id(memory.id)
        for field in ("superseded_by", "predecessor"):
            names.checked_line(field, getattr(memory, field), names.LIMITS.request_id)
        if memory.updated_at is not None:
            names.checked_time("updated_at", memory.updated_at)
        if not 0 <= memory.corroboration <= names.LIMITS.count:
            raise InvalidField("corroboration", f"{memory.corroboration} is not between 0 and {names.LIMITS.count}")
        if not 1 <= memory.revision <= names.LIMITS.count:
            raise InvalidField("revision", f"{memory.revision} is not between 1 and {names.LIMITS.count}")
    except MemoryServiceError as error:
        return error
    item = Item.of(_as_new(memory), MemoryId(memory.id) if memory.id else new_id)
    return item if isinstance(item, MemoryServiceError) else (memory, item)


def imported_body(memory: ImportedMemory, item: Item, now: int) -> Body:
    """The event that brings a whole record."""
    checked = item.memory
    return Body(
        op=Action.IMPORT,
        id=item.new_id,
        text=checked.text,
        kind=checked.kind,
        entities=checked.entities,
        tags=checked.tags,
        author=checked.author,
        source=UNSET if checked.source is None else checked.source,
        confidence=checked.confidence,
        corroboration=memory.corroboration,
        pinned=checked.pinned,
        status=memory.status,
        created_at=now if checked.created_at is None else checked.created_at,
        updated_at=now if memory.updated_at is None else memory.updated_at,
        expires_at=checked.expires_at,
        winner=memory.superseded_by or UNSET,
        predecessor=memory.predecessor or UNSET,
        revision=memory.revision,
        metadata=checked.metadata,
    )


def _as_new(memory: ImportedMemory) -> NewMemory:
    return NewMemory(
        text=memory.text,
        kind=memory.kind,
        entities=memory.entities,
        tags=memory.tags,
        author=memory.author,
        source=memory.source,
        confidence=memory.confidence,
        pinned=memory.pinned,
        created_at=memory.created_at,
        expires_at=memory.expires_at,
        metadata=memory.metadata,
    )
