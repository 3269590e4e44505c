"""What reviewers ask of a bank besides deciding: values are checked here, the rest is each command's."""

from dataclasses import replace as with_changes

from msgspec import UNSET

from recall.memory import commands, names, saving
from recall.memory.bank import Bank
from recall.memory.beginning import kept_at
from recall.memory.errors import HistoryArchived, NothingToUndo
from recall.memory.events import Event
from recall.memory.falling import Fell, SourceFell
from recall.memory.lifecycle import Action
from recall.memory.preferring import Prefer
from recall.memory.record import Actor, MemoryChanges, NewMemory, Record, Saved, Written
from recall.memory.replacing import Replace, Replacement
from recall.memory.standing import Standing, standing
from recall.memory.twins import Compared
from recall.memory.undoing import Gone, Undoing, undoing


def edit(
    bank: Bank, memory_id: str, changes: MemoryChanges, note: str, actor: Actor, expected_revision: int | None = None
) -> Written:
    """Change what waits for a decision; it waits on. Raises what commands.Update raises."""
    checked = names.checked_changes(changes)
    told = names.checked_line("note", note, names.LIMITS.note)
    return bank.write(commands.Update(memory_id, checked, expected_revision, "", Action.EDIT, told), actor)


def replace(bank: Bank, asked: Replace, merged: NewMemory | None, actor: Actor) -> Replacement:
    """Retire memories in favour of `merged`, or of the proposal that `asked` names, in one write."""
    note = names.checked_line("note", asked.note, names.LIMITS.note)
    names.checked_request_id(asked.request_id)
    item = asked.merged if merged is None else saving.Item.of(merged, bank.new_id())
    return bank.write(with_changes(asked, merged=item, note=note), actor)


def source_fell(bank: Bank, asked: SourceFell, actor: Actor) -> Fell:
    """Take what stands on a source out of use. Raises IllegalTransition."""
    return bank.write(with_changes(asked, why=names.checked_line("reason", asked.why, names.LIMITS.note)), actor)


def undo_decision(bank: Bank, memory_id: str, note: str, actor: Actor) -> Undoing:
    """Take a memory's last event back when it is a decision. Raises NothingToUndo, IllegalTransition."""
    checked = names.checked_line("note", note, names.LIMITS.note)
    entries = bank.history(memory_id)
    last = bank.event(entries[-1].seq)
    if last.of is not UNSET:
        return Undoing(entries[-1].record, (), 0, already=True)
    replaced = () if last.replaces is UNSET else tuple(_gone(bank, one) for one in last.replaces)
    asked = undoing(entries, last, replaced, checked)
    if isinstance(asked, NothingToUndo):
        raise asked
    return bank.write(asked, actor)


def prefer(bank: Bank, memory: NewMemory, compared: Compared, request_id: str, actor: Actor) -> Saved:
    """Keep a preference of whoever acts. Raises what preferring.Prefer raises."""
    names.checked_request_id(request_id)
    return bank.write(Prefer(saving.Item.of(memory, bank.new_id()), compared, request_id), actor)


def standing_of(bank: Bank, record: Record) -> Standing:
    """Who put a memory where it is."""

    def event(seq: int) -> Event:
        try:
            return bank.event(seq)
        except HistoryArchived as gone:
            return bank.event(kept_at(record.ordinal, gone.first_seq))

    return standing(record.review, event)


def _gone(bank: Bank, memory_id: str) -> Gone:
    record = bank.get(memory_id)
    event = bank.last_event(record)
    return Gone(record.id, event.seq, record.updated_at if event.updated_at is UNSET else event.updated_at)
