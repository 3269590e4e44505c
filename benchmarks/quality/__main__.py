"""``python -m benchmarks.quality --set NAME --data PATH --out OUT.json`` and ``… compare A.json B.json``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import grpc
import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from benchmarks.quality import compare as comparing
from benchmarks.quality import held_out, page, tables
from benchmarks.quality import peers as peering
from benchmarks.quality.dataset import Dataset, LayoutError
from benchmarks.quality.figures import figures, write
from benchmarks.quality.run import RunSettings, run
from benchmarks.quality.sets import registry
from benchmarks.quality.systems import System, UnknownSystemError, chosen
from benchmarks.service import LaunchSettings, ServiceError, service

_PIPED_WIDTH = 120

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)
console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)
errors = Console(stderr=True)

_USAGE, _FAILED = 2, 1
_PEERS = f"Other retrievers in the same run: {', '.join(peering.PEERS)}, with commas; installed, or none."


class Bar:
    """The progress of a run as one bar at the bottom of the terminal."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def start(self, stage: str, total: int) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(stage, total=total)

    def advance(self, done: int) -> None:
        assert self._task is not None
        self._progress.advance(self._task, done)

    def at(self, done: int, total: int) -> None:
        assert self._task is not None
        self._progress.update(self._task, completed=done, total=total)


@app.callback(invoke_without_command=True)
def measure(
    context: typer.Context,
    name: Annotated[str, typer.Option("--set", help=f"One of: {', '.join(registry.SETS)}.")] = "tiny",
    data: Annotated[Path | None, typer.Option(help="The file or folder of the set, in its published layout.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the JSON goes; a page with plots goes beside it.")] = None,
    unit: Annotated[str | None, typer.Option(help="turn, session, …; the set's first when not given.")] = None,
    systems: Annotated[
        str, typer.Option(help="modes, ablations, fusions, weights, all, or names, with commas.")
    ] = "modes",
    peers: Annotated[str, typer.Option(help=_PEERS)] = peering.INSTALLED,
    baseline: Annotated[str, typer.Option(help="The system that the others are compared with.")] = "lexical",
    haystacks: Annotated[int | None, typer.Option(help="Only the first N conversations.")] = None,
    server: Annotated[str | None, typer.Option(help="HOST:PORT of a running service, instead of our own.")] = None,
    note: Annotated[str, typer.Option(help="What a reader must know, kept with the figures: what was tuned on.")] = "",
    setting: Annotated[list[str] | None, typer.Option(help="A setting of our own server: embedding.model=none")] = None,
) -> None:
    """Measures how well the service finds the evidence of questions."""
    if context.invoked_subcommand is not None:
        return
    try:
        overrides = dict(_pair(text) for text in setting or [])
        dataset = registry.load(name, data, unit)
        dataset = dataset.first(haystacks) if haystacks else dataset
        _measure(dataset, chosen(systems), peering.chosen(peers, overrides), baseline, server, overrides, note, out)
    except (
        registry.UnknownSetError,
        UnknownSystemError,
        peering.UnknownPeerError,
        LayoutError,
        OSError,
        msgspec.DecodeError,
    ) as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_USAGE) from problem
    except (ServiceError, grpc.RpcError) as problem:
        errors.print(f"error: {_said(problem)}", highlight=False)
        raise typer.Exit(_FAILED) from problem


def _pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--setting")
    return name.strip(), value.strip()


def _said(problem: Exception) -> str:
    if isinstance(problem, grpc.Call):
        return f"{problem.code().name}: {problem.details()}"
    return str(problem)


def _measure(
    dataset: Dataset,
    systems: tuple[System, ...],
    peers: peering.Choice,
    baseline: str,
    server: str | None,
    overrides: dict[str, str],
    note: str,
    out: Path | None,
) -> None:
    if not any(dataset.in_headline(question.category) for question in dataset.questions()):
        raise LayoutError(dataset.name, "no question with evidence is left")
    settings = RunSettings()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with service(server, LaunchSettings(overrides)) as running, Progress(*columns, console=errors) as progress:
        done = run(running, dataset, systems, peers.peers, settings, Bar(progress))
    facts = {"note": note, "limit": str(settings.limit), **{f"server {key}": v for key, v in overrides.items()}}
    found = figures(dataset, done, baseline, facts, peers_left_out=peers.left_out)
    tables.show(found, console)
    if out is not None:
        write(found, out)
        page.write(found, out.with_suffix(".html"))
        console.print(f"wrote {out} and {out.with_suffix('.html')}", highlight=False)


@app.command()
def compare(before: Path, after: Path) -> None:
    """Says whether run B differs from run A by more than chance."""
    try:
        comparing.show(before, after, console)
    except (comparing.IncomparableError, OSError, msgspec.DecodeError) as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_USAGE) from problem


@app.command("held-out")
def unseen(
    run: Path,
    systems: Annotated[str, typer.Option(help="Those to choose among, with commas; all of the run unless given.")] = "",
    default: Annotated[str, typer.Option(help="The system whose figures stand beside.")] = "hybrid",
) -> None:
    """Chooses a system on all conversations but one and judges it on that one, for each."""
    try:
        held_out.show(run, [one.name for one in chosen(systems)] if systems else (), default, console)
    except (held_out.TooFewHaystacksError, UnknownSystemError, OSError, msgspec.DecodeError) as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_USAGE) from problem


if __name__ == "__main__":
    app()
