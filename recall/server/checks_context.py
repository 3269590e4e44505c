"""What a request of ContextService must be."""

from __future__ import annotations

from recall.server import checks
from recall.server.checks import Check
from recall.v1 import context_service_pb2 as pb

MOST_NAMED = 16
MOST_QUERY = 32_000
MOST_REF = 256
MOST_CHARACTERS = 100_000
REFS = ("agent", "user", "workflow", "mission", "project", "session")


def assemble(request: pb.AssembleRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    _turn(check, request)
    check.done()


def preview(request: pb.PreviewRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    if checks.present(check, request, "turn"):
        _turn(check.inside("turn"), request.turn)
    check.done()


def _turn(check: Check, turn: pb.AssembleRequest) -> None:
    checks.int_between(check, len(turn.banks), 0, MOST_NAMED, "banks")
    for place, name in enumerate(turn.banks[:MOST_NAMED]):
        checks.bank_name(check, name, f"banks[{place}]")
    check.require(bool(turn.banks) or not turn.named_only, "banks", "must name a bank where named_only is set")
    for ref in REFS:
        checks.at_most(check, getattr(turn, ref), MOST_REF, ref)
    checks.at_most(check, turn.query, MOST_QUERY, "query")
    checks.at_most(check, turn.prefix_hash, checks.MAX_ID, "prefix_hash")
    check.require(not (turn.since_last and turn.prefix_hash), "since_last", "cannot be set beside prefix_hash")
    check.require(bool(turn.session) or not turn.since_last, "session", "is required where since_last is set")
    checks.time_budget(check, turn)
    budgets, inside = turn.budgets, check.inside("budgets")
    checks.int_between(inside, budgets.rule_characters, 0, MOST_CHARACTERS, "rule_characters")
    checks.int_between(inside, budgets.digest_characters, 0, MOST_CHARACTERS, "digest_characters")
    checks.int_between(inside, budgets.memories, 0, checks.MAX_LIMIT, "memories")
    checks.int_between(inside, budgets.memory_tokens, 0, MOST_CHARACTERS, "memory_tokens")
