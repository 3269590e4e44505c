"""Importing: whole records from elsewhere, with the ids, times, status and pointers they had.

A record whose id is there already changes nothing; a live record whose text is live under another id reinforces that
one; everything else is taken as it is. What an export gives, an empty bank takes in to the same records.

What happened to a record where it comes from stays apart from what happens here: it is kept inside the one event that
brings the record (as the changes from event to event), and `history` tells it before that event.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from recall.memory import lifecycle, names
from recall.memory.commands import Setting
from recall.memory.errors import InvalidField, MemoryServiceError, ProvenanceTaken
from recall.memory.events import Body, Past
from recall.memory.history import PAST_FIELDS
from recall.memory.lifecycle import Action
from recall.memory.ranges import MOST_SEQ
from recall.memory.record import (
    Actor,
    Imported,
    ImportedMemory,
    MemoryId,
    NewMemory,
    Outcome,
    PastEvent,
    Record,
)
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
        lifecycle.target(item.new_id, None, Action.IMPORT, setting.actor.role, setting.policy)
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
        _check_standing(memory)
        memory = replace(memory, past=_checked_past(memory))
    except MemoryServiceError as error:
        return error
    item = Item.of(_as_new(memory), MemoryId(memory.id) if memory.id else new_id)
    return item if isinstance(item, MemoryServiceError) else (memory, item)


def _check_standing(memory: ImportedMemory, of: str = "") -> None:
    """What only a record that lived elsewhere says of itself; `of` is put before the names of fields."""
    limits = names.LIMITS
    if memory.updated_at is not None:
        names.checked_time(f"{of}updated_at", memory.updated_at)
    if not 0 <= memory.corroboration <= limits.count:
        raise InvalidField(f"{of}corroboration", f"{memory.corroboration} is not between 0 and {limits.count}")
    if len(memory.replaces) > limits.replaced:
        raise InvalidField(f"{of}replaces", f"has {len(memory.replaces)} entries; the limit is {limits.replaced}")
    for replaced in memory.replaces:
        names.checked_line(f"{of}replaces", replaced, limits.request_id)
    if not 1 <= memory.revision <= limits.count:
        raise InvalidField(f"{of}revision", f"{memory.revision} is not between 1 and {limits.count}")


def _checked_past(memory: ImportedMemory) -> tuple[PastEvent, ...]:
    """The events with every text in its place and every field in its kept form. Raises InvalidField."""
    if memory.past and not memory.id:
        raise InvalidField("events", "are given for a memory without an id")
    if len(memory.past) > names.LIMITS.past_events:
        raise InvalidField("events", f"are {len(memory.past)}; at most {names.LIMITS.past_events} are kept")
    text, checked = "", []
    for event in memory.past:
        text = event.memory.text or text
        checked.append(_checked_event(event, replace(event.memory, text=text)))
    return tuple(checked)


def _checked_event(event: PastEvent, memory: ImportedMemory) -> PastEvent:
    limits = names.LIMITS
    _check_standing(memory, "events.memory.")
    if not 0 <= event.seq <= MOST_SEQ:
        raise InvalidField("events.seq", f"{event.seq} is not between 0 and {MOST_SEQ}")
    for field in ("superseded_by", "predecessor"):
        names.checked_line(f"events.memory.{field}", getattr(memory, field), limits.request_id)
    kept = names.checked_memory(_as_new(memory))
    fields = {name: getattr(kept, name) for name in kept.__struct_fields__ if name != "created_at"}
    times = {
        "created_at": event.at if kept.created_at is None else kept.created_at,
        "updated_at": event.at if memory.updated_at is None else memory.updated_at,
    }
    return replace(
        event,
        at=names.checked_time("events.at", event.at),
        op=names.checked_line("events.op", event.op, limits.author),
        note=names.checked_line("events.note", event.note, limits.note),
        actor=Actor(
            names.checked_line("events.actor", event.actor.id, limits.author),
            names.checked_line("events.role", event.actor.role, limits.author),
        ),
        memory=replace(memory, **fields, **times),
    )


def _changes(events: Sequence[PastEvent]) -> Iterator[Past]:
    """Each event with what it changed alone; the first one changes everything."""
    before: ImportedMemory | None = None
    for event in events:
        after = event.memory
        changed = {
            name: getattr(after, name)
            for name in ("text", *PAST_FIELDS)
            if before is None or getattr(after, name) != getattr(before, name)
        }
        yield Past(seq=event.seq, at=event.at, actor=event.actor, op=event.op, note=event.note, **changed)
        before = after


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
        title=checked.title or UNSET,
        replaces=memory.replaces or UNSET,
        evidence=checked.evidence or UNSET,
        past=tuple(_changes(memory.past)) or UNSET,
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
        title=memory.title,
        evidence=memory.evidence,
    )
