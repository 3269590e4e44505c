"""Taking a decision back: the memory returns to where it stood, as long as nothing happened to it since.

It is an event of its own (`undo-…`, which names the seq of the decision), so history keeps both. What a replacement
retired comes back in the same write. Undoing twice changes nothing and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from recall.memory import lifecycle
from recall.memory.commands import Setting, found
from recall.memory.errors import NothingToUndo
from recall.memory.events import Body, Event
from recall.memory.lifecycle import UNDO, Action
from recall.memory.merging import taken
from recall.memory.record import HistoryEntry, Record
from recall.memory.state import Draft

UNDOES: Final = frozenset(UNDO.values())


@dataclass(frozen=True, slots=True)
class Undoing:
    """The memory after the undo, what came back with it; `already` when it was undone before, and seq is 0."""

    record: Record
    restored: tuple[Record, ...]
    seq: int
    already: bool = False


@dataclass(frozen=True, slots=True)
class Gone:
    """A memory that a replacement retired: by the event at `seq`, before which it was last written at `updated_at`."""

    id: str
    seq: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class UndoDecision:
    """Take back the decision at `seq`, before which the memory stood as in `before`."""

    memory_id: str
    seq: int
    action: Action
    before: Record | None
    replaced: tuple[Gone, ...] = ()
    gain: int = 0
    note: str = ""

    def plan(self, draft: Draft, setting: Setting) -> Undoing:
        """Raises MemoryNotFound, IllegalTransition, NothingToUndo."""
        record = found(draft, setting, self.memory_id)
        lifecycle.check(record, self.action, setting.actor.role, setting.policy)
        if draft.last_event(record) != self.seq:
            raise NothingToUndo(record.id, "it was written meanwhile")
        if not record.status.live:
            self._check_free(draft, record)
        self._check_losers(draft, setting, record)
        change = draft.emit(self._body(record), setting.now)
        restored = [draft.emit(self._restored(gone), setting.now).after for gone in self.replaced]
        return Undoing(change.after, tuple(restored), draft.last_seq)

    def _check_free(self, draft: Draft, record: Record) -> None:
        problem = taken(draft, record)
        if problem:
            raise NothingToUndo(record.id, problem)

    def _check_losers(self, draft: Draft, setting: Setting, winner: Record) -> None:
        for gone in self.replaced:
            loser = found(draft, setting, gone.id)
            lifecycle.check(loser, Action.RESTORE, setting.actor.role, setting.policy)
            text = draft.text_holder(loser.text_hash)
            provenance = loser.source.provenance if loser.source is not None else None
            source = None if provenance is None else draft.source_holder(provenance)
            others = [one for one in (text, source) if one is not None and one.status.live and one.id != winner.id]
            if draft.last_event(loser) != gone.seq or others:
                raise NothingToUndo(winner.id, f"memory {loser.id!r}, which it replaced, cannot come back")

    def _body(self, record: Record) -> Body:
        return Body(
            op=self.action,
            id=record.id,
            of=self.seq,
            note=self.note or UNSET,
            updated_at=UNSET if self.before is None else self.before.updated_at,
            replaces=() if self.replaced else UNSET,
            corroboration=self.gain or UNSET,
        )

    def _restored(self, gone: Gone) -> Body:
        return Body(op=Action.RESTORE, id=gone.id, of=self.seq, updated_at=gone.updated_at)


def undoing(
    entries: Sequence[HistoryEntry], last: Event, replaced: tuple[Gone, ...], note: str
) -> UndoDecision | NothingToUndo:
    """What would take the last event of a memory back, or why nothing can. `entries` is its whole history."""
    before = entries[-2].record if len(entries) > 1 else None
    gain = 0 if last.corroboration is UNSET else last.corroboration
    memory_id = entries[-1].record.id
    if last.op == Action.SAVE and replaced:
        return UndoDecision(memory_id, last.seq, Action.DELETE, None, replaced, 0, note)
    action = None if before is None or last.op not in set(Action) else UNDO.get((before.status, Action(last.op)))
    if action is None:
        return NothingToUndo(memory_id, f"the last thing that happened to it is {last.op!r}, which is no decision")
    return UndoDecision(memory_id, last.seq, action, before, replaced, gain, note)
