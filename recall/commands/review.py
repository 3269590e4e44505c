"""`recall review …`: what waits for a person, and the person's decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands.calling import connected
from recall.commands.failure import CommandError, ExitCode
from recall.commands.options import (
    DEFAULT_SERVER,
    DEFAULT_TIMEOUT_S,
    Bank,
    Json,
    Revision,
    Server,
    Timeout,
    bank_name,
    status_of,
)
from recall.commands.output import json_document, line, one_line

if TYPE_CHECKING:
    from recall.v1 import review_service_pb2

Ids = Annotated[list[str], typer.Argument(metavar="ID…", help="Memories, from `recall review list`.")]
Reason = Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="Why; history keeps it.")]


def list_queue(
    status: Annotated[str, typer.Option(help="nominated, quarantined or accepted.")] = "nominated",
    limit: Annotated[int, typer.Option(min=1, max=100, help="Most to show.")] = 20,
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Shows what waits, newest first, with what in use is most like it."""
    with connected(server, timeout) as client:
        queue = client.list_queue(bank=bank_name(bank), status=status_of(status), page_size=limit)
    if as_json:
        json_document(queue)
        return
    from recall.commands.review_tables import show_queue

    show_queue(queue)


def promote(
    ids: Ids,
    note: Annotated[str, typer.Option(help="Why; history keeps it.")] = "",
    override: Annotated[bool, typer.Option("--override", help="Also when a near-duplicate is in use.")] = False,
    revision: Revision = None,
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Puts nominated memories into use."""
    if revision is not None and len(ids) > 1:
        raise CommandError("--revision goes with one ID", ExitCode.WRONG_INPUT)
    from recall.v1 import review_service_pb2 as contract

    decisions = [
        contract.OneDecision(
            id=one,
            decision=contract.DECISION_PROMOTE,
            note=note,
            override_duplicate=override,
            expected_revision=revision,
        )
        for one in ids
    ]
    _decide(decisions, "in use", bank, server, timeout, as_json)


def reject(
    ids: Ids,
    reason: Reason = "",
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Refuses nominated or quarantined memories for good."""
    from recall.v1 import review_service_pb2 as contract

    decisions = [contract.OneDecision(id=one, decision=contract.DECISION_REJECT, note=reason) for one in ids]
    _decide(decisions, "rejected", bank, server, timeout, as_json)


def quarantine(
    ids: Ids,
    reason: Reason = "",
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Takes memories out of use until somebody looks again."""
    from recall.v1 import review_service_pb2 as contract

    decisions = [contract.OneDecision(id=one, decision=contract.DECISION_QUARANTINE, note=reason) for one in ids]
    _decide(decisions, "quarantined", bank, server, timeout, as_json)


def reaccept(
    ids: Ids,
    note: Annotated[str, typer.Option(help="Why; history keeps it.")] = "",
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Puts quarantined memories back into use."""
    from recall.v1 import review_service_pb2 as contract

    decisions = [contract.OneDecision(id=one, decision=contract.DECISION_REACCEPT, note=note) for one in ids]
    _decide(decisions, "back in use", bank, server, timeout, as_json)


def _decide(
    decisions: Sequence[review_service_pb2.OneDecision],
    done: str,
    bank: str,
    server: str,
    timeout: float,
    as_json: bool,
) -> None:
    with connected(server, timeout) as client:
        answer = client.decide_batch(bank=bank_name(bank), decisions=decisions)
    if as_json:
        json_document(answer)
    else:
        for asked, result in zip(decisions, answer.results, strict=True):
            line(f"{asked.id} {_told(result, done)}")
    if any(result.HasField("error") for result in answer.results):
        raise typer.Exit(ExitCode.REFUSED)


def _told(result: review_service_pb2.DecisionResult, done: str) -> str:
    from recall.commands.tables import status

    if result.HasField("error"):
        return f"refused: {one_line(result.error.message)}"
    if result.decided.already_decided:
        return f"decided already: {status(result.decided.memory.status)}"
    return done
