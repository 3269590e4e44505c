"""`recall ask`: the memories that answer a question."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recall.commands import moments
from recall.commands.calling import connected
from recall.commands.failure import CommandError, ExitCode
from recall.commands.options import (
    DEFAULT_SERVER,
    DEFAULT_TIMEOUT_S,
    After,
    Bank,
    Before,
    Json,
    Kinds,
    Server,
    Tags,
    Timeout,
    bank_name,
    kind_of,
    pairs,
    text_of,
)
from recall.commands.output import json_document

if TYPE_CHECKING:
    from recall.v1 import recall_service_pb2

MODES = ("auto", "lexical", "hybrid", "semantic")


def ask(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Any text; - reads it from stdin.")],
    bank: Bank = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=100, help="Most results; 0: the bank's.")] = 0,
    explain: Annotated[bool, typer.Option("--explain", "-x", help="Show a bar for each signal.")] = False,
    why_not: Annotated[str, typer.Option(metavar="ID", help="Say why this memory is not among the results.")] = "",
    tag: Tags = [],  # noqa: B006 - typer copies it
    kind: Kinds = [],  # noqa: B006
    after: After = "",
    before: Before = "",
    superseded: Annotated[bool, typer.Option("--superseded", help="Also rank what is no longer live.")] = False,
    min_score: Annotated[float | None, typer.Option(help="Leave out results below this score.")] = None,
    mode: Annotated[str, typer.Option(metavar="MODE", help="auto, lexical, hybrid or semantic.")] = "auto",
    budget_ms: Annotated[float, typer.Option(min=0, metavar="MS", help="Longest the ranking may take.")] = 0,
    weight: Annotated[
        list[str], typer.Option(metavar="NAME=NUMBER", help="Override a ranking weight, as semantic=0.5; repeatable.")
    ] = [],  # noqa: B006
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Recalls."""
    now = datetime.now(UTC)
    request: dict[str, Any] = {
        "bank": bank_name(bank),
        "query": text_of(query),
        "limit": limit,
        "tags": tag,
        "kinds": [kind_of(word) for word in kind],
        "created_after": moments.stamp(moments.past("--after", after, now) if after else None),
        "created_before": moments.stamp(moments.past("--before", before, now) if before else None),
        "include_superseded": superseded,
        "min_score": min_score,
        "mode": _mode(mode),
        "explain": explain,
        "weights": _weights(pairs("--weight", weight)) if weight else None,
        "why_not_id": why_not,
    }
    if budget_ms:
        from google.protobuf.duration_pb2 import Duration

        request["time_budget"] = Duration(nanos=0)
        request["time_budget"].FromNanoseconds(int(budget_ms * 1e6))
    with connected(server, timeout) as client:
        answer = client.recall(**request)
    if as_json:
        json_document(answer)
        return
    from recall.commands.answer import show_answer

    show_answer(answer, now)


def _mode(word: str) -> recall_service_pb2.RecallMode.ValueType:
    from recall.v1 import recall_service_pb2

    if word.lower() not in MODES:
        raise CommandError(f"--mode is one of {', '.join(MODES)}, not {word!r}", ExitCode.WRONG_INPUT)
    return recall_service_pb2.RecallMode.Value(f"RECALL_MODE_{word.upper()}")


def _weights(given: dict[str, str]) -> recall_service_pb2.WeightOverrides:
    from recall.v1 import recall_service_pb2

    weights = recall_service_pb2.WeightOverrides()
    known = [field.name for field in weights.DESCRIPTOR.fields]
    for name, number in given.items():
        if name not in known:
            raise CommandError(f"--weight knows {', '.join(known)}, not {name!r}", ExitCode.WRONG_INPUT)
        try:
            setattr(weights, name, float(number))
        except ValueError as error:
            raise CommandError(f"--weight {name}: {number!r} is no number", ExitCode.WRONG_INPUT) from error
    return weights
