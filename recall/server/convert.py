"""Records to messages and back. Times are microseconds since the epoch inside, Timestamps outside, UTC in both."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import UNSET

from recall.memory.beginning import History
from recall.memory.record import (
    Actor,
    Evidence,
    HistoryEntry,
    ImportedMemory,
    InfoChanges,
    Kind,
    MemoryChanges,
    NewMemory,
    Outcome,
    PastEvent,
    Policy,
    Record,
    Saved,
    ScopeKind,
    Source,
    SourceKind,
    Status,
)
from recall.v1 import bank_service_pb2, memory_pb2, memory_service_pb2

MICROS = 1_000_000

KIND_OUT: Final = {kind: memory_pb2.Kind.Value(f"KIND_{kind.name}") for kind in Kind}
KIND_IN: Final = {number: kind for kind, number in KIND_OUT.items()}
STATUS_OUT: Final = {status: memory_pb2.Status.Value(f"STATUS_{status.name}") for status in Status}
STATUS_IN: Final = {number: status for status, number in STATUS_OUT.items()}
SOURCE_OUT: Final = {kind: memory_pb2.SourceKind.Value(f"SOURCE_KIND_{kind.name}") for kind in SourceKind}
SOURCE_IN: Final = {number: kind for kind, number in SOURCE_OUT.items()}
POLICY_OUT: Final = {policy: bank_service_pb2.BankPolicy.Value(f"BANK_POLICY_{policy.name}") for policy in Policy}
POLICY_IN: Final = {number: policy for policy, number in POLICY_OUT.items()}
SCOPE_OUT: Final = {kind: bank_service_pb2.ScopeKind.Value(f"SCOPE_KIND_{kind.name}") for kind in ScopeKind}
HISTORY_IN: Final = {
    bank_service_pb2.VACUUM_HISTORY_UNSPECIFIED: History.KEEP,
    bank_service_pb2.VACUUM_HISTORY_KEEP: History.KEEP,
    bank_service_pb2.VACUUM_HISTORY_ARCHIVE: History.ARCHIVE,
}
SCOPE_IN: Final = {number: kind for kind, number in SCOPE_OUT.items()}
SAVE_OUTCOME: Final = {
    outcome: memory_service_pb2.SaveOutcome.Value(f"SAVE_OUTCOME_{outcome.name}")
    for outcome in (Outcome.CREATED, Outcome.REINFORCED, Outcome.REPEATED, Outcome.UPDATED, Outcome.UNCHANGED)
}


def set_time(timestamp: Timestamp, micros: int) -> None:
    """Writes a time into a message's own Timestamp (no object is made for it)."""
    timestamp.seconds, rest = divmod(micros, MICROS)
    timestamp.nanos = rest * 1_000


def micros_of(timestamp: Timestamp) -> int:
    """A Timestamp as microseconds since the epoch, cut to the microsecond before it."""
    return timestamp.seconds * MICROS + timestamp.nanos // 1_000


def memory_message(record: Record, text: str, bank: str) -> memory_pb2.Memory:
    """The message of one memory."""
    message = memory_pb2.Memory()
    fill_memory(message, record, text, bank)
    return message


def fill_memory(message: memory_pb2.Memory, record: Record, text: str, bank: str) -> None:
    """Writes one memory into `message`. On the path of every recall, so it only sets what there is."""
    message.id = record.id
    message.bank = bank
    message.text = text
    message.kind = KIND_OUT[record.kind]
    if record.entities:
        message.entities.extend(record.entities)
    if record.tags:
        message.tags.extend(record.tags)
    if record.author:
        message.author = record.author
    if record.source is not None:
        _fill_source(message.source, record.source)
    message.confidence = record.confidence
    message.corroboration = record.corroboration
    message.pinned = record.pinned
    message.status = STATUS_OUT[record.status]
    set_time(message.created_at, record.created_at)
    set_time(message.updated_at, record.updated_at)
    if record.expires_at:
        set_time(message.expires_at, record.expires_at)
    if record.superseded_by:
        message.superseded_by = record.superseded_by
    if record.predecessor:
        message.predecessor = record.predecessor
    message.revision = record.revision
    if record.metadata:
        message.metadata.update(record.metadata)
    if record.title:
        message.title = record.title
    if record.moved_to:
        message.moved_to = record.moved_to
    if record.replaces:
        message.replaces.extend(record.replaces)
    for one in record.evidence:
        _fill_evidence(message.evidence.add(), one)


def _fill_evidence(message: memory_pb2.Evidence, evidence: Evidence) -> None:
    message.ref, message.measure = evidence.ref, evidence.measure
    if evidence.before is not None:
        message.before = evidence.before
    if evidence.after is not None:
        message.after = evidence.after


def evidence_values(message: Any) -> tuple[Evidence, ...]:
    """What a new or changed memory says of evaluations."""
    return tuple(
        Evidence(
            ref=one.ref,
            measure=one.measure,
            before=one.before if one.HasField("before") else None,
            after=one.after if one.HasField("after") else None,
        )
        for one in message.evidence
    )


def _fill_source(message: memory_pb2.Source, source: Source) -> None:
    if source.kind is not None:
        message.kind = SOURCE_OUT[source.kind]
    message.id = source.id
    message.session = source.session
    if source.position is not None:
        message.position = source.position
    message.agent = source.agent
    message.uri = source.uri


