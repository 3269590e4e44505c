"""What a request of ReviewService must be."""

from __future__ import annotations

from typing import Any

from recall.memory import names
from recall.memory.names import LIMITS
from recall.server import checks, checks_memory
from recall.server.checks import Check
from recall.v1 import memory_pb2
from recall.v1 import review_service_pb2 as pb

MOST_DECISIONS = 100
MAX_PAGE = 100
MOST_WHY = 1_000
"""Characters of a reason that is put together with other facts to a note."""
QUEUES = (memory_pb2.STATUS_UNSPECIFIED, memory_pb2.STATUS_NOMINATED, memory_pb2.STATUS_QUARANTINED)
NEED_A_REASON = (pb.DECISION_REJECT, pb.DECISION_QUARANTINE)


def nominate(request: pb.NominateRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.request_id(check, request.request_id)
    if checks.present(check, request, "memory"):
        checks_memory.new_memory(check.inside("memory"), request.memory)
    check.done()


def edit(request: pb.EditRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks_memory.changes(check, request)
    checks.at_most(check, request.note, LIMITS.note, "note")
    check.done()


def replace(request: pb.ReplaceRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.request_id(check, request.request_id)
    checks.int_between(check, len(request.replaced_ids), 1, LIMITS.replaced, "replaced_ids")
    for place, replaced in enumerate(request.replaced_ids[: LIMITS.replaced]):
        checks.required_id(check, replaced, f"replaced_ids[{place}]")
    checks.at_most(check, request.note, LIMITS.note, "note")
    merged = request.WhichOneof("merged")
    check.require(merged is not None, "merged", "is required: a memory or a proposal_id")
    if merged == "memory":
        checks_memory.new_memory(check.inside("memory"), request.memory)
    elif merged == "proposal_id":
        checks.required_id(check, request.proposal_id, "proposal_id")
    check.done()


def move(request: pb.MoveRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.bank_name(check, request.to_bank, "to_bank")
    check.require(request.to_bank != request.bank, "to_bank", "is the bank that the memory is in")
    checks.required_id(check, request.id)
    checks.at_most(check, request.note, LIMITS.note, "note")
    check.done()


def preference(request: pb.SavePreferenceRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.request_id(check, request.request_id)
    checks.as_kept(check, names.checked_text, request.text)
    checks.as_kept(check, names.checked_line, "title", request.title, LIMITS.title)
    checks.as_kept(check, names.checked_names, "tags", request.tags, LIMITS.tag)
    check.done()


def source(request: Any, *fields: str) -> None:
    """Raises InvalidRequest with every bad field of a request about a source; `fields` hold free text."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.known(check, request.source_kind, memory_pb2.SourceKind, "source_kind")
    check.require(bool(request.source_kind), "source_kind", "is required")
    check.require(bool(request.source_id.strip()), "source_id", "is required")
    checks.at_most(check, request.source_id, LIMITS.source_id, "source_id")
    for field in fields:
        checks.at_most(
            check, getattr(request, field), LIMITS.source_id if field == "superseded_by" else MOST_WHY, field
        )
    check.done()


def one(request: Any, field: str) -> None:
    """Raises InvalidRequest with every bad field of a single decision; `field` holds the note or the reason."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.required_id(check, request.id)
    note = getattr(request, field)
    checks.at_most(check, note, LIMITS.note, field)
    check.require(field != "reason" or bool(note.strip()), field, "is required: say why")
    check.done()


def batch(request: pb.DecideBatchRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.int_between(check, len(request.decisions), 1, MOST_DECISIONS, "decisions")
    for place, decision in enumerate(request.decisions[:MOST_DECISIONS]):
        inside = check.inside(f"decisions[{place}]")
        checks.required_id(inside, decision.id)
        checks.at_most(inside, decision.note, LIMITS.note, "note")
        checks.known(inside, decision.decision, pb.Decision, "decision")
        inside.require(decision.decision != pb.DECISION_UNSPECIFIED, "decision", "is required")
        told = decision.decision not in NEED_A_REASON or bool(decision.note.strip())
        inside.require(told, "note", "is required: say why")
    check.done()


def queue(request: pb.ListQueueRequest) -> None:
    """Raises InvalidRequest with every bad field; the page token is checked where it is read."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.int_between(check, request.page_size, 0, MAX_PAGE, "page_size")
    ok = request.status in (*QUEUES, memory_pb2.STATUS_ACCEPTED)
    check.require(ok, "status", "must be NOMINATED, QUARANTINED or ACCEPTED")
    check.done()
