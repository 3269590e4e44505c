"""What can be asked of a bank's memories. A command is checked against a draft, then emits its events into it.

A command checks everything before it emits anything, so a refusal leaves no trace. Its events reach the log together or
not at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from msgspec import UNSET, UnsetType, structs

from recall.memory import lifecycle, names
from recall.memory.errors import (
    InvalidField,
    MemoryNotFound,
    MemoryServiceError,
    NotExpired,
    NotLive,
    PinnedMemory,
    SelfSupersede,
    StaleRevision,
    TextTaken,
)
from recall.memory.events import Body, Request
from recall.memory.lifecycle import Action
from recall.memory.record import (
    Actor,
    BankInfo,
    InfoChanges,
    MemoryChanges,
    Policy,
    Record,
    Status,
    Superseded,
    Written,
)
from recall.memory.state import Draft

Result_co = TypeVar("Result_co", covariant=True)

REVIEWS = (Action.PROMOTE, Action.REJECT, Action.QUARANTINE, Action.REACCEPT)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a command may know besides the draft."""

    bank: str
    now: int
    actor: Actor
    policy: Policy
    text: Callable[[Record], str]
    """The text of a memory, as the commands before this one leave it."""


class Command(Protocol[Result_co]):
    """One thing asked of a bank."""

    def plan(self, draft: Draft, setting: Setting) -> Result_co:
        """Check, then emit. Raises MemoryServiceError before the first emit."""


def found(draft: Draft, setting: Setting, memory_id: str) -> Record:
    """The memory, in any status. Raises MemoryNotFound."""
    record = draft.find(memory_id)
    if record is None:
        raise MemoryNotFound(setting.bank, memory_id)
    return record


def repeated(draft: Draft, request_id: str, verb: str, item: int = 0) -> tuple[Record, int] | None:
    """The memory and seq of an earlier write with this request_id. Raises InvalidField when it was another verb."""
    if not request_id:
        return None
    answered = draft.answered(request_id)
    if answered is None:
        return None
    if answered.verb != verb:
        raise InvalidField("request_id", f"was used for another write ({answered.verb})")
    answer = answered.items.get(item)
    record = None if answer is None else draft.find(answer[0])
    return None if answer is None or record is None else (record, answer[1])


def request(request_id: str, verb: str, item: int = 0) -> Request | UnsetType:
    """What an event carries of the request it was written for."""
    return Request(request_id, verb, item) if request_id else UNSET


def check_revision(record: Record, expected: int | None) -> None:
    """Raises StaleRevision."""
    if expected is not None and expected != record.revision:
        raise StaleRevision(record.id, expected, record.revision)


@dataclass(frozen=True, slots=True)
class Update:
    """New values for fields of a live memory; nothing is written when nothing changes."""

    memory_id: str
    changes: MemoryChanges
    expected_revision: int | None = None
    request_id: str = ""
    action: Action = Action.UPDATE  # or EDIT: a reviewer's hand on what waits
    note: str = ""

    def plan(self, draft: Draft, setting: Setting) -> Written:
        """Raises MemoryNotFound, StaleRevision, IllegalTransition, PinnedMemory, TextTaken."""
        before = repeated(draft, self.request_id, self.action)
        if before is not None:
            return Written(*before)
        record = found(draft, setting, self.memory_id)
        check_revision(record, self.expected_revision)
        lifecycle.check(record, self.action, setting.actor.role, setting.policy)
        body = self._body(draft, record)
        if body is None:
            return Written(record, 0)
        change = draft.emit(body, setting.now)
        return Written(change.after, change.seq)

    def _body(self, draft: Draft, record: Record) -> Body | None:
        changed = changed_fields(record, self.changes)
        text = self.changes.text
        if text is not UNSET:
            digest = names.text_hash(text)
            holder = draft.text_holder(digest)
            if holder is not None and holder.status.live and holder.id != record.id:
                raise TextTaken(record.id, holder.id)
            changed["text"] = text
        if not changed:
            return None
        changed["note"] = self.note or UNSET
        return Body(op=self.action, id=record.id, request=request(self.request_id, self.action), **changed)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Delete:
    """Retire a memory; retiring it again writes nothing."""

    memory_id: str
    expected_revision: int | None = None
    request_id: str = ""

    def plan(self, draft: Draft, setting: Setting) -> Written:
        """Raises MemoryNotFound, StaleRevision, IllegalTransition, PinnedMemory."""
        before = repeated(draft, self.request_id, "delete")
        if before is not None:
            return Written(*before)
        record = found(draft, setting, self.memory_id)
        if record.status is Status.RETIRED:
            return Written(record, 0)
        check_revision(record, self.expected_revision)
        lifecycle.check(record, Action.DELETE, setting.actor.role, setting.policy)
        body = Body(op=Action.DELETE, id=record.id, request=request(self.request_id, "delete"))
        change = draft.emit(body, setting.now)
        return Written(change.after, change.seq)