def source_value(message: Any) -> Source | None:
    """The source of a new or imported memory; None when nothing of it is said."""
    if not message.HasField("source"):
        return None
    given = message.source
    source = Source(
        kind=SOURCE_IN.get(given.kind),
        id=given.id,
        session=given.session,
        position=given.position if given.HasField("position") else None,
        agent=given.agent,
        uri=given.uri,
    )
    return None if source == Source() else source


def new_memory(message: memory_service_pb2.NewMemory) -> NewMemory:
    """What the caller says of a new memory."""
    return NewMemory(
        text=message.text,
        kind=KIND_IN.get(message.kind, Kind.FACT),
        entities=tuple(message.entities),
        tags=tuple(message.tags),
        author=message.author,
        source=source_value(message),
        confidence=message.confidence if message.HasField("confidence") else 1.0,
        pinned=message.pinned,
        created_at=micros_of(message.created_at) if message.HasField("created_at") else None,
        expires_at=micros_of(message.expires_at) if message.HasField("expires_at") else 0,
        metadata=dict(message.metadata),
        title=message.title,
        evidence=evidence_values(message),
    )


def imported_memory(message: memory_pb2.Memory) -> ImportedMemory:
    """A whole record from elsewhere."""
    return ImportedMemory(
        text=message.text,
        id=message.id,
        kind=KIND_IN.get(message.kind, Kind.FACT),
        entities=tuple(message.entities),
        tags=tuple(message.tags),
        author=message.author,
        source=source_value(message),
        confidence=message.confidence if message.HasField("confidence") else 1.0,
        corroboration=message.corroboration,
        pinned=message.pinned,
        status=STATUS_IN.get(message.status, Status.ACCEPTED),
        created_at=micros_of(message.created_at) if message.HasField("created_at") else None,
        updated_at=micros_of(message.updated_at) if message.HasField("updated_at") else None,
        expires_at=micros_of(message.expires_at) if message.HasField("expires_at") else 0,
        superseded_by=message.superseded_by,
        predecessor=message.predecessor,
        revision=message.revision or 1,
        metadata=dict(message.metadata),
        title=message.title,
        replaces=tuple(message.replaces),
        evidence=evidence_values(message),
    )


def past_event(message: memory_service_pb2.MemoryEvent) -> PastEvent:
    """An event of an imported memory."""
    return PastEvent(
        seq=message.seq,
        at=micros_of(message.at),
        actor=Actor(message.actor, message.role),
        op=message.op,
        note=message.note,
        memory=imported_memory(message.memory),
    )


def memory_changes(message: memory_pb2.Memory, paths: frozenset[str]) -> MemoryChanges:
    """New values of the fields that the mask names."""

    def named(path: str, value: Any) -> Any:
        return value if path in paths else UNSET

    return MemoryChanges(
        text=named("text", message.text),
        kind=named("kind", KIND_IN.get(message.kind, Kind.FACT)),
        entities=named("entities", tuple(message.entities)),
        tags=named("tags", tuple(message.tags)),
        author=named("author", message.author),
        confidence=named("confidence", message.confidence if message.HasField("confidence") else 1.0),
        expires_at=named("expires_at", micros_of(message.expires_at) if message.HasField("expires_at") else 0),
        metadata=named("metadata", dict(message.metadata)),
        title=named("title", message.title),
        evidence=named("evidence", evidence_values(message)),
    )


def info_changes(bank: Any, given: frozenset[str]) -> InfoChanges:
    """New values of the bank settings that are given; `bank` is a Bank or a create request."""

    def named(path: str, value: Any) -> Any:
        return value if path in given else UNSET

    return InfoChanges(
        description=named("description", bank.description),
        half_life_days=named("half_life_days", bank.half_life_days),
        default_limit=named("default_limit", bank.default_limit),
        user_handle=named("user_handle", bank.user_handle),
        policy=named("policy", POLICY_IN.get(bank.policy, Policy.OPEN)),
        scope_kind=named("scope_kind", SCOPE_IN.get(bank.scope_kind)),
        scope_ref=named("scope_ref", bank.scope_ref),
        title=named("title", bank.title),
        preamble=named("preamble", bank.preamble),
        agents=named("agents", tuple(bank.agents)),
    )


def saved_message(saved: Saved, text: str, bank: str) -> memory_service_pb2.SaveResponse:
    """The answer to one save."""
    response = memory_service_pb2.SaveResponse(outcome=SAVE_OUTCOME[saved.outcome], seq=saved.seq)
    fill_memory(response.memory, saved.record, text, bank)
    return response


def event_message(entry: HistoryEntry, bank: str) -> memory_service_pb2.MemoryEvent:
    """One event of a memory's history."""
    message = memory_service_pb2.MemoryEvent(
        seq=entry.seq, actor=entry.actor.id, role=entry.actor.role, op=entry.op, note=entry.note
    )
    set_time(message.at, entry.at)
    fill_memory(message.memory, entry.record, entry.text, bank)
    return message


def trashed_message(name: str, trash_id: str, deleted_at: int) -> bank_service_pb2.TrashedBank:
    """A bank in the trash."""
    message = bank_service_pb2.TrashedBank(name=name, trash_id=trash_id)
    set_time(message.deleted_at, deleted_at)
    return message


def is_set(changes: InfoChanges) -> bool:
    """Whether any bank setting is to be changed."""
    return any(value is not UNSET for value in msgspec.structs.astuple(changes))
