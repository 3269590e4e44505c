"""``python -m benchmarks.scale --sizes 1000,10000,100000 --out OUT.json [--quick]``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import grpc
import msgspec
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.ending import ended_by_sigterm
from benchmarks.environment import machine, versions
from benchmarks.scale import page
from benchmarks.scale.measure import HASHING, ScaleSettings, SizeFigures, measure
from benchmarks.scale.slopes import BARS, judged, measured_over, slope
from benchmarks.service import ServiceError

_PIPED_WIDTH = 140
_USAGE, _FAILED = 2, 1
_QUICK_SIZES = (500, 2_000)
_QUICK = ScaleSettings(queries=40, warm_up=5, saves=20, sample=64)
FIGURES = tuple(name for name in SizeFigures.__struct_fields__ if name != "memories")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)
errors = Console(stderr=True)


class ScaleFigures(msgspec.Struct, frozen=True):
    """Everything that one run found."""

    sizes: tuple[SizeFigures, ...]
    slopes: dict[str, float]
    machine: str
    versions: dict[str, str]


@app.command()
def scale(
    sizes: Annotated[str, typer.Option(help="Memories in a bank, with commas.")] = "1000,10000,100000,1000000",
    out: Annotated[Path | None, typer.Option(help="Where the JSON goes; a page with plots goes beside it.")] = None,
    model: Annotated[str, typer.Option(help="The setting embedding.model.")] = HASHING,
    quick: Annotated[bool, typer.Option(help="Small banks, few calls: a look, not a figure.")] = False,
) -> None:
    """Measures how the cost of a bank grows with its memories."""
    ended_by_sigterm()
    try:
        wanted = _QUICK_SIZES if quick else parsed(sizes)
        settings = replace(_QUICK if quick else ScaleSettings(), model=model)
        with Progress(console=errors) as progress:
            each = tuple(measure(size, settings, progress) for size in wanted)
    except (ServiceError, grpc.RpcError) as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_FAILED) from problem
    except ValueError as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_USAGE) from problem
    found = ScaleFigures(each, slopes(each), machine(), versions())
    _show(found)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
        page.write(found.sizes, out.with_suffix(".html"))


def parsed(sizes: str) -> tuple[int, ...]:
    """The sizes, ascending. Raises ValueError that says what would be right."""
    told = sizes.split(",")
    if not all(one.strip().isdecimal() and int(one) > 0 for one in told):
        raise ValueError(f"--sizes {sizes!r} is not positive numbers with commas between them")
    return tuple(sorted({int(one) for one in told}))


def slopes(each: tuple[SizeFigures, ...]) -> dict[str, float]:
    """The slope of each figure; none for a single size."""
    if len(each) < 2:
        return {}
    memories = measured_over([one.memories for one in each])
    chosen = [one for one in each if one.memories in memories]
    return {name: slope(memories, [getattr(one, name) for one in chosen]) for name in FIGURES}


def _show(found: ScaleFigures) -> None:
    table = Table("memories", *FIGURES, title="by memories in a bank", title_justify="left")
    for one in found.sizes:
        table.add_row(f"{one.memories}", *(f"{getattr(one, name):g}" for name in FIGURES))
    console.print(table)
    apply = judged([one.memories for one in found.sizes])
    grown = Table("figure", "slope", "bar", "", title="log-log slopes", title_justify="left")
    for name, value in found.slopes.items():
        bar = BARS.get(name) if apply else None
        verdict = "" if bar is None else "holds" if value <= bar else "over"
        grown.add_row(name, f"{value:.2f}", "" if bar is None else f"{bar:g}", verdict)
    console.print(grown)


if __name__ == "__main__":
    app()