@dataclass(frozen=True, slots=True)
class Pin:
    """Pin or unpin a live memory; nothing is written when it is so already."""

    memory_id: str
    action: Action  # PIN or UNPIN
    request_id: str = ""

    def plan(self, draft: Draft, setting: Setting) -> Written:
        """Raises MemoryNotFound, IllegalTransition, PinnedMemory."""
        before = repeated(draft, self.request_id, self.action)
        if before is not None:
            return Written(*before)
        record = found(draft, setting, self.memory_id)
        lifecycle.check(record, self.action, setting.actor.role, setting.policy)
        if record.pinned == (self.action is Action.PIN):
            return Written(record, 0)
        body = Body(op=self.action, id=record.id, request=request(self.request_id, self.action))
        change = draft.emit(body, setting.now)
        return Written(change.after, change.seq)


@dataclass(frozen=True, slots=True)
class Supersede:
    """Retire the loser in favour of the winner, which must be in use."""

    loser_id: str
    winner_id: str
    request_id: str = ""

    def plan(self, draft: Draft, setting: Setting) -> Superseded:
        """Raises MemoryNotFound, SelfSupersede, IllegalTransition, PinnedMemory, NotLive."""
        before = repeated(draft, self.request_id, "supersede")
        if before is not None:
            return Superseded(before[0], found(draft, setting, self.winner_id), before[1])
        loser = found(draft, setting, self.loser_id)
        winner = found(draft, setting, self.winner_id)
        if loser.id == winner.id:
            raise SelfSupersede(loser.id)
        lifecycle.check(loser, Action.SUPERSEDE, setting.actor.role, setting.policy)
        if loser.pinned:
            raise PinnedMemory(loser.id, Action.SUPERSEDE)
        if winner.status is not Status.ACCEPTED or winner.expired(setting.now):
            state = "expired" if winner.status.live and winner.expired(setting.now) else winner.status.value
            raise NotLive(winner.id, state, "supersede another by")
        body = Body(op=Action.SUPERSEDE, id=loser.id, winner=winner.id, request=request(self.request_id, "supersede"))
        change = draft.emit(body, setting.now)
        return Superseded(change.after, winner, change.seq)


@dataclass(frozen=True, slots=True)
class Expire:
    """Record that memories are past their expires_at; a result for each."""

    ids: Sequence[str]

    def plan(self, draft: Draft, setting: Setting) -> list[Written | MemoryServiceError]:
        """Raises nothing: each id has its own result."""
        return [self._one(draft, setting, memory_id) for memory_id in self.ids]

    def _one(self, draft: Draft, setting: Setting, memory_id: str) -> Written | MemoryServiceError:
        try:
            record = found(draft, setting, memory_id)
            if record.status is Status.EXPIRED:
                return Written(record, 0)
            lifecycle.check(record, Action.EXPIRE, setting.actor.role, setting.policy)
            if not record.expired(setting.now):
                raise NotExpired(record.id, record.expires_at)
        except MemoryServiceError as error:
            return error
        change = draft.emit(Body(op=Action.EXPIRE, id=record.id), setting.now)
        return Written(change.after, change.seq)


@dataclass(frozen=True, slots=True)
class Transition:
    """Take one of the edges that a reviewer or a sweep takes; a rejection needs a reason."""

    memory_id: str
    action: Action  # PROMOTE, REJECT, QUARANTINE or REACCEPT
    note: str = ""

    def plan(self, draft: Draft, setting: Setting) -> Written:
        """Raises MemoryNotFound, IllegalTransition, PinnedMemory, InvalidField."""
        record = found(draft, setting, self.memory_id)
        lifecycle.check(record, self.action, setting.actor.role, setting.policy)
        if self.action is Action.REJECT and not self.note:
            raise InvalidField("note", "a rejection needs a reason")
        body = Body(op=self.action, id=record.id, note=self.note or UNSET)
        change = draft.emit(body, setting.now)
        return Written(change.after, change.seq)


@dataclass(frozen=True, slots=True)
class SetInfo:
    """Change the bank's own settings."""

    changes: InfoChanges

    def plan(self, draft: Draft, setting: Setting) -> BankInfo:
        """Raises InvalidField."""
        info = names.checked_info(structs.replace(draft.info, **set_fields(self.changes)))
        if info != draft.info:
            draft.emit_info(Body(op="bank", info=info), setting.now)
        return info


def set_fields(changes: MemoryChanges | InfoChanges) -> dict[str, object]:
    """The fields that are set, by name."""
    values = ((name, getattr(changes, name)) for name in changes.__struct_fields__)
    return {name: value for name, value in values if value is not UNSET}


def changed_fields(record: Record, changes: MemoryChanges) -> dict[str, object]:
    """The fields but `text` that are set to something else than they are."""
    wanted = set_fields(changes)
    wanted.pop("text", None)
    return {name: value for name, value in wanted.items() if value != getattr(record, name)}
