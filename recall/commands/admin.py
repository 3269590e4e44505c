"""`recall status` and `recall doctor`: how the service is."""

from __future__ import annotations

import typer

from recall.commands.calling import connected
from recall.commands.failure import ExitCode
from recall.commands.options import DEFAULT_SERVER, DEFAULT_TIMEOUT_S, Json, Server, Timeout
from recall.commands.output import json_document


def status(server: Server = DEFAULT_SERVER, timeout: Timeout = DEFAULT_TIMEOUT_S, as_json: Json = False) -> None:
    """Shows the status."""
    with connected(server, timeout) as client:
        answer = client.status()
    if as_json:
        json_document(answer)
        return
    from recall.commands.admin_tables import show_status

    show_status(answer, server)


def doctor(server: Server = DEFAULT_SERVER, timeout: Timeout = DEFAULT_TIMEOUT_S, as_json: Json = False) -> None:
    """Runs the checks."""
    with connected(server, timeout) as client:
        answer = client.doctor()
    if as_json:
        json_document(answer)
    else:
        from recall.commands.admin_tables import show_doctor

        show_doctor(answer)
    if not answer.ok:
        raise typer.Exit(ExitCode.FAILED)
