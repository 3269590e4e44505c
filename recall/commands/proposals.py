"""`recall review edit`, `replace`, `undo`, `fallen`, `source`: what a person does besides deciding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands.calling import connected
from recall.commands.failure import CommandError, ExitCode
from recall.commands.options import (
    DEFAULT_SERVER,
    DEFAULT_TIMEOUT_S,
    STDIN,
    Bank,
    Json,
    MemoryId,
    Revision,
    Server,
    Timeout,
    bank_name,
    source_kind_of,
    standard_input,
    text_of,
)
from recall.commands.output import json_document, line, one_line

if TYPE_CHECKING:
    from recall.v1 import memory_pb2, review_service_pb2

Note = Annotated[str, typer.Option(help="Why; history keeps it.")]
Kind = Annotated[str, typer.Argument(metavar="KIND", help="task, document, decision, …")]
SourceId = Annotated[str, typer.Argument(metavar="ID", help="The source's id.")]


def edit(
    id: MemoryId,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="The new text; - reads it from stdin.")],
    note: Note = "",
    revision: Revision = None,
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Changes the text of what waits for a decision; what was proposed first stays beside it."""
    from google.protobuf.field_mask_pb2 import FieldMask

    from recall.v1 import memory_pb2

    edited = memory_pb2.Memory(id=id, text=text_of(text))
    mask = FieldMask(paths=["text"])
    with connected(server, timeout) as client:
        answer = client.edit_proposal(
            bank=bank_name(bank), memory=edited, update_mask=mask, note=note, expected_revision=revision
        )
    if as_json:
        json_document(answer)
    else:
        line(f"{id} waits with this text: {one_line(answer.diff)}" if answer.seq else f"{id} is like that already")


def replace(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Memories in use that go.")],
    text: Annotated[str, typer.Option(metavar="TEXT", help="What takes their place; - reads it from stdin.")] = "",
    proposal: Annotated[str, typer.Option(metavar="ID", help="Or the nominated memory that does.")] = "",
    note: Note = "",
    override: Annotated[bool, typer.Option("--override", help="Also when a near-duplicate stays in use.")] = False,
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Retires memories in favour of one that says it all, in one write."""
    from recall.v1 import memory_service_pb2

    if bool(text) == bool(proposal):
        raise CommandError("give --text or --proposal, one of them", ExitCode.WRONG_INPUT)
    words = standard_input() if text == STDIN else text
    name = bank_name(bank)
    with connected(server, timeout) as client:
        if proposal:
            answer = client.replace(
                bank=name, proposal_id=proposal, replaced_ids=ids, note=note, override_duplicate=override
            )
        else:
            memory = memory_service_pb2.NewMemory(text=words)
            answer = client.replace(bank=name, memory=memory, replaced_ids=ids, note=note, override_duplicate=override)
    if as_json:
        json_document(answer)
    else:
        line(f"{answer.memory.id} in use, in place of {', '.join(gone.id for gone in answer.replaced)}")


def undo(
    id: MemoryId,
    note: Note = "",
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Takes the last decision on a memory back, when nothing happened to it since."""
    from recall.commands.tables import status

    with connected(server, timeout) as client:
        answer = client.undo_decision(bank=bank_name(bank), id=id, note=note)
    if as_json:
        json_document(answer)
        return
    back = "".join(f", {one.id} is in use again" for one in answer.restored)
    line(f"{id} is {status(answer.memory.status)}{' already' if answer.already_undone else ' again'}{back}")


def fallen(
    kind: Kind,
    id: SourceId,
    by: Annotated[str, typer.Option(metavar="ID", help="The source that took its place.")] = "",
    reason: Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="Why; history keeps it.")] = "",
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Tells that a source was retracted, or superseded; what stands on it leaves use at once."""
    number, name = source_kind_of(kind), bank_name(bank)
    answer: review_service_pb2.SourceRetractedResponse | review_service_pb2.SourceSupersededResponse
    with connected(server, timeout) as client:
        if by:
            answer = client.source_superseded(
                bank=name, source_kind=number, source_id=id, superseded_by=by, reason=reason
            )
        else:
            answer = client.source_retracted(bank=name, source_kind=number, source_id=id, reason=reason)
    if as_json:
        json_document(answer)
        return
    for one in answer.quarantined:
        line(f"{one.id} quarantined")
    for one in answer.left:
        line(f"{one.id} left alone: it is pinned")
    if not answer.quarantined and not answer.left:
        line("nothing in use stands on it")


def move(
    id: MemoryId,
    to: Annotated[str, typer.Argument(metavar="BANK", help="The bank that it belongs in.")],
    note: Note = "",
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Moves a live memory with its history, whole or not at all."""
    with connected(server, timeout) as client:
        answer = client.move(bank=bank_name(bank), id=id, to_bank=to, note=note)
    if as_json:
        json_document(answer)
    else:
        line(f"{answer.memory.id} is in {answer.memory.bank}")


def prefer(
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="What you prefer; - reads it from stdin.")],
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Keeps a preference of whom the token names, in the bank whose scope that user is."""
    from recall.commands.tables import status

    with connected(server, timeout) as client:
        answer = client.save_preference(bank=bank_name(bank), text=text_of(text))
    if as_json:
        json_document(answer)
    else:
        line(f"{answer.memory.id} {status(answer.memory.status)}{'' if answer.seq else ' already'}")


def source(
    kind: Kind,
    id: SourceId,
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Shows what was nominated, is in use and was taken out of use of one source."""
    with connected(server, timeout) as client:
        answer = client.get_by_source(bank=bank_name(bank), source_kind=source_kind_of(kind), source_id=id)
    if as_json:
        json_document(answer)
        return
    found = [*answer.accepted, *answer.nominated, *answer.quarantined, *answer.past]
    for memory in found:
        line(_of_source(memory))
    if not found:
        line("nothing was taken from it")


def _of_source(memory: memory_pb2.Memory) -> str:
    from recall.commands.tables import status

    told = memory.standing
    who = f"{told.decision} by {one_line(told.decided_by)}" if told.decision else ""
    who = who or (f"nominated by {one_line(told.nominated_by)}" if told.nominated_by else "saved")
    return f"{memory.id} {status(memory.status)} ({who}) {one_line(memory.text)}"
