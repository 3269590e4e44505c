"""Saving: what becomes of a text that is said to a bank.

| the bank has | then |
|---|---|
| the same text, live | it is reinforced: corroboration + 1, tags added, pinned only ever turned on |
| the same source (kind and id), live, with another text | that memory is updated in place: same id, new text |
| the same text, no longer live | a new memory that names the old one as its predecessor |
| the same text or source in a memory past its expires_at | that one is recorded as expired, then as above |
| neither | a new memory |

The first row wins over the second. In a governed bank the save of an agent or a job is a nomination. A nomination
never reinforces or changes what is in use already: it converges on it without a write.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET, UnsetType, structs

from recall.memory import lifecycle, names
from recall.memory.commands import Setting, repeated, request
from recall.memory.errors import MemoryServiceError
from recall.memory.events import Body, Request
from recall.memory.lifecycle import Action
from recall.memory.record import (
    Kind,
    MemoryId,
    NewMemory,
    Outcome,
    Record,
    Saved,
    Status,
)
from recall.memory.state import Draft

MICROS_A_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Item:
    """A checked memory and the hash of its text, worked out before the bank is asked."""

    memory: NewMemory
    text_hash: bytes
    new_id: MemoryId

    @classmethod
    def of(cls, memory: NewMemory, new_id: MemoryId) -> "Item | MemoryServiceError":
        """The item, or why it cannot be taken."""
        try:
            checked = names.checked_memory(memory)
        except MemoryServiceError as error:
            return error
        return cls(checked, names.text_hash(checked.text), new_id)

    def unpinned(self) -> "Item":
        """The same without a pin: who may only nominate may not raise what is nominated either."""
        return Item(structs.replace(self.memory, pinned=False), self.text_hash, self.new_id)


@dataclass(frozen=True, slots=True)
class Replaced:
    """Memories that a new one takes the place of, and how often they were said in all."""

    ids: tuple[str, ...] = ()
    gain: int = 0


NOTHING = Replaced()


@dataclass(frozen=True, slots=True)
class Save:
    """Save texts, each on its own; a result for each, in order. `action` is SAVE or NOMINATE."""

    items: Sequence[Item | MemoryServiceError]
    action: Action = Action.SAVE
    request_id: str = ""

    def plan(self, draft: Draft, setting: Setting) -> list[Saved | MemoryServiceError]:
        """Raises InvalidField for a request_id of another verb; what concerns one item is its result."""
        return [self._result(draft, setting, place, item) for place, item in enumerate(self.items)]

    def _result(
        self, draft: Draft, setting: Setting, place: int, item: Item | MemoryServiceError
    ) -> Saved | MemoryServiceError:
        before = repeated(draft, self.request_id, self.action, place)
        if before is not None:
            return Saved(before[0], Outcome.REPEATED, before[1])
        if isinstance(item, MemoryServiceError):
            return item
        try:
            return self._save(draft, setting, item, request(self.request_id, self.action, place))
        except MemoryServiceError as error:
            return error

    def _save(self, draft: Draft, setting: Setting, item: Item, asked: Request | UnsetType) -> Saved:
        action = lifecycle.birth(self.action, setting.actor.role, setting.policy)
        if action is not self.action:
            item = item.unpinned()
        holder = draft.text_holder(item.text_hash)
        if holder is not None and in_use(holder, setting.now):
            return self._again(action, draft, setting, holder, item, asked)
        provenance = item.memory.source.provenance if item.memory.source is not None else None
        same_source = None if provenance is None else draft.source_holder(provenance)
        if same_source is not None and in_use(same_source, setting.now):
            return self._in_place(action, draft, setting, same_source, item, asked)
        lifecycle.target(item.new_id, None, action, setting.actor.role, setting.policy)
        return mint(draft, setting, item, action, asked, (holder, same_source))

    def _again(
        self, action: Action, draft: Draft, setting: Setting, holder: Record, item: Item, asked: Request | UnsetType
    ) -> Saved:
        if action is Action.NOMINATE and holder.status is not Status.NOMINATED:
            return Saved(holder, Outcome.UNCHANGED, 0)
        return reinforce(draft, setting, holder, item.memory, asked)

    def _in_place(
        self, action: Action, draft: Draft, setting: Setting, holder: Record, item: Item, asked: Request | UnsetType
    ) -> Saved:
        if action is Action.NOMINATE and holder.status is not Status.NOMINATED:
            return Saved(holder, Outcome.UNCHANGED, 0)
        lifecycle.check(holder, Action.UPDATE, setting.actor.role, setting.policy)
        memory = item.memory
        body = Body(
            op=Action.UPDATE,
            id=holder.id,
            text=memory.text,
            kind=memory.kind,
            entities=memory.entities,
            tags=with_tags(holder.tags, memory.tags),
            author=memory.author,
            source=UNSET if memory.source is None else memory.source,
            confidence=memory.confidence,
            pinned=True if memory.pinned else UNSET,
            created_at=UNSET if memory.created_at is None else memory.created_at,
            expires_at=memory.expires_at,
            metadata=memory.metadata,
            title=memory.title,
            evidence=memory.evidence,
            request=asked,
        )
        change = draft.emit(body, setting.now)
        return Saved(change.after, Outcome.UPDATED, change.seq)


def with_episode_expiry(memory: NewMemory, now: int, days: float) -> NewMemory:
    """An episode that names no end ends so many days after it is saved; 0 days: never. Others are as they are."""
    if memory.kind is not Kind.EPISODE or memory.expires_at != 0 or days == 0:
        return memory
    return structs.replace(memory, expires_at=now + round(days * MICROS_A_DAY))


def in_use(record: Record, now: int) -> bool:
    """Live and not past expires_at."""
    return record.status.live and not record.expired(now)


def with_tags(kept: tuple[str, ...], added: tuple[str, ...]) -> tuple[str, ...]:
    """The old tags, then new ones as far as the limit allows."""
    return tuple(dict.fromkeys(kept + added))[: names.LIMITS.names]


def reinforce(draft: Draft, setting: Setting, holder: Record, memory: NewMemory, asked: Request | UnsetType) -> Saved:
    """The same text was said again."""
    lifecycle.check(holder, Action.REINFORCE, setting.actor.role, setting.policy)
    tags = with_tags(holder.tags, memory.tags)
    body = Body(
        op=Action.REINFORCE,
        id=holder.id,
        tags=UNSET if tags == holder.tags else tags,
        pinned=True if memory.pinned and not holder.pinned else UNSET,
        request=asked,
    )
    change = draft.emit(body, setting.now)
    return Saved(change.after, Outcome.REINFORCED, change.seq)


def mint(
    draft: Draft,
    setting: Setting,
    item: Item,
    action: Action,
    asked: Request | UnsetType,
    before: Sequence[Record | None],
    replaced: Replaced = NOTHING,
) -> Saved:
    """A new memory. Of the memories `before` it, those still live are past their time, which is recorded first."""
    gone = list({record.id: record for record in before if record is not None}.values())
    for record in gone:
        if record.status.live:
            draft.emit(Body(op=Action.EXPIRE, id=record.id), setting.now)
    change = draft.emit(_new_body(item, action, gone[0].id if gone else "", asked, replaced), setting.now)
    return Saved(change.after, Outcome.CREATED, change.seq)


def _new_body(item: Item, action: Action, predecessor: str, asked: Request | UnsetType, replaced: Replaced) -> Body:
    memory = item.memory
    return Body(
        op=action,
        id=item.new_id,
        text=memory.text,
        kind=UNSET if memory.kind is Kind.FACT else memory.kind,
        entities=memory.entities or UNSET,
        tags=memory.tags or UNSET,
        author=memory.author or UNSET,
        source=UNSET if memory.source is None else memory.source,
        confidence=UNSET if memory.confidence == 1.0 else memory.confidence,
        pinned=True if memory.pinned else UNSET,
        created_at=UNSET if memory.created_at is None else memory.created_at,
        expires_at=memory.expires_at or UNSET,
        metadata=memory.metadata or UNSET,
        title=memory.title or UNSET,
        evidence=memory.evidence or UNSET,
        replaces=replaced.ids or UNSET,
        corroboration=replaced.gain or UNSET,
        predecessor=predecessor or UNSET,
        request=asked,
    )
