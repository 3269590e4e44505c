"""A state as the events that a log begins with anew. See `beginning`; folding them gives that very state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from msgspec import UNSET, UnsetType

from recall.memory.beginning import KEPT, VACUUM, VACUUMED, Asked, History, KeptRule, Vacuum, kept_at
from recall.memory.events import Body, Event, Past, Sum
from recall.memory.fold import DECISIONS
from recall.memory.log import FileLog
from recall.memory.record import Kind, Record, Status
from recall.memory.state import State

_Value = TypeVar("_Value")
_STEPS = DECISIONS | {"nominate"}


def beginning(state: State, log: FileLog, head: Sum, history: History) -> Iterator[Body]:
    """The events in order. Texts are read from the log as they are asked for. Raises Damaged, StorageFailure."""
    yield Body(op=VACUUM, vacuum=_bank(state, head, history))
    for record in state.records:
        yield _kept(record, state.last_event(record.ordinal), log)
    yield Body(op=VACUUMED, holders=_holders(state) or UNSET)


def _bank(state: State, head: Sum, history: History) -> Vacuum:
    asked = (
        Asked(one, answered.verb, tuple((item, *found) for item, found in answered.items.items()))
        for one, answered in state.requests.items()
    )
    return Vacuum(
        seqs=state.last_seq,
        head=head,
        follow=len(state.records) + 1,
        history=history,
        info=state.info,
        rules=tuple(KeptRule(one.name, one.revision, one.at, one.seqs, one.text) for one in state.rules.values()),
        requests=tuple(asked),
        runs={run: tuple(seqs) for run, seqs in state.runs.items()},
        undone=tuple(sorted(state.undone)),
        mined=state.mined,
    )


def _kept(record: Record, last: int, log: FileLog) -> Body:
    return Body(
        op=KEPT,
        id=record.id,
        of=last,
        text=log.text(record.text_seq),
        kind=_unless(record.kind, Kind.FACT),
        entities=record.entities or UNSET,
        tags=record.tags or UNSET,
        author=record.author or UNSET,
        source=UNSET if record.source is None else record.source,
        confidence=_unless(record.confidence, 1.0),
        pinned=record.pinned or UNSET,
        created_at=record.created_at,
        updated_at=record.updated_at,
        expires_at=record.expires_at or UNSET,
        metadata=record.metadata or UNSET,
        predecessor=record.predecessor or UNSET,
        title=record.title or UNSET,
        evidence=record.evidence or UNSET,
        replaces=record.replaces or UNSET,
        winner=record.superseded_by or UNSET,
        status=_unless(record.status, Status.ACCEPTED),
        corroboration=record.corroboration or UNSET,
        revision=_unless(record.revision, 1),
        review=UNSET if record.review is None else record.review,
        to=record.moved_to or UNSET,
        past=_steps(record, log) or UNSET,
    )


def _unless(value: _Value, usual: _Value) -> _Value | UnsetType:
    return UNSET if value == usual else value


def _steps(record: Record, log: FileLog) -> tuple[Past, ...]:
    """Who nominated, promoted and decided: so that it is known where the events that say so were taken away."""
    review = record.review
    seqs = sorted({review.nominated, review.promoted, review.decided} - {0}) if review is not None else []
    steps = {step.seq: step for seq in seqs for step in _told(log.event(_readable(seq, record, log)))}
    return tuple(steps.values())


def _readable(seq: int, record: Record, log: FileLog) -> int:
    return seq if seq > log.base or seq >= log.first_seq else kept_at(record.ordinal, log.first_seq)


def _told(event: Event) -> Iterator[Past]:
    if event.past is UNSET:
        yield Past(seq=event.seq, at=event.at, actor=event.actor, op=event.op, note=event.note or "")
        return
    for past in event.past:
        if past.op in _STEPS:
            yield Past(seq=past.seq, at=past.at, actor=past.actor, op=past.op, note=past.note)


def _holders(state: State) -> dict[str, str]:
    """Who holds a text, where folding the memories in their order would say otherwise; "" for nobody."""
    plain: dict[bytes, int] = {}
    for record in state.records:
        other = plain.get(record.text_hash)
        if other is None or record.status.live or not state.records[other].status.live:
            plain[record.text_hash] = record.ordinal
    held = {digest: state.by_text.get(digest) for digest in plain}
    return {
        digest.hex(): "" if holder is None else state.records[holder].id
        for digest, holder in held.items()
        if holder != plain[digest]
    }
