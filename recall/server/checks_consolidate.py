"""What a request of ConsolidateService must be."""

from __future__ import annotations

from recall.memory.names import LIMITS
from recall.server import checks
from recall.server.checks import Check
from recall.v1 import consolidate_service_pb2 as pb
from recall.v1 import memory_pb2

MOST_RUNS = 1_000
MOST_SOURCES = 1_000
MOST_SUPERSEDES = 1_000_000


def consolidate(request: pb.ConsolidateRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    optional_bank(check, request.bank)
    for field in ("merge_cosine", "propose_cosine"):
        if request.HasField(field):
            checks.float_between(check, getattr(request, field), -1.0, 1.0, field)
    if request.HasField("max_supersedes"):
        checks.int_between(check, request.max_supersedes, 0, MOST_SUPERSEDES, "max_supersedes")
    check.done()


def status(request: pb.GetConsolidateStatusRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    optional_bank(check, request.bank)
    check.done()


def list_runs(request: pb.ListRunsRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    optional_bank(check, request.bank)
    checks.int_between(check, request.limit, 0, MOST_RUNS, "limit")
    check.done()


def one_run(request: pb.GetRunRequest | pb.UndoRunRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    optional_bank(check, request.bank)
    checks.required_id(check, request.run, "run")
    check.done()


def sweep(request: pb.SweepRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.bank)
    check.require(len(request.fallen) <= MOST_SOURCES, "fallen", f"must be at most {MOST_SOURCES} sources")
    for place, source in enumerate(request.fallen[:MOST_SOURCES]):
        checks.known(check, source.kind, memory_pb2.SourceKind, f"fallen[{place}].kind")
        check.require(bool(source.id), f"fallen[{place}].id", "is required")
        checks.at_most(check, source.id, LIMITS.source_id, f"fallen[{place}].id")
    check.done()


def optional_bank(check: Check, name: str) -> None:
    """A bank's name, where none means all."""
    if name:
        checks.bank_name(check, name)
