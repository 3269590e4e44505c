"""The truth of one bank.

Every write is a command: checked against the state and the commands before it in the group, encoded, written and
fdatasynced together with the others, applied, acknowledged. A refused command leaves no trace; when the disk refuses,
the whole group fails and nothing of it was kept or seen. Reads never wait for a write.

- Saving a live text again reinforces it; see `saving` for the whole table, that of provenance among it.
- A write with a `request_id` that was seen before changes nothing and gives the memory and the seq of the first time.
  Of a batch, items that were refused then are tried again. A write that changed nothing is not remembered.
- A bank that is closed for want of room hands its callers on to the bank that was opened in its stead.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from recall.memory import commands, importing, names, saving
from recall.memory.commands import Command
from recall.memory.deciding import Decide, Decided
from recall.memory.derived import Derived, Subscribers
from recall.memory.errors import InvalidField, MemoryNotFound, MemoryServiceError, ReadOnly
from recall.memory.events import Event, Origin
from recall.memory.group_commit import GroupCommit, Ticket
from recall.memory.history import history, kept_changes, length
from recall.memory.kept_state import KeptState, opened_from_image
from recall.memory.lifecycle import Action
from recall.memory.log_image import LogImage
from recall.memory.log_seam import LogClosed
from recall.memory.opening import Opened, reopen_bank
from recall.memory.place import Outfit, Place
from recall.memory.planning import Work, planned
from recall.memory.record import (
    LOCAL,
    Actor,
    BankInfo,
    BankName,
    HistoryEntry,
    Imported,
    ImportedMemory,
    InfoChanges,
    MemoryChanges,
    MemoryId,
    NewMemory,
    Record,
    Saved,
    Superseded,
    Written,
)
from recall.memory.rule_book import RuleBook
from recall.memory.rule_state import Rule
from recall.memory.snapshot import Snapshot
from recall.memory.state import RunState
from recall.memory.usage import LastUsed
from recall.memory.wording import text_of

_Result = TypeVar("_Result")


class _Moved(Exception):  # noqa: N818
    """The bank was closed; its successor takes the work."""


class Bank:
    """One bank. Every method may be called from any thread. Made by `Banks`."""

    def __init__(self, place: Place, opened: Opened, outfit: Outfit) -> None:
        self.place = place
        self._outfit = outfit
        self._opened = opened
        settings = outfit.settings
        self._commits: GroupCommit[Work] = GroupCommit(settings.max_group, settings.gather_share)
        self._reading = threading.Lock()  # held while a draft is taken in, so a snapshot never holds half a command
        self._subscribers = Subscribers(place.name)
        self._closed = False
        self.used = LastUsed(place.folder, outfit.files)
        self.kept_state = KeptState(place, outfit, self._reading, opened.unread)
        RuleBook(self).mend()

    @classmethod
    def open(cls, place: Place, outfit: Outfit) -> "Bank":
        """Replay the bank's log. Raises Damaged, StorageFailure."""
        return cls(place, opened_from_image(place, outfit.files, outfit.settings), outfit)

    @classmethod
    def open_edited(cls, place: Place, outfit: Outfit) -> tuple["Bank", list[str]]:
        """As open, but takes hand edits in; one line for each."""
        opened, changes = reopen_bank(place.log, outfit.files, outfit.settings, None)
        bank = cls(place, opened, outfit)
        return bank, changes + RuleBook(bank).take_in()

    @property
    def outfit(self) -> Outfit:
        """What the bank works with."""
        return self._outfit

    @property
    def name(self) -> BankName:
        """The bank's name."""
        return self.place.name

    @property
    def tenant(self) -> str:
        """Whose bank it is."""
        return self.place.tenant

    @property
    def info(self) -> BankInfo:
        """The bank's own settings."""
        return self._current().state.info

    @property
    def last_seq(self) -> int:
        """The seq of the last acknowledged event."""
        return self._current().state.last_seq

    @property
    def read_only_reason(self) -> str | None:
        """Why the bank takes no writes, and what to do; None when it does."""
        return self._current().log.poisoned

    @property
    def log_bytes(self) -> int:
        """Size of the log."""
        return self._current().log.size_bytes

    @property
    def stale(self) -> Sequence[Derived]:
        """What failed to take a change in and needs a rebuild."""
        return self._subscribers.stale

    def save(
        self, items: Sequence[NewMemory], actor: Actor = LOCAL, request_id: str = ""
    ) -> list[Saved | MemoryServiceError]:
        """Save texts durably; a result for each item, in order. All of a call reach the log together."""
        return self._save(items, Action.SAVE, actor, request_id)

    def nominate(
        self, items: Sequence[NewMemory], actor: Actor = LOCAL, request_id: str = ""
    ) -> list[Saved | MemoryServiceError]:
        """As save, but what is new waits for a reviewer."""
        return self._save(items, Action.NOMINATE, actor, request_id)

    def update(
        self,
        memory_id: str,
        changes: MemoryChanges,
        actor: Actor = LOCAL,
        expected_revision: int | None = None,
        request_id: str = "",
    ) -> Written:
        """Change fields of a live memory; its id stays, its text's hash moves. Raises what commands.Update raises."""
        names.checked_request_id(request_id)
        checked = names.checked_changes(changes)
        return self.write(commands.Update(memory_id, checked, expected_revision, request_id), actor)

    def delete(
        self, memory_id: str, actor: Actor = LOCAL, expected_revision: int | None = None, request_id: str = ""
    ) -> Written:
        """Retire a memory; again is no error. Raises what commands.Delete raises."""
        names.checked_request_id(request_id)
        return self.write(commands.Delete(memory_id, expected_revision, request_id), actor)

    def pin(self, memory_id: str, pinned: bool, actor: Actor = LOCAL, request_id: str = "") -> Written:
        """Pin or unpin a live memory. Raises what commands.Pin raises."""
        names.checked_request_id(request_id)
        return self.write(commands.Pin(memory_id, Action.PIN if pinned else Action.UNPIN, request_id), actor)

    def supersede(self, loser_id: str, winner_id: str, actor: Actor = LOCAL, request_id: str = "") -> Superseded:
        """Retire one memory in favour of another. Raises what commands.Supersede raises."""
        names.checked_request_id(request_id)
        return self.write(commands.Supersede(loser_id, winner_id, request_id), actor)

    def expire(self, ids: Sequence[str], actor: Actor) -> list[Written | MemoryServiceError]:
        """Record that memories are past their expires_at; a result for each."""
        return self.write(commands.Expire(tuple(ids)), actor)

    def transition(self, memory_id: str, action: Action, actor: Actor, note: str = "") -> Written:
        """Promote, reject, quarantine, re-accept; raises what commands.Transition does."""
        if action not in commands.REVIEWS:
            raise InvalidField("action", f"{action} is not one of {', '.join(commands.REVIEWS)}")
        checked = names.checked_line("note", note, names.LIMITS.note)
        return self.write(commands.Transition(memory_id, action, checked), actor)

    def decide(self, asked: Decide, actor: Actor) -> Decided:
        """Carry a reviewer's decision out; deciding again changes nothing. Raises what deciding.Decide raises."""
        note = names.checked_line("note", asked.note, names.LIMITS.note)
        return self.write(replace(asked, note=note), actor)

    def import_records(
        self, items: Sequence[ImportedMemory], actor: Actor = LOCAL
    ) -> list[Imported | MemoryServiceError]:
        """Take in whole records; a result for each, in order. See `importing`."""
        checked = [importing.checked_import(item, MemoryId(self._outfit.new_id())) for item in items]
        return self.write(importing.Import(checked), actor)

    def update_info(self, changes: InfoChanges, actor: Actor = LOCAL) -> BankInfo:
        """Change the bank's own settings. Raises InvalidField."""
        return self.write(commands.SetInfo(changes), actor)

    def get(self, memory_id: str) -> Record:
        """One memory, in any status. Raises MemoryNotFound."""
        record = self._current().state.find(memory_id)
        if record is None:
            raise MemoryNotFound(self.name, memory_id)
        return record

    def requested(self, request_id: str) -> bool:
        """Whether a write with this request_id is remembered."""
        return bool(request_id) and request_id in self._current().state.requests

    def holder(self, text: str) -> Record | None:
        """The memory that holds a text, or held it last; None when the bank never had it."""
        state = self._current().state
        ordinal = state.by_text.get(names.text_hash(text))
        return None if ordinal is None else state.records[ordinal]

    def text(self, record: Record) -> str:
        """Its text, read from the log; see `wording`. Raises Damaged when the log changed under it, MemoryNotFound."""
        return self._asked(lambda opened: text_of(record, opened, self.name))

    def record_at(self, ordinal: int) -> Record:
        """The memory with this ordinal. Raises IndexError."""
        return self._current().state.records[ordinal]

    def history(self, memory_id: str, to_seq: int | None = None) -> list[HistoryEntry]:
        """The events of one memory, oldest first, as of `to_seq`. Raises MemoryNotFound."""

        def told(opened: Opened) -> list[HistoryEntry]:
            ordinal = self.get(memory_id).ordinal
            return list(history(opened.log, ordinal, self._events_of(opened, ordinal), to_seq))

        return self._asked(told)

    def history_length(self, record: Record, to_seq: int) -> int:
        """How many events `history` would give; reads one of them."""
        at = record.ordinal
        return self._asked(lambda opened: length(opened.log, at, self._events_of(opened, at), to_seq))

    def _events_of(self, opened: Opened, ordinal: int) -> list[int]:
        with self._reading:
            return opened.state.events_of(ordinal)

    def records(self) -> Sequence[Record]:
        """Every memory, by ordinal: a snapshot."""
        return self.snapshot().records

    def snapshot(self) -> Snapshot:
        """Every memory by ordinal, and the seq they are as of."""
        state = self._current().state
        with self._reading:
            return Snapshot(tuple(state.records), state.last_seq)

    def run_state(self) -> RunState:
        """What consolidation runs left in the state; see `RunBook`."""
        with self._reading:
            return self._current().state.run_state()

    def rule_states(self) -> list[Rule]:
        """Every rule, also those that were taken out of use; see `RuleBook`."""
        with self._reading:
            return list(self._current().state.rules.values())

    def arrivals(self) -> dict[str, tuple[Origin, Actor]]:
        """Memories that were moved here and not settled: where each comes from, and who moved it."""
        opened = self._current()
        with self._reading:
            open_moves = dict(opened.state.arrivals)
            firsts = {one: opened.state.events_of(self.get(one).ordinal)[0] for one in open_moves}
        return {one: (origin, opened.log.event(firsts[one]).actor) for one, origin in open_moves.items()}

    def event(self, seq: int) -> Event:
        """One event. Raises Damaged when the log changed under it."""
        return self._asked(lambda opened: opened.log.event(seq))

    def last_event(self, record: Record) -> Event:
        """The last event of a memory."""
        return self._asked(lambda opened: opened.log.event(opened.state.last_event(record.ordinal)))

    def events(self, from_seq: int) -> Iterator[Event]:
        """The log from a seq on, up to what is acknowledged now."""
        return self._asked(lambda opened: opened.log.read(from_seq, opened.state.last_seq))

    @property
    def first_seq(self) -> int:
        """The first event that can be read; not 1 where what a vacuum archived was taken away."""
        return self._asked(lambda opened: opened.log.first_seq)

    def stamp(self, seq: int) -> str:
        """The checksum of the event at `seq`; it stands for the whole log up to it. For checkpoints."""
        return self._asked(lambda opened: opened.log.stamp(seq))

    def image(self) -> LogImage:
        """The log as it stands now, for a backup; it stays readable when the bank closes."""
        return self._asked(lambda opened: opened.log.image())

    def opened_now(self) -> Opened | None:
        """The log and the state, for who keeps or verifies them; None when a successor answers in its stead."""
        return None if self._closed else self._opened

    def subscribe(self, derived: Derived) -> int:
        """Keep `derived` up to date from now on; returns the last seq it is not told of."""
        with self._commits.hold():
            self._subscribers.add(derived)
            return self.last_seq

    def unsubscribe(self, derived: Derived) -> None:
        """Tell `derived` no more."""
        with self._commits.hold():
            self._subscribers.remove(derived)

    def reload(self) -> list[str]:
        """Read the log again: take in hand edits, end read-only; one line for each change.

        Raises Damaged for an edit that cannot be taken in; the bank is then as it was.
        """
        with self._commits.hold():
            before = self._opened
            opened, changes = reopen_bank(self.place.log, self._outfit.files, self._outfit.settings, before)
            with self._reading:
                self._opened = opened
            before.log.close()
            if changes:
                self.kept_state.forget()
                self._subscribers.rebuild(opened.state.last_seq)
            else:
                self._subscribers.rebuild_stale(opened.state.last_seq)
        return changes + RuleBook(self).take_in()

    def rewrite(self, write: Callable[[Opened], Opened]) -> None:
        """Let `write` make the log anew while no other write runs: what it adds up to stays the same. See `vacuum`."""
        with self._commits.hold():
            before, self._opened = self._opened, write(self._opened)
            before.log.close()
            self.kept_state.forget()
            self._subscribers.tell(kept_changes(before.state, self._opened.state), self._opened.state.last_seq)

    def rebuild_stale(self) -> None:
        """Let what failed to take a change in start over; writes wait for it."""
        with self._commits.hold():
            if not self._closed:
                self._subscribers.rebuild_stale(self.last_seq)

    def close(self) -> None:
        """Finish running writes and let go of the files; running reads end well. Later calls go to the successor."""
        with self._commits.hold():
            self._closed = True
            self._subscribers.clear()
            self.kept_state.keep_last(self._opened)
            self._opened.log.close()
            self.used.keep()

    def _save(
        self, items: Sequence[NewMemory], action: Action, actor: Actor, request_id: str
    ) -> list[Saved | MemoryServiceError]:
        names.checked_request_id(request_id)
        now, days = self._outfit.clock.now(), self._outfit.settings.episode_days
        due = [saving.with_episode_expiry(item, now, days) for item in items]
        checked = [saving.Item.of(item, MemoryId(self._outfit.new_id())) for item in due]
        return self.write(saving.Save(checked, action, request_id), actor)

    def _current(self) -> Opened:
        return self._outfit.successor(self.place)._current() if self._closed else self._opened

    def _asked(self, ask: Callable[[Opened], _Result]) -> _Result:
        """What the log says; a log that was closed before it was read is left for its successor."""
        while True:
            opened = self._current()
            try:
                return ask(opened)
            except LogClosed:
                if self._current() is opened:
                    raise

    def new_id(self) -> MemoryId:
        """An id for a memory that is to be made."""
        return MemoryId(self._outfit.new_id())

    def write(self, command: Command[_Result], actor: Actor) -> _Result:
        """Have a command carried out: its events reach the log together, or it raises and left no trace."""
        try:
            return cast(_Result, self._commits.submit(Work(command, actor), self._commit))
        except _Moved:
            return self._outfit.successor(self.place).write(command, actor)

    def _commit(self, group: Sequence[Ticket[Work]]) -> None:
        if self._closed:
            raise _Moved
        opened = self._opened
        if opened.log.poisoned is not None:
            raise ReadOnly(self.name, opened.log.poisoned)
        draft, results = planned(self.name, self._outfit.clock.now(), opened.state, group, opened.log.text)
        if draft.entries:
            opened.log.append(opened.state.last_seq, draft.entries)
            with self._reading:
                opened.state.take(draft)
            self._subscribers.tell(draft.changes, opened.state.last_seq)
        for ticket, result in results:
            ticket.succeed(result)
