"""`recall token …`: who may call. These verbs work on the data folder, beside a running server or without one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands import moments
from recall.commands.failure import CommandError, ExitCode
from recall.commands.options import Config, Data, Json, Set
from recall.commands.output import line, note, one_line
from recall.commands.serve import as_flags, settings_of

if TYPE_CHECKING:
    from recall.tokens import Grant, TokenFile

ROLES = "reader, user, agent, job, reviewer or admin"


def create(
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help=f"What it may do: {ROLES}.")],
    tenant: Annotated[str, typer.Option(help="Whose banks it is for.")] = "default",
    banks: Annotated[str, typer.Option(metavar="A,B", help="The only banks it is for; all when left out.")] = "",
    name: Annotated[str, typer.Option(help="Who uses it, as the audit log will say.")] = "",
    expires: Annotated[str, typer.Option(metavar="TIME", help="When it ends: 2027-03-01, RFC 3339, or 90d.")] = "",
    data: Data = "",
    config: Config = None,
    set_: Set = [],  # noqa: B006 - typer copies it
    as_json: Json = False,
) -> None:
    """Makes a token and prints it, this once."""
    from recall.memory.lifecycle import Role

    now = datetime.now(UTC)
    if role not in set(Role):
        raise CommandError(f"no role {role!r}: {ROLES}", ExitCode.WRONG_INPUT)
    ends = int(moments.future("--expires", expires, now).timestamp() * 1e6) if expires else 0
    wanted = tuple(bank.strip() for bank in banks.split(",") if bank.strip())
    with _tokens(data, config, set_) as tokens:
        token, grant = tokens.create(Role(role), tenant, wanted, name, int(now.timestamp() * 1e6), ends)
    if as_json:
        line(json.dumps({"token": token, **_document(grant)}, indent=2))
        return
    line(token)
    note(f"token {grant.id}: {_told(grant)}. It is not shown again; clients send it from RECALL_TOKEN.")


def list_tokens(data: Data = "", config: Config = None, set_: Set = [], as_json: Json = False) -> None:  # noqa: B006
    """Lists every token there ever was; none of them can be read back."""
    with _tokens(data, config, set_) as tokens:
        grants = tokens.grants()
    if as_json:
        line(json.dumps([_document(grant) for grant in grants], indent=2))
        return
    from recall.commands.tables import console, table

    if not grants:
        console().print("no tokens: every caller on this machine is the admin of the tenant default")
        return
    rows = table("id", "name", "role", "tenant", "banks", "ends", "")
    now = int(datetime.now(UTC).timestamp() * 1e6)
    for grant in grants:
        banks = ", ".join(grant.banks) or "all"
        rows.add_row(
            grant.id, one_line(grant.name), grant.role, grant.tenant, banks, _when(grant.expires_at), grant.problem(now)
        )
    console().print(rows)


def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="From `recall token list`.")],
    data: Data = "",
    config: Config = None,
    set_: Set = [],  # noqa: B006
) -> None:
    """Ends a token at once; a running server refuses the next call with it."""
    with _tokens(data, config, set_) as tokens:
        grant = tokens.revoke(token_id, int(datetime.now(UTC).timestamp() * 1e6))
    if grant is None:
        raise CommandError(f"no token {token_id!r}: `recall token list` shows them", ExitCode.NOT_FOUND)
    line(f"revoked token {grant.id} ({one_line(grant.name)})")


@contextmanager
def _tokens(data: str, config: Config, set_: list[str]) -> Iterator[TokenFile]:
    from recall.memory.errors import InvalidField, StorageFailure
    from recall.memory.files import DiskFiles
    from recall.tokens import TokenFile, TokensBusy, TokensUnreadable

    folder = settings_of(as_flags(data, "", set_), config).data
    try:
        yield TokenFile(folder, DiskFiles())
    except InvalidField as error:
        raise CommandError(f"--{error}", ExitCode.WRONG_INPUT) from error
    except TokensBusy as error:
        raise CommandError(str(error), ExitCode.REFUSED) from error
    except (TokensUnreadable, StorageFailure) as error:
        raise CommandError(str(error), ExitCode.DAMAGED) from error


def _document(grant: Grant) -> dict[str, object]:
    shown = ("id", "name", "role", "tenant", "banks", "created_at", "expires_at", "revoked_at")
    return {field: getattr(grant, field) for field in shown}


def _told(grant: Grant) -> str:
    banks = f"banks {', '.join(grant.banks)}" if grant.banks else "all banks"
    return f"{grant.role} of {banks} of the tenant {grant.tenant}, ends {_when(grant.expires_at)}"


def _when(micros: int) -> str:
    return f"{datetime.fromtimestamp(micros / 1e6, UTC):%Y-%m-%d %H:%M:%SZ}" if micros else "never"
