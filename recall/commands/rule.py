"""`recall rule …`: the documents that a turn is given whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands.calling import connected
from recall.commands.options import DEFAULT_SERVER, DEFAULT_TIMEOUT_S, Bank, Json, Server, Timeout, bank_name, text_of
from recall.commands.output import json_document, line, one_line

if TYPE_CHECKING:
    from recall.v1 import rule_service_pb2

Name = Annotated[str, typer.Argument(metavar="NAME", help="The rule's name.")]
Words = Annotated[list[str], typer.Argument(metavar="TEXT", help="Markdown; - reads it from stdin.")]
Revision = Annotated[int | None, typer.Option("--revision", min=0, help="Refuse when the rule is at another one.")]
Note = Annotated[str, typer.Option(help="Why.")]


def set_rule(
    name: Name,
    text: Words,
    revision: Revision = None,
    note: Note = "",
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Writes a rule, new or over the one of that name."""
    with connected(server, timeout) as client:
        answer = client.set_rule(
            bank=bank_name(bank), name=name, text=text_of(text), expected_revision=revision, note=note
        )
    if as_json:
        json_document(answer)
        return
    line(f"{'wrote' if answer.seq else 'unchanged:'} rule {name}, revision {answer.rule.revision}")


def get(
    name: Name,
    history: Annotated[bool, typer.Option("--history", help="Every revision.")] = False,
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Shows a rule."""
    with connected(server, timeout) as client:
        answer = client.get_rule(bank=bank_name(bank), name=name, history=history)
    if as_json:
        json_document(answer)
        return
    for rule in answer.revisions if history else [answer.rule]:
        if history:
            line(f"--- {_heading(rule)}")
        for row in rule.text.splitlines():
            line(one_line(row))


def list_rules(
    bank: Bank = "", server: Server = DEFAULT_SERVER, timeout: Timeout = DEFAULT_TIMEOUT_S, as_json: Json = False
) -> None:
    """Lists the rules of a bank."""
    with connected(server, timeout) as client:
        answer = client.list_rules(bank=bank_name(bank))
    if as_json:
        json_document(answer)
        return
    for rule in answer.rules:
        edited = ", edited by hand: `recall bank reload` takes that in" if rule.edited_by_hand else ""
        line(f"{rule.name}  {_heading(rule)}, {len(rule.text)} characters{edited}")
    if not answer.rules:
        line(f"no rules in bank {bank_name(bank)}: `recall rule set NAME TEXT` writes one")


def delete(
    name: Name,
    revision: Revision = None,
    note: Note = "",
    bank: Bank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Takes a rule out of use; its revisions stay."""
    with connected(server, timeout) as client:
        answer = client.delete_rule(bank=bank_name(bank), name=name, expected_revision=revision, note=note)
    if as_json:
        json_document(answer)
    else:
        line(f"took rule {name} out of use: `recall rule get {name} --history` shows what it said")


def _heading(rule: rule_service_pb2.Rule) -> str:
    from recall.commands.tables import when

    gone = "" if rule.text else ", taken out of use"
    return f"revision {rule.revision}, {when(rule.updated_at)} by {one_line(rule.updated_by)}{gone}"
