"""``python -m benchmarks.load group-commit|soak|overload|banks|cold|ways [--out OUT.json] [--quick]``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import grpc
import typer
from rich.console import Console
from rich.progress import Progress

from benchmarks.load import cold_banks, group_commit, many_banks, overload, report, soak, ways
from benchmarks.load.bars import all_hold
from benchmarks.service import ServiceError

_PIPED_WIDTH = 140
_FAILED = 1
_QUICK_S = 30.0

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, help="The service under load.")
console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)
errors = Console(stderr=True)

Out = Annotated[Path | None, typer.Option(help="Where the JSON goes.")]
Quick = Annotated[bool, typer.Option(help="Less than a minute: a look, not a figure.")]
Model = Annotated[str, typer.Option(help="The setting embedding.model.")]


@app.command("group-commit")
def group(out: Out = None, quick: Quick = False) -> None:
    """One writer against 16, in process and over gRPC."""
    with _told():
        found = group_commit.run(group_commit.QUICK if quick else group_commit.GroupPlan())
    report.show_group(found, console)
    _end(found, out)


@app.command("soak")
def soaked(
    minutes: Annotated[float, typer.Option(min=0.1, help="How long the load lasts.")] = 10.0,
    out: Out = None,
    quick: Quick = False,
    model: Model = "default",
) -> None:
    """Recalls and saves at 70 % of capacity, with a backfill and reloads going on."""
    with _told(), Progress(console=errors) as progress:
        found = soak.run(soak.plan_for(_QUICK_S if quick else minutes * 60.0), model, progress)
    report.show_soak(found, console)
    _end(found, out)


@app.command("overload")
def overloaded(out: Out = None, quick: Quick = False, model: Model = "default") -> None:
    """Recalls at 1.5 times the capacity."""
    with _told(), Progress(console=errors) as progress:
        found = overload.run(overload.QUICK if quick else overload.OverloadPlan(), model, progress)
    report.show_overload(found, console)
    _end(found, out)


@app.command("banks")
def opened(
    banks: Annotated[int, typer.Option(min=8, help="How many.")] = 1_000,
    most_open: Annotated[int, typer.Option(help="The setting storage.max_open_banks.")] = 256,
    memories: Annotated[int, typer.Option(min=1, help="Memories in each.")] = 10,
    out: Out = None,
    quick: Quick = False,
    model: Model = "default",
) -> None:
    """Opens many banks in turn."""
    with _told(), Progress(console=errors) as progress:
        found = many_banks.run(80 if quick else banks, 24 if quick else most_open, memories, model, progress)
    report.show_banks(found, console)
    _end(found, out)


@app.command("cold")
def cold(
    banks: Annotated[int, typer.Option(min=8, help="How many are asked in turn.")] = 24,
    memories: Annotated[int, typer.Option(min=1, help="Memories in each.")] = 1_000,
    out: Out = None,
    quick: Quick = False,
    model: Model = cold_banks.HASHING,
) -> None:
    """The first recall of banks that were closed for want of room."""
    with _told(), Progress(console=errors) as progress:
        plan = cold_banks.QUICK if quick else cold_banks.ColdPlan(banks, memories)
        found = cold_banks.run(plan, model, progress)
    report.show_cold(found, console)
    _end(found, out)


@app.command("ways")
def compared(out: Out = None, quick: Quick = False, model: Model = cold_banks.HASHING) -> None:
    """One query and one text by every way that there is."""
    with _told(), Progress(console=errors) as progress:
        found = ways.run(ways.QUICK if quick else ways.WaysPlan(), model, progress)
    report.show_ways(found, console)
    _end(found, out)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (ServiceError, grpc.RpcError) as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_FAILED) from problem


def _end(found: report.Figures, out: Path | None) -> None:
    if out is not None:
        report.write(found, out)
        console.print(f"wrote {out}", highlight=False)
    if not all_hold(found.bars):
        raise typer.Exit(_FAILED)


if __name__ == "__main__":
    app()
