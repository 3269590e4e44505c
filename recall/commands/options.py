"""The options that commands share, and how their words become values of the contract."""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recall.commands.failure import CommandError, ExitCode
from recall.project import choose_bank

if TYPE_CHECKING:
    from recall.v1 import bank_service_pb2, memory_pb2

STDIN = "-"
DEFAULT_SERVER = "127.0.0.1:50051"
DEFAULT_TIMEOUT_S = 30.0

Server = Annotated[str, typer.Option(envvar="RECALL_SERVER", metavar="HOST:PORT", help="The server to call.")]
Timeout = Annotated[float, typer.Option(min=0.001, metavar="SECONDS", help="Longest wait for an answer.")]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Bank = Annotated[
    str,
    typer.Option("--bank", "-b", metavar="NAME", help="The bank; else RECALL_BANK, else the working folder's name."),
]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")]
Tags = Annotated[list[str], typer.Option("--tag", "-t", metavar="TAG", help="A tag; may be repeated.")]
Kinds = Annotated[list[str], typer.Option("--kind", "-k", metavar="KIND", help="A kind; may be repeated.")]
After = Annotated[str, typer.Option(metavar="TIME", help="Created at or after: 2026-03-01, RFC 3339, or 7d (ago).")]
Before = Annotated[str, typer.Option(metavar="TIME", help="Created before.")]
Revision = Annotated[int | None, typer.Option("--revision", min=0, help="Refuse when the memory is at another one.")]
Evidence = Annotated[
    list[str],
    typer.Option(metavar="REF,…", help="An evaluation: REF[,measure=M][,before=N][,after=N]; repeatable."),
]
Config = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Settings file; else RECALL_CONFIG, else ./recall.toml.")
]
Data = Annotated[str, typer.Option(metavar="DIR", help="The data folder.")]
Set = Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE", help="Any setting, as embedding.model=none.")]


def bank_name(asked: str) -> str:
    """The bank to use."""
    return choose_bank(asked, os.environ, None)


def text_of(words: list[str]) -> str:
    """Words of the command line as one text; a lone `-` stands for stdin."""
    return standard_input() if words == [STDIN] else " ".join(words)


def standard_input() -> str:
    """All of stdin, less the line end that a shell adds."""
    return sys.stdin.buffer.read().decode("utf-8", "replace").rstrip("\r\n")


def kind_of(word: str) -> memory_pb2.Kind.ValueType:
    """`fact`, `lesson`, … as the contract's number."""
    from recall.v1 import memory_pb2

    return memory_pb2.Kind.Value(_enum(memory_pb2.Kind, "KIND_", "kind", word))


def status_of(word: str) -> memory_pb2.Status.ValueType:
    """`accepted`, `superseded`, … as the contract's number."""
    from recall.v1 import memory_pb2

    return memory_pb2.Status.Value(_enum(memory_pb2.Status, "STATUS_", "status", word))


def policy_of(word: str) -> bank_service_pb2.BankPolicy.ValueType:
    """`open` or `governed` as the contract's number."""
    from recall.v1 import bank_service_pb2

    return bank_service_pb2.BankPolicy.Value(_enum(bank_service_pb2.BankPolicy, "BANK_POLICY_", "policy", word))


def scope_of(word: str) -> tuple[bank_service_pb2.ScopeKind.ValueType, str]:
    """`agent:mara` as the contract's number and the reference; empty means none."""
    from recall.v1 import bank_service_pb2

    kind, _, ref = word.partition(":")
    name = _enum(bank_service_pb2.ScopeKind, "SCOPE_KIND_", "scope", kind or "unspecified")
    return bank_service_pb2.ScopeKind.Value(name), ref


def source_kind_of(word: str) -> memory_pb2.SourceKind.ValueType:
    """`task`, `document`, … as the contract's number; empty means not said."""
    from recall.v1 import memory_pb2

    return memory_pb2.SourceKind.Value(
        _enum(memory_pb2.SourceKind, "SOURCE_KIND_", "source kind", word or "unspecified")
    )


def pairs(option: str, words: list[str]) -> dict[str, str]:
    """`key=value` words as a mapping."""
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise CommandError(f"{option} takes KEY=VALUE, not {word!r}", ExitCode.WRONG_INPUT)
        found[key.strip()] = value
    return found


def evidence_of(word: str) -> memory_pb2.Evidence:
    """`REF`, then any of `,measure=…`, `,before=NUMBER`, `,after=NUMBER`, as the contract has it."""
    from recall.v1 import memory_pb2

    ref, *rest = word.split(",")
    given = pairs("--evidence", rest)
    unknown = [name for name in given if name not in ("measure", "before", "after")]
    if unknown:
        raise CommandError(f"--evidence has no {unknown[0]!r}: measure, before, after", ExitCode.WRONG_INPUT)
    try:
        figures = {name: float(given[name]) for name in ("before", "after") if name in given}
    except ValueError as error:
        raise CommandError(f"--evidence: {error}", ExitCode.WRONG_INPUT) from None
    return memory_pb2.Evidence(ref=ref, measure=given.get("measure", ""), **figures)


def _enum(enum: Any, prefix: str, what: str, word: str) -> str:
    known = [name.removeprefix(prefix).lower() for name in enum.DESCRIPTOR.values_by_name]
    wanted = word.strip().lower().replace("-", "_")
    if wanted not in known:
        nearest = difflib.get_close_matches(wanted, known, n=1, cutoff=0.0)[0]
        choices = ", ".join(name for name in known if name != "unspecified")
        raise CommandError(f"no {what} {word!r}: did you mean {nearest}? ({choices})", ExitCode.WRONG_INPUT)
    return prefix + wanted.upper()
