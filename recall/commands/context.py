"""`recall context …`: what a turn of an agent is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands.calling import connected
from recall.commands.options import DEFAULT_SERVER, DEFAULT_TIMEOUT_S, Json, Server, Timeout, bank_name
from recall.commands.output import json_document, line, one_line

if TYPE_CHECKING:
    from recall.v1 import context_service_pb2

Banks = Annotated[
    list[str] | None,
    typer.Option("--bank", "-b", metavar="NAME", help="A bank; repeatable. Else RECALL_BANK, else the folder's."),
]
Agent = Annotated[str, typer.Option(metavar="NAME", help="The agent whose turn it is.")]
User = Annotated[str, typer.Option(metavar="NAME", help="The user whose turn it is.")]
Workflow = Annotated[str, typer.Option(metavar="REF", help="The workflow.")]
Mission = Annotated[str, typer.Option(metavar="REF", help="The mission.")]
Project = Annotated[str, typer.Option(metavar="REF", help="The project.")]
Query = Annotated[str, typer.Option(metavar="TEXT", help="What the turn is about; without it nothing is recalled.")]


def preview(
    bank: Banks = None,
    agent: Agent = "",
    user: User = "",
    workflow: Workflow = "",
    mission: Mission = "",
    project: Project = "",
    query: Query = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Shows what a turn would be given, byte for byte, and leaves no trace."""
    from recall.v1 import context_service_pb2

    turn = context_service_pb2.AssembleRequest(
        banks=bank or [bank_name("")],
        agent=agent,
        user=user,
        workflow=workflow,
        mission=mission,
        project=project,
        query=query,
    )
    with connected(server, timeout) as client:
        answer = client.preview(turn=turn)
    if as_json:
        json_document(answer)
    else:
        _show(answer)


def _show(answer: context_service_pb2.PreviewResponse) -> None:
    from recall.v1 import context_service_pb2

    given = answer.given
    for row in (answer.whole_prefix + given.recalled).splitlines():
        line(one_line(row))
    for one in given.banks:
        line(
            f"bank {one.bank} ({one.layer}): {len(one.rules)} rules, {len(one.digest_ids)} in the digest, "
            f"{one.digest_left_out} left out"
        )
        for name in one.rules_truncated:
            line(f"  rule {one_line(name)} is given in part")
        for name in one.rules_left_out:
            line(f"  rule {one_line(name)} is left out")
    for gone in given.omitted:
        reason = context_service_pb2.OmissionReason.Name(gone.reason).removeprefix("OMISSION_REASON_").lower()
        line(f"omitted {one_line(gone.bank)}: {reason}: {one_line(gone.detail)}")
    left = f", {given.memories_left_out} left out" if given.memories_left_out else ""
    line(f"{len(given.memories)} recalled{left}{f' ({given.retrieval})' if given.retrieval else ''}")
