"""Moving a memory to another bank with its history: whole or not at all, though two logs are written.

```
1  target   arrive   the whole record, its past, and `origin` (bank, id, revision): from now on it is there
2  origin   depart   the memory retires and names where it went
3  target   settle   nothing is open any more
```
When step 2 is refused (the memory was written meanwhile, the disk is full) the target writes `return`, which retires
what arrived. A crash leaves an arrival that is not settled; the next opening of the target asks the origin: it has
departed (settle), it stands as it was (depart, settle), or it was written since (return). Between 1 and 2
both banks hold it for a moment; never does neither.
"""

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import UNSET, structs

from recall.memory import importing, lifecycle
from recall.memory.bank import Bank
from recall.memory.commands import Setting, check_revision, found
from recall.memory.errors import InvalidField, MemoryServiceError, ProvenanceTaken, TextTaken
from recall.memory.events import Body, Origin
from recall.memory.lifecycle import Action
from recall.memory.names import LIMITS, checked_line
from recall.memory.record import Actor, HistoryEntry, ImportedMemory, MemoryId, PastEvent, Policy, Record
from recall.memory.saving import Item
from recall.memory.state import Draft


@dataclass(frozen=True, slots=True)
class Move:
    """The memory as it is in the target, and as it stands in the origin now."""

    arrived: Record
    departed: Record


@dataclass(frozen=True, slots=True)
class Arrive:
    """Take in a memory of another bank; it keeps its id unless the bank knows that one already."""

    memory: ImportedMemory
    item: Item
    origin: Origin
    note: str

    def plan(self, draft: Draft, setting: Setting) -> Record:
        """Raises IllegalTransition, TextTaken, ProvenanceTaken."""
        lifecycle.target(self.origin.id, None, Action.ARRIVE, setting.actor.role, setting.policy)
        if self.memory.status.live:
            self._check_free(draft)
        known = draft.find(self.origin.id) is not None
        body = importing.imported_body(self.memory, self.item, setting.now)
        kept = self.item.new_id if known else MemoryId(self.origin.id)
        moved = structs.replace(body, op=Action.ARRIVE, id=kept, origin=self.origin, note=self.note or UNSET)
        return draft.emit(moved, setting.now).after

    def _check_free(self, draft: Draft) -> None:
        holder = draft.text_holder(self.item.text_hash)
        if holder is not None and holder.status.live:
            raise TextTaken(self.origin.id, holder.id)
        provenance = self.memory.source.provenance if self.memory.source is not None else None
        owner = None if provenance is None else draft.source_holder(provenance)
        if provenance is not None and owner is not None:
            raise ProvenanceTaken(*provenance, owner.id)


@dataclass(frozen=True, slots=True)
class Leave:
    """DEPART from the origin or RETURN from the target: the memory retires there."""

    memory_id: str
    action: Action
    to: str = ""
    revision: int | None = None
    note: str = ""

    def plan(self, draft: Draft, setting: Setting) -> Record:
        """Raises MemoryNotFound, StaleRevision, IllegalTransition."""
        record = found(draft, setting, self.memory_id)
        check_revision(record, self.revision)
        lifecycle.check(record, self.action, setting.actor.role, setting.policy)
        body = Body(op=self.action, id=record.id, to=self.to or UNSET, note=self.note or UNSET)
        return draft.emit(body, setting.now).after


@dataclass(frozen=True, slots=True)
class Settle:
    """Nothing of a move is open any more."""

    memory_id: str

    def plan(self, draft: Draft, setting: Setting) -> None:
        """Raises nothing."""
        draft.emit_info(Body(op="settle", id=self.memory_id), setting.now)


def move(origin: Bank, target: Bank, memory_id: str, note: str, actor: Actor, revision: int | None = None) -> Move:
    """Move a live memory. Raises what Arrive and Leave raise; nothing is moved then."""
    if origin.name == target.name:
        raise InvalidField("to_bank", "is the bank that the memory is in")
    told = checked_line("note", note, LIMITS.note)
    entries = origin.history(memory_id)
    record = entries[-1].record
    check_revision(record, revision)
    lifecycle.target(record.id, record.status, Action.DEPART, actor.role, Policy.GOVERNED)
    memory = _whole(entries)
    checked = importing.checked_import(memory, target.new_id())
    if isinstance(checked, MemoryServiceError):
        raise checked
    item = Item(checked[1].memory, checked[1].text_hash, target.new_id())
    arrived = target.write(Arrive(checked[0], item, Origin(origin.name, record.id, record.revision), told), actor)
    try:
        leave = Leave(record.id, Action.DEPART, place_of(target, arrived.id), record.revision, told)
        departed = origin.write(leave, actor)
    except MemoryServiceError:
        target.write(Leave(arrived.id, Action.RETURN, note="it could not leave the bank it was in"), actor)
        raise
    target.write(Settle(arrived.id), actor)
    return Move(arrived, departed)


def settle(target: Bank, open_bank: Callable[[str], Bank]) -> None:
    """Finish or undo the moves into a bank that a crash left open. One whose origin cannot be opened stays open."""
    for memory_id, (origin, actor) in target.arrivals().items():
        try:
            _settle(target, memory_id, open_bank(origin.bank), origin, actor)
        except MemoryServiceError:
            continue


def place_of(bank: Bank, memory_id: str) -> str:
    """How a memory that left names where it went."""
    return f"{bank.name}/{memory_id}"


def _settle(target: Bank, memory_id: str, bank: Bank, origin: Origin, actor: Actor) -> None:
    record, went = bank.get(origin.id), place_of(target, memory_id)
    if record.moved_to != went:
        if not record.status.live or record.revision != origin.revision:
            target.write(Leave(memory_id, Action.RETURN, note="it was written where it came from"), actor)
            return
        bank.write(Leave(record.id, Action.DEPART, went, origin.revision), actor)
    target.write(Settle(memory_id), actor)


def _whole(entries: list[HistoryEntry]) -> ImportedMemory:
    """The memory with its history; of a very long one the newest part."""
    told = entries[-LIMITS.past_events :]
    return structs.replace(_as_told(entries[-1]), past=tuple(_event(one) for one in told))


def _event(entry: HistoryEntry) -> PastEvent:
    return PastEvent(
        seq=entry.seq, at=entry.at, actor=entry.actor, op=entry.op, note=entry.note, memory=_as_told(entry)
    )


def _as_told(entry: HistoryEntry) -> ImportedMemory:
    record = entry.record
    names = [name for name in ImportedMemory.__struct_fields__ if name not in ("text", "past")]
    return ImportedMemory(text=entry.text, **{name: getattr(record, name) for name in names})
