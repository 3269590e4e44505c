"""What a request of MemoryService must be.

What a memory's own fields may hold is said in `recall.memory.names` alone; here each field is tried by itself, so that
every bad field of a request is told at once, and what only the wire can get wrong is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recall.memory import names
from recall.memory.names import LIMITS
from recall.server import checks
from recall.server.checks import Check
from recall.server.convert import evidence_values, source_value
from recall.v1 import memory_pb2
from recall.v1 import memory_service_pb2 as pb

CHANGEABLE = ("text", "kind", "entities", "tags", "author", "confidence", "expires_at", "metadata", "title", "evidence")


def save(request: pb.SaveRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.request_id(check, request.request_id)
    if checks.present(check, request, "memory"):
        new_memory(check.inside("memory"), request.memory)
    check.done()


def save_batch(request: pb.SaveBatchRequest) -> None:
    """Raises InvalidRequest for what is wrong with the batch; a bad item is told in its own result."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.request_id(check, request.request_id)
    checks.int_between(check, len(request.memories), 1, checks.MAX_BATCH, "memories")
    check.done()


def batch_item(memory: pb.NewMemory, place: int) -> None:
    """Raises InvalidRequest with every bad field of one item of a batch."""
    check = Check()
    new_memory(check.inside(f"memories[{place}]"), memory)
    check.done()


def by_id(request: pb.GetRequest | pb.GetHistoryRequest) -> None:
    """Raises InvalidRequest unless bank and id are given."""
    check = Check()
    _bank_and_id(check, request)
    check.done()


def write_by_id(request: pb.DeleteRequest | pb.PinRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    _bank_and_id(check, request)
    checks.request_id(check, request.request_id)
    check.done()


def supersede(request: pb.SupersedeRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.required_id(check, request.loser_id, "loser_id")
    checks.required_id(check, request.winner_id, "winner_id")
    checks.request_id(check, request.request_id)
    check.done()


def bank_only(request: pb.ListTagsRequest | pb.ExportRequest) -> None:
    """Raises InvalidRequest unless the request names a bank."""
    check = Check()
    checks.bank_name(check, request.bank)
    check.done()


def list_memories(request: pb.ListRequest) -> None:
    """Raises InvalidRequest with every bad field; the page token is checked where it is read."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.int_between(check, request.page_size, 0, checks.MAX_PAGE, "page_size")
    checks.filter_tags(check, request.tags)
    checks.all_known(check, request.kinds, memory_pb2.Kind, "kinds")
    checks.all_known(check, request.statuses, memory_pb2.Status, "statuses")
    checks.known(check, request.source_kind, memory_pb2.SourceKind, "source_kind")
    checks.at_most(check, request.source_id, LIMITS.source_id, "source_id")
    checks.at_most(check, request.session, LIMITS.session, "session")
    checks.time_range(check, request)
    check.done()


def update(request: pb.UpdateRequest) -> None:
    """Raises InvalidRequest with every bad field; values of fields outside the mask do not matter."""
    check = Check()
    checks.request_id(check, request.request_id)
    changes(check, request)
    check.done()


def changes(check: Check, request: Any) -> None:
    """Notes what is wrong with the bank, the mask and the fields that it names."""
    checks.bank_name(check, request.bank)
    checks.mask(check, request.update_mask.paths, CHANGEABLE)
    if checks.present(check, request, "memory"):
        inside = check.inside("memory")
        checks.required_id(inside, request.memory.id)
        _fields(inside, request.memory, request.update_mask.paths)


def first_import(request: pb.ImportRequest) -> None:
    """Raises InvalidRequest unless the first message of an import names the bank."""
    check = Check()
    checks.bank_name(check, request.bank)
    check.done()


def import_record(request: pb.ImportRequest) -> None:
    """Raises InvalidRequest with every bad field of one record."""
    check = Check()
    if checks.present(check, request, "memory"):
        inside = check.inside("memory")
        _fields(inside, request.memory, CHANGEABLE)
        _source_and_times(inside, request.memory)
        checks.at_most(inside, request.memory.id, checks.MAX_ID, "id")
        checks.known(inside, request.memory.status, memory_pb2.Status, "status")
        if request.memory.HasField("updated_at"):
            checks.timestamp(inside, request.memory.updated_at, "updated_at")
    for event in request.events:
        _past_event(check.inside("events"), event)
    check.done()


def _past_event(check: Check, event: pb.MemoryEvent) -> None:
    """What the bank's own checks of an import cannot see: values that have no counterpart there."""
    check.require(event.seq <= names.LIMITS.seq, "seq", f"must be at most {names.LIMITS.seq}")
    checks.present(check, event, "memory")
    checks.timestamp(check, event.at, "at")
    memory = event.memory
    inside = check.inside("memory")
    checks.known(inside, memory.kind, memory_pb2.Kind, "kind")
    checks.known(inside, memory.status, memory_pb2.Status, "status")
    for name in ("updated_at", "expires_at"):
        if memory.HasField(name):
            checks.timestamp(inside, getattr(memory, name), name)
    _source_and_times(inside, memory)


def new_memory(check: Check, memory: pb.NewMemory) -> None:
    """Notes every bad field of a new memory."""
    _fields(check, memory, CHANGEABLE)
    _source_and_times(check, memory)


def _bank_and_id(check: Check, request: Any) -> None:
    checks.bank_name(check, request.bank)
    checks.required_id(check, request.id)


def _fields(check: Check, memory: Any, given: Sequence[str]) -> None:
    """The fields that a caller may set and change, as far as they are given."""
    if "text" in given:
        checks.as_kept(check, names.checked_text, memory.text)
    if "kind" in given:
        checks.known(check, memory.kind, memory_pb2.Kind, "kind")
    if "entities" in given:
        checks.as_kept(check, names.checked_names, "entities", memory.entities, LIMITS.entity)
    if "tags" in given:
        checks.as_kept(check, names.checked_names, "tags", memory.tags, LIMITS.tag)
    if "author" in given:
        checks.as_kept(check, names.checked_line, "author", memory.author, LIMITS.author)
    if "confidence" in given:
        checks.as_kept(check, names.checked_confidence, memory.confidence)
    if "expires_at" in given and memory.HasField("expires_at"):
        checks.timestamp(check, memory.expires_at, "expires_at")
    if "metadata" in given:
        checks.as_kept(check, names.checked_metadata, memory.metadata)
    if "title" in given:
        checks.as_kept(check, names.checked_line, "title", memory.title, LIMITS.title)
    if "evidence" in given:
        checks.as_kept(check, names.checked_evidence, evidence_values(memory))


def _source_and_times(check: Check, memory: Any) -> None:
    if memory.HasField("created_at"):
        checks.timestamp(check, memory.created_at, "created_at")
    if memory.HasField("source"):
        checks.known(check.inside("source"), memory.source.kind, memory_pb2.SourceKind, "kind")
        source = source_value(memory)
        if source is not None:
            checks.as_kept(check, names.checked_source, source)
