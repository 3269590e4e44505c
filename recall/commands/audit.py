"""`recall audit`: who did what to which memory of a bank, and when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands import moments
from recall.commands.calling import connected
from recall.commands.options import DEFAULT_SERVER, DEFAULT_TIMEOUT_S, Bank, Server, Timeout, bank_name
from recall.commands.output import json_line, one_line

if TYPE_CHECKING:
    from recall.client import RecallClient
    from recall.v1 import admin_service_pb2

PAGE = 1_000


def audit(
    actor: Annotated[str, typer.Option(help="Only what this one did.")] = "",
    action: Annotated[list[str], typer.Option(help="Only such actions, as promote; repeatable.")] = [],  # noqa: B006
    memory: Annotated[str, typer.Option(metavar="ID", help="Only what concerns this memory.")] = "",
    after: Annotated[str, typer.Option(metavar="TIME", help="Only at or after: a date, RFC 3339, or 7d.")] = "",
    before: Annotated[str, typer.Option(metavar="TIME", help="Only before.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Most to show, from the first on.")] = 100,
    export: Annotated[bool, typer.Option("--jsonl", help="All of them, one JSON object a line.")] = False,
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
) -> None:
    """Shows events in the order in which they were written, without texts."""
    from recall.v1 import admin_service_pb2

    now = datetime.now(UTC)
    request = admin_service_pb2.ListAuditRequest(
        bank=bank_name(bank), actor=actor, actions=action, memory_id=memory, page_size=PAGE
    )
    if after:
        request.after.FromDatetime(moments.past("--after", after, now))
    if before:
        request.before.FromDatetime(moments.past("--before", before, now))
    with connected(server, timeout) as client:
        events = _events(client, request)
        if export:
            for event in events:
                json_line(event)
            return
        shown = [event for _, event in zip(range(limit + 1), events, strict=False)]
    _show(shown[:limit], more=len(shown) > limit)


def _events(
    client: RecallClient, request: admin_service_pb2.ListAuditRequest
) -> Iterator[admin_service_pb2.AuditEvent]:
    while True:
        page = client.list_audit(
            bank=request.bank,
            actor=request.actor,
            actions=request.actions,
            memory_id=request.memory_id,
            after=request.after if request.HasField("after") else None,
            before=request.before if request.HasField("before") else None,
            page_size=request.page_size,
            page_token=request.page_token,
        )
        yield from page.events
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def _show(events: list[admin_service_pb2.AuditEvent], more: bool) -> None:
    from rich.text import Text

    from recall.commands.tables import console, table, when

    rows = table("seq", "when", "who", "what", "memory", right=["seq"])
    for event in events:
        who = one_line(f"{event.actor} ({event.role})")
        told = event.memory_id + (f" → {event.winner_id}" if event.winner_id else "")
        memory = Text(f"{one_line(told)}\n{one_line(event.note)}".strip())
        rows.add_row(str(event.seq), when(event.at), who, one_line(event.action), memory)
    console().print(rows if events else "no such event")
    if more:
        console().print("there is more: --limit shows it, --jsonl writes all")
