"""``python -m benchmarks.latency --n 10000 --out OUT.json [--quick]``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import grpc
import msgspec
import typer
from rich.console import Console
from rich.progress import Progress

from benchmarks.ending import ended_by_sigterm
from benchmarks.latency import report
from benchmarks.latency.plan import FULL, QUICK
from benchmarks.latency.run import run
from benchmarks.quality.dataset import LayoutError
from benchmarks.quality.sets import registry
from benchmarks.service import ServiceError

_PIPED_WIDTH = 120

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)
errors = Console(stderr=True)

_USAGE, _FAILED = 2, 1


@app.command()
def measure(
    n: Annotated[int, typer.Option(help="Memories in the bank.")] = 10_000,
    out: Annotated[Path | None, typer.Option(help="Where the JSON goes.")] = None,
    quick: Annotated[bool, typer.Option(help="Fewer rounds, shorter loops: a look, not a figure.")] = False,
    name: Annotated[str | None, typer.Option("--set", help="Real text: a set of benchmarks.quality.")] = None,
    data: Annotated[Path | None, typer.Option(help="The file or folder of that set.")] = None,
    model: Annotated[str, typer.Option(help="The setting embedding.model.")] = "default",
    flame: Annotated[Path | None, typer.Option(help="Where a flame graph of the server goes, SVG.")] = None,
) -> None:
    """Measures how soon the service answers, as ratios in one run."""
    ended_by_sigterm()
    try:
        dataset = registry.load(name, data) if name else None
        with Progress(console=errors) as progress:
            found = run(n, dataset, model, QUICK if quick else FULL, progress, flame)
    except (registry.UnknownSetError, LayoutError, OSError, msgspec.DecodeError) as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_USAGE) from problem
    except (ServiceError, grpc.RpcError) as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_FAILED) from problem
    if out is not None:
        report.write(found, out)
        console.print(f"wrote {out}", highlight=False)
    if flame is not None:
        console.print(f"wrote {flame} and {flame.with_suffix('.txt')}", highlight=False)
    report.show(found, console)


if __name__ == "__main__":
    app()
