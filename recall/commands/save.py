"""`recall save`: keeps one text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands import moments
from recall.commands.calling import connected
from recall.commands.options import (
    DEFAULT_SERVER,
    DEFAULT_TIMEOUT_S,
    Bank,
    Evidence,
    Json,
    Server,
    Tags,
    Timeout,
    bank_name,
    evidence_of,
    kind_of,
    pairs,
    source_kind_of,
    text_of,
)
from recall.commands.output import json_document, line

if TYPE_CHECKING:
    from recall.v1 import memory_service_pb2


def save(
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="The text; - reads it from stdin.")],
    bank: Bank = "",
    kind: Annotated[str, typer.Option("--kind", "-k", help="fact, lesson, convention, preference, …")] = "fact",
    tag: Tags = [],  # noqa: B006 - typer copies it
    entity: Annotated[list[str], typer.Option("--entity", "-e", help="A name the text is about; repeatable.")] = [],  # noqa: B006
    author: Annotated[str, typer.Option(help="Who said it.")] = "",
    pin: Annotated[bool, typer.Option("--pin", help="Pin it.")] = False,
    confidence: Annotated[float | None, typer.Option(min=0.0, max=1.0, help="How sure, 0 to 1.")] = None,
    created: Annotated[str, typer.Option(metavar="TIME", help="When it was said; now when left out.")] = "",
    expires: Annotated[str, typer.Option(metavar="TIME", help="When it stops being recalled: a time, or 30d.")] = "",
    source_kind: Annotated[str, typer.Option(metavar="KIND", help="task, document, conversation, …")] = "",
    source_id: Annotated[str, typer.Option(metavar="ID", help="Its reference within that kind.")] = "",
    session: Annotated[str, typer.Option(help="The conversation or run it was said in.")] = "",
    position: Annotated[int | None, typer.Option(min=0, help="Its place in the session, from 0.")] = None,
    agent: Annotated[str, typer.Option(help="The agent that saves it.")] = "",
    uri: Annotated[str, typer.Option(help="A link to the original.")] = "",
    title: Annotated[str, typer.Option(help="A heading for people.")] = "",
    evidence: Evidence = [],  # noqa: B006
    meta: Annotated[list[str], typer.Option(metavar="KEY=VALUE", help="Free facts; repeatable.")] = [],  # noqa: B006
    request_id: Annotated[str, typer.Option(metavar="ID", help="Makes a retry harmless.")] = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Saves one text."""
    from recall.v1 import memory_pb2, memory_service_pb2

    now = datetime.now(UTC)
    source = memory_pb2.Source(
        kind=source_kind_of(source_kind), id=source_id, session=session, position=position, agent=agent, uri=uri
    )
    memory = memory_service_pb2.NewMemory(
        text=text_of(text),
        kind=kind_of(kind),
        tags=tag,
        entities=entity,
        author=author,
        pinned=pin,
        confidence=confidence,
        source=source if source.ListFields() else None,
        metadata=pairs("--meta", meta),
        title=title,
        evidence=map(evidence_of, evidence),
    )
    if created:
        memory.created_at.FromDatetime(moments.past("--created", created, now))
    if expires:
        memory.expires_at.FromDatetime(moments.future("--expires", expires, now))
    with connected(server, timeout) as client:
        saved = client.save(bank=bank_name(bank), memory=memory, request_id=request_id)
    if as_json:
        json_document(saved)
    else:
        line(_told(saved))


def _told(saved: memory_service_pb2.SaveResponse) -> str:
    from recall.v1 import memory_pb2
    from recall.v1 import memory_service_pb2 as contract

    waits = saved.memory.status == memory_pb2.STATUS_NOMINATED
    what = {
        contract.SAVE_OUTCOME_CREATED: "nominated, waits for a reviewer" if waits else "saved",
        contract.SAVE_OUTCOME_REINFORCED: f"known already, strengthened ({saved.memory.corroboration} ×)",
        contract.SAVE_OUTCOME_UPDATED: "known by its source, now with this text:",
        contract.SAVE_OUTCOME_UNCHANGED: "known already, nothing was written",
        contract.SAVE_OUTCOME_REPEATED: "done before under this request id",
    }
    after = f", after {saved.memory.predecessor}" if saved.memory.predecessor else ""
    return f"{what.get(saved.outcome, 'saved')} {saved.memory.id} in {saved.memory.bank}{after}"
