"""Turns in, what they are given out."""

from __future__ import annotations

from typing import Final

from recall.context.marking import without_blocks
from recall.context.settings import ContextSettings
from recall.context.turn import Assembled, Budgets, Mount, Omission, PrefixState, Turn
from recall.server.convert_recall import REASON_OUT
from recall.v1 import context_service_pb2 as pb

STATE_OUT: Final = {state: pb.PrefixState.Value(f"PREFIX_STATE_{state.name}") for state in PrefixState}
OMISSION_OUT: Final = {one: pb.OmissionReason.Value(f"OMISSION_REASON_{one.name}") for one in Omission}
WEAKEST_FIRST: Final = ("lexical", "semantic", "hybrid")


def turn(request: pb.AssembleRequest, settings: ContextSettings) -> Turn:
    """What the request asks; the settings hold where it does not say."""
    given = request.budgets
    return Turn(
        budgets=Budgets(
            given.rule_characters or settings.rule_characters,
            given.digest_characters or settings.digest_characters,
            given.memories or settings.memories,
            given.memory_tokens or settings.memory_tokens,
        ),
        banks=tuple(request.banks),
        agent=request.agent,
        user=request.user,
        workflow=request.workflow,
        mission=request.mission,
        project=request.project,
        session=request.session,
        query=without_blocks(request.query),
        prefix_hash=request.prefix_hash,
        since_last=request.since_last,
        named_only=request.named_only,
    )


def asked_s(request: pb.AssembleRequest) -> float | None:
    """The time budget a request asks for, in seconds."""
    if not request.HasField("time_budget"):
        return None
    return request.time_budget.seconds + request.time_budget.nanos / 1e9


def response(given: Assembled) -> pb.AssembleResponse:
    """What the turn is given."""
    notes = given.notes
    message = pb.AssembleResponse(
        prefix_state=STATE_OUT[given.state],
        prefix=given.prefix,
        prefix_hash=given.prefix_hash,
        change=given.change,
        recalled=notes.text,
        banks=[_bank(given, mount) for mount in given.mounts],
        retrieval=next((mode for mode in WEAKEST_FIRST if mode in notes.retrieval.values()), ""),
        memories_left_out=notes.left_out,
    )
    for one in notes.memories:
        message.memories.add(bank=one.bank, id=one.record.id, ambient=one.ambient, score=one.score)
    for gone in given.omitted:
        message.omitted.add(bank=gone.bank, reason=OMISSION_OUT[gone.reason], detail=gone.detail)
    for degraded in notes.degraded:
        message.degraded.add(reason=REASON_OUT[degraded.reason], detail=degraded.detail)
    return message


def _bank(given: Assembled, mount: Mount) -> pb.GivenBank:
    name = mount.name
    return pb.GivenBank(
        bank=name,
        layer=mount.layer.value,
        digest_ids=[key[2] for key, _ in given.digest.lines if key[:2] == (name, "memory")],
        digest_left_out=given.digest.left_out.get(name, 0),
        rules=[key[2] for key, _ in given.rules.sections if key[0] == name],
        rules_truncated=sorted(key[2] for key in given.rules.truncated if key[0] == name),
        rules_left_out=[key[2] for key in given.rules.left_out if key[0] == name],
        retrieval=given.notes.retrieval.get(name, ""),
    )
