"""`recall watch`: changes as they happen."""

from __future__ import annotations

from typing import Annotated

import typer

from recall.commands.calling import connected
from recall.commands.options import DEFAULT_SERVER, DEFAULT_TIMEOUT_S, Bank, Json, Server, Tags, bank_name
from recall.commands.output import json_line, line, one_line


def watch(
    bank: Bank = "",
    all_banks: Annotated[bool, typer.Option("--all-banks", help="All banks, from now on.")] = False,
    from_seq: Annotated[int, typer.Option(min=0, help="Replay from this seq; 0: from now on.")] = 0,
    tag: Tags = [],  # noqa: B006 - typer copies it
    op: Annotated[list[str], typer.Option(help="Only this op, as save or delete; repeatable.")] = [],  # noqa: B006
    server: Server = DEFAULT_SERVER,
    as_json: Json = False,
) -> None:
    """Streams changes, one line each, until it is interrupted or the server stops."""
    from recall.commands.tables import when

    with connected(server, DEFAULT_TIMEOUT_S) as client:
        name = "" if all_banks else bank_name(bank)
        for change in client.watch(bank=name, from_seq=from_seq, tags=tag, ops=op):
            if as_json:
                json_line(change)
                continue
            if change.missed:
                line(f"{change.missed} changes were missed: read the bank again")
            text = f" {change.memory.id} {one_line(change.memory.text)}" if change.HasField("memory") else ""
            line(f"{when(change.at)} {one_line(change.bank)} {change.seq or '–'} {one_line(change.op)}{text}")
            typer.get_text_stream("stdout").flush()
