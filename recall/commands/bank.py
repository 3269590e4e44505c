"""`recall bank …`: the verbs on banks."""

from __future__ import annotations

from typing import Annotated

import typer

from recall.commands.calling import connected
from recall.commands.failure import CommandError, ExitCode
from recall.commands.options import (
    DEFAULT_SERVER,
    DEFAULT_TIMEOUT_S,
    Json,
    Server,
    Timeout,
    bank_name,
    policy_of,
    scope_of,
)
from recall.commands.output import json_document, line, one_line

Name = Annotated[str, typer.Argument(metavar="NAME", help="The bank's name.")]
Description = Annotated[str | None, typer.Option(help="What it is for.")]
HalfLife = Annotated[float | None, typer.Option("--half-life-days", min=0.0, help="Recency halves in this many days.")]
Limit = Annotated[int | None, typer.Option("--default-limit", min=0, max=100, help="Results when none is asked for.")]
Policy = Annotated[str | None, typer.Option(metavar="POLICY", help="open, or governed: people alone grant influence.")]
Scope = Annotated[
    str | None, typer.Option(metavar="KIND[:REF]", help="Whose it is: workspace, agent:NAME, user:NAME, …")
]
Title = Annotated[str | None, typer.Option(help="A heading.")]
Preamble = Annotated[str | None, typer.Option(help="What an agent reads before anything of the bank.")]
Agents = Annotated[
    list[str] | None, typer.Option("--for-agent", metavar="NAME", help="Only for this agent; repeatable.")
]
User = Annotated[str | None, typer.Option("--user", metavar="HANDLE", help="What memories call the bank's user.")]


def create(
    name: Name,
    description: Description = None,
    half_life_days: HalfLife = None,
    default_limit: Limit = None,
    user: User = None,
    policy: Policy = None,
    scope: Scope = None,
    title: Title = None,
    preamble: Preamble = None,
    for_agent: Agents = None,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Makes a bank."""
    kind, ref = scope_of(scope or "")
    with connected(server, timeout) as client:
        bank = client.create_bank(
            name=name,
            description=description or "",
            half_life_days=half_life_days or 0.0,
            default_limit=default_limit or 0,
            user_handle=user or "",
            policy=policy_of(policy or "open"),
            scope_kind=kind,
            scope_ref=ref,
            title=title or "",
            preamble=preamble or "",
            agents=for_agent or [],
        ).bank
    if as_json:
        json_document(bank)
    else:
        line(f"made bank {bank.name}")


def list_banks(server: Server = DEFAULT_SERVER, timeout: Timeout = DEFAULT_TIMEOUT_S, as_json: Json = False) -> None:
    """Lists all banks, page after page."""
    from recall.v1 import bank_service_pb2

    found = bank_service_pb2.BankServiceListResponse()
    with connected(server, timeout) as client:
        while True:
            page = client.list_banks(page_size=1000, page_token=found.next_page_token)
            found.banks.extend(page.banks)
            found.next_page_token = page.next_page_token
            if not page.next_page_token:
                break
    if as_json:
        json_document(found)
        return
    from recall.commands.bank_tables import show_banks

    show_banks(found.banks)


def show(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The bank; else RECALL_BANK, else the folder's.")] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until every live memory has a vector.")] = False,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Shows one bank."""
    with connected(server, timeout) as client:
        if wait:
            from recall.commands.coverage import wait_for_coverage

            wait_for_coverage(client, bank_name(name))
        bank = client.get_bank(name=bank_name(name)).bank
    if as_json:
        json_document(bank)
        return
    from recall.commands.bank_tables import show_bank

    show_bank(bank)


def update(
    name: Name,
    description: Description = None,
    half_life_days: HalfLife = None,
    default_limit: Limit = None,
    user: User = None,
    policy: Policy = None,
    scope: Scope = None,
    title: Title = None,
    preamble: Preamble = None,
    for_agent: Agents = None,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Changes what is given; 0 or '' go back to the server's setting."""
    from google.protobuf.field_mask_pb2 import FieldMask

    from recall.v1 import bank_service_pb2

    values = {
        "description": description,
        "half_life_days": half_life_days,
        "default_limit": default_limit,
        "user_handle": user,
        "policy": None if policy is None else policy_of(policy),
        "scope_kind": None if scope is None else scope_of(scope)[0],
        "scope_ref": None if scope is None else scope_of(scope)[1],
        "title": title,
        "preamble": preamble,
        "agents": for_agent or None,
    }
    given = {path: value for path, value in values.items() if value is not None}
    if not given:
        raise CommandError("nothing to change: name a setting, as --description", ExitCode.WRONG_INPUT)
    changed = bank_service_pb2.Bank(name=name)
    for path, value in given.items():
        if path == "agents":
            changed.agents.extend(for_agent or [])
        else:
            setattr(changed, path, value)
    with connected(server, timeout) as client:
        bank = client.update_bank(bank=changed, update_mask=FieldMask(paths=list(given))).bank
    if as_json:
        json_document(bank)
    else:
        line(f"changed bank {bank.name}")


def delete(
    name: Name, server: Server = DEFAULT_SERVER, timeout: Timeout = DEFAULT_TIMEOUT_S, as_json: Json = False
) -> None:
    """Moves a bank to the trash."""
    with connected(server, timeout) as client:
        trashed = client.delete_bank(name=name).trashed
    if as_json:
        json_document(trashed)
    else:
        line(f"moved bank {trashed.name} to the trash: `recall bank restore {trashed.trash_id}` brings it back")


def trash(server: Server = DEFAULT_SERVER, timeout: Timeout = DEFAULT_TIMEOUT_S, as_json: Json = False) -> None:
    """Lists the trash."""
    with connected(server, timeout) as client:
        found = client.list_banks(page_size=1000, trashed=True)
    if as_json:
        json_document(found)
        return
    from recall.commands.bank_tables import show_trash

    show_trash(found.trash)


def restore(
    trash_id: Annotated[str, typer.Argument(metavar="TRASH_ID", help="From `recall bank trash`.")],
    name: Annotated[str, typer.Option(help="Another name; the one it had when left out.")] = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Brings a bank back."""
    with connected(server, timeout) as client:
        bank = client.restore_bank(trash_id=trash_id, name=name).bank
    if as_json:
        json_document(bank)
    else:
        line(f"restored bank {bank.name}: {bank.counts.live} live memories")


def reload(
    name: Name, server: Server = DEFAULT_SERVER, timeout: Timeout = DEFAULT_TIMEOUT_S, as_json: Json = False
) -> None:
    """Reads a bank's files again."""
    with connected(server, timeout) as client:
        answer = client.reload_bank(name=name)
    if as_json:
        json_document(answer)
        return
    for change in answer.changes:
        line(one_line(change))
    line(f"reloaded bank {answer.bank.name}: {len(answer.changes)} hand edits taken in")
