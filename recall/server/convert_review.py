"""What reviews answer, as messages of the contract."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from google.protobuf.timestamp_pb2 import Timestamp

from recall.memory.bank import Bank
from recall.memory.deciding import Decided
from recall.memory.record import HistoryEntry, Kind, NewMemory, Record, Source, SourceKind
from recall.memory.reviewing import standing_of
from recall.memory.standing import Step
from recall.review.likeness import Alike, word_diff
from recall.review.visible import visible
from recall.server import convert
from recall.v1 import memory_pb2
from recall.v1 import review_service_pb2 as pb


def preference(request: pb.SavePreferenceRequest, user: str) -> NewMemory:
    """What a user says of themselves: nothing but the text, its heading and tags is theirs to choose."""
    return NewMemory(
        text=request.text,
        kind=Kind.PREFERENCE,
        tags=tuple(request.tags),
        author=user,
        source=Source(kind=SourceKind.MANUAL),
        title=request.title,
    )


def with_standing(bank: Bank, record: Record) -> memory_pb2.Memory:
    """A memory, and who put it where it is."""
    message = convert.memory_message(record, bank.text(record), bank.name)
    if record.review is None:
        return message
    found, told = standing_of(bank, record), message.standing
    if found.nominated is not None:
        told.nominated_by = _told(found.nominated, told.nominated_at)
    if found.promoted is not None:
        told.promoted_by = _told(found.promoted, told.promoted_at)
    if found.decided is not None:
        told.decision, told.note = found.decided.op, visible(found.decided.note)
        told.decided_by = _told(found.decided, told.decided_at)
    return message


def _told(step: Step, at: Timestamp) -> str:
    convert.set_time(at, step.at)
    return step.actor.id


def decided_message(bank: Bank, decided: Decided, twin: Alike | None) -> pb.Decided:
    """What a decision did; `twin` is the near-duplicate it was made in spite of."""
    text = bank.text(decided.record)
    message = pb.Decided(seq=decided.seq, already_decided=decided.already)
    convert.fill_memory(message.memory, decided.record, text, bank.name)
    if twin is not None:
        message.duplicate.CopyFrom(similar(twin, text))
    return message


def queue_entry(bank: Bank, record: Record, alike: Sequence[Alike]) -> pb.QueueEntry:
    """A memory that waits, with what a person needs for a decision."""
    events = bank.history(record.id)
    text, last = events[-1].text, _last_move(events)
    entry = pb.QueueEntry(actor=last.actor.id, role=last.actor.role, note=visible(last.note))
    entry.memory.CopyFrom(with_standing(bank, record))
    entry.memory.text = visible(text)
    if events[0].text != text:
        entry.original_text = visible(events[0].text)
    entry.similar.extend(similar(one, text) for one in alike)
    return entry


def _last_move(events: Sequence[HistoryEntry]) -> HistoryEntry:
    """The event that brought a memory to where it is: the last that changed its status."""
    last = events[0]
    for before, event in itertools.pairwise(events):
        if event.record.status is not before.record.status:
            last = event
    return last


def similar(alike: Alike, text: str) -> pb.Similar:
    """A memory in use, beside a text that it is like."""
    diff = visible(word_diff(alike.text, text))
    return pb.Similar(id=alike.record.id, text=visible(alike.text), score=alike.score, diff=diff)
