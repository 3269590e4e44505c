"""The verbs on single memories: list, show, history, rm, pin, supersede, tags."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands import moments
from recall.commands.calling import connected
from recall.commands.options import (
    DEFAULT_SERVER,
    DEFAULT_TIMEOUT_S,
    After,
    Bank,
    Before,
    Json,
    Kinds,
    MemoryId,
    Revision,
    Server,
    Tags,
    Timeout,
    bank_name,
    kind_of,
    source_kind_of,
    status_of,
)
from recall.commands.output import json_document, json_line, line

if TYPE_CHECKING:
    from recall.v1 import memory_service_pb2


def list_memories(
    bank: Bank = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="Most memories on a page.")] = 20,
    tag: Tags = [],  # noqa: B006 - typer copies it
    kind: Kinds = [],  # noqa: B006
    status: Annotated[list[str], typer.Option(help="A status; repeatable; accepted when left out.")] = [],  # noqa: B006
    source_kind: Annotated[str, typer.Option(metavar="KIND", help="Only from this kind of source.")] = "",
    source_id: Annotated[str, typer.Option(metavar="ID", help="Only from this source.")] = "",
    session: Annotated[str, typer.Option(help="Only of this session.")] = "",
    after: After = "",
    before: Before = "",
    page: Annotated[str, typer.Option(metavar="TOKEN", help="Go on after an earlier page.")] = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Lists one page."""
    now = datetime.now(UTC)
    with connected(server, timeout) as client:
        found = client.list_memories(
            bank=bank_name(bank),
            page_size=limit,
            page_token=page,
            tags=tag,
            kinds=[kind_of(word) for word in kind],
            statuses=[status_of(word) for word in status],
            source_kind=source_kind_of(source_kind),
            source_id=source_id,
            session=session,
            created_after=moments.stamp(moments.past("--after", after, now) if after else None),
            created_before=moments.stamp(moments.past("--before", before, now) if before else None),
        )
    if as_json:
        json_document(found)
    else:
        _show_page(found, now)


def show(
    id: MemoryId,
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Shows one memory."""
    with connected(server, timeout) as client:
        memory = client.get(bank=bank_name(bank), id=id).memory
    if as_json:
        json_document(memory)
        return
    from recall.commands.tables import console, memory_facts

    console().print(memory_facts(memory))


def history(
    id: MemoryId,
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Shows the events of one memory."""
    with connected(server, timeout) as client:
        found = client.get_history(bank=bank_name(bank), id=id)
    if as_json:
        json_document(found)
        return
    from recall.commands.tables import console, history_table

    console().print(history_table(found.events))


def rm(
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="The memories' ids.")],
    bank: Bank = "",
    revision: Revision = None,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Retires memories one by one; stops at the first that is refused."""
    with connected(server, timeout) as client:
        for id_ in ids:
            answer = client.delete(bank=bank_name(bank), id=id_, expected_revision=revision)
            if as_json:
                json_line(answer)
            else:
                line(f"retired {id_}" if answer.seq else f"{id_} was retired already")


def pin(
    id: MemoryId,
    bank: Bank = "",
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Pins or unpins."""
    with connected(server, timeout) as client:
        answer = client.pin(bank=bank_name(bank), id=id, pinned=not off)
    state = "unpinned" if off else "pinned"
    if as_json:
        json_document(answer)
    else:
        line(f"{state} {id}" if answer.seq else f"{id} was {state} already")


def supersede(
    loser: Annotated[str, typer.Argument(metavar="LOSER", help="The memory that goes.")],
    winner: Annotated[str, typer.Argument(metavar="WINNER", help="The memory that stays.")],
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Retires one memory in favour of another."""
    with connected(server, timeout) as client:
        answer = client.supersede(bank=bank_name(bank), loser_id=loser, winner_id=winner)
    if as_json:
        json_document(answer)
    else:
        line(f"superseded {loser} by {winner}")


def tags(
    bank: Bank = "", server: Server = DEFAULT_SERVER, timeout: Timeout = DEFAULT_TIMEOUT_S, as_json: Json = False
) -> None:
    """Lists tags with counts."""
    with connected(server, timeout) as client:
        found = client.list_tags(bank=bank_name(bank))
    if as_json:
        json_document(found)
        return
    from recall.commands.output import one_line
    from recall.commands.tables import console, table

    rows = table("tag", "memories", right=["memories"])
    for each in found.tags:
        rows.add_row(one_line(each.tag), str(each.count))
    console().print(rows if found.tags else "no tags")


def _show_page(found: memory_service_pb2.ListResponse, now: datetime) -> None:
    from recall.commands.tables import console, memory_cell, table

    screen = console()
    rows = table("memory", leading=1)
    for memory in found.memories:
        rows.add_row(memory_cell(memory, now))
    screen.print(rows if found.memories else "no memories")
    more = f"; go on with --page {found.next_page_token}" if found.next_page_token else ""
    screen.print(f"{len(found.memories)} of {found.total}{more}", style="dim", soft_wrap=True)
