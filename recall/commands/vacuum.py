"""`recall bank vacuum`: a log without what was superseded."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from recall.commands.calling import connected
from recall.commands.options import DEFAULT_SERVER, Json, Server, Timeout
from recall.commands.output import json_document, line

_TIMEOUT_S = 600.0


class History(StrEnum):
    """What becomes of the events that leave the log."""

    KEEP = "keep"
    ARCHIVE = "archive"


def vacuum(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The bank's name.")],
    history: Annotated[
        History,
        typer.Option(help="keep: what leaves the log stays a part of the bank. archive: it may be taken away."),
    ] = History.KEEP,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would be worth.")] = False,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = _TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Writes a bank's log anew, without what was superseded."""
    from recall.commands.tables import size
    from recall.v1 import bank_service_pb2 as pb

    asked = pb.VACUUM_HISTORY_ARCHIVE if history is History.ARCHIVE else pb.VACUUM_HISTORY_KEEP
    with connected(server, timeout) as client:
        answer = client.vacuum_bank(name=name, history=asked, dry_run=dry_run)
    if as_json:
        json_document(answer)
        return
    before, superseded = size(answer.log_bytes_before), size(answer.superseded_bytes)
    if dry_run:
        line(f"bank {name}: about {superseded} of the log's {before} are superseded")
        return
    line(
        f"vacuumed bank {name}: the log has {size(answer.log_bytes_after)} instead of {before}; "
        f"what came before is in history/, {size(answer.history_bytes)}"
    )
