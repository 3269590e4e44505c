"""``python -m benchmarks.peers --n 100000 [--only NAME,…] --out OUT.json [--quick]``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from benchmarks.ending import ended_by_sigterm, temporary_folder
from benchmarks.environment import machine, versions
from benchmarks.peers import page, report
from benchmarks.peers.prepared import prepare
from benchmarks.peers.registry import PEERS, UnknownPeerError, chosen
from benchmarks.peers.worker import PeerFigures

_PIPED_WIDTH = 130
_USAGE = 2
_SEARCHES, _SAVES = 1_000, 50
_QUICK_N, _QUICK_SEARCHES, _QUICK_SAVES = 1_000, 100, 5
_LONGEST_S = 3_600.0

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)
errors = Console(stderr=True)


@app.command()
def peers(
    n: Annotated[int, typer.Option(min=100, help="Memories.")] = 100_000,
    only: Annotated[str, typer.Option(help=f"Some of: {', '.join(PEERS)}; with commas.")] = "",
    out: Annotated[Path | None, typer.Option(help="Where the JSON goes; a page with plots goes beside it.")] = None,
    quick: Annotated[bool, typer.Option(help="Few memories, few calls: a look, not a figure.")] = False,
) -> None:
    """Measures Recall and other stores on the same memories, each in a process of its own."""
    ended_by_sigterm()
    try:
        wanted = chosen(only)
    except UnknownPeerError as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_USAGE) from problem
    count, searches, saves = (_QUICK_N, _QUICK_SEARCHES, _QUICK_SAVES) if quick else (n, _SEARCHES, _SAVES)
    left_out: dict[str, str] = {}
    figures: dict[str, PeerFigures] = {}
    with temporary_folder("recall-peers-") as folder:
        prepare(folder / "prepared", count, saves, searches)
        for name in wanted:
            if missing := PEERS[name].missing():
                left_out[name] = f"not installed: pip install {' '.join(missing)}"
                continue
            errors.print(f"{name} …", highlight=False)
            told = run(name, folder / "prepared", folder / name, searches)
            if isinstance(told, str):
                left_out[name] = told
            else:
                figures[name] = told
    found = report.PeersFigures(count, figures, left_out, machine(), versions())
    report.show(found, console)
    if out is not None:
        report.write(found, out)
        page.write(found, out.with_suffix(".html"))


def run(name: str, prepared: Path, folder: Path, searches: int) -> PeerFigures | str:
    """The figures of one system, or why there are none. Its folder is gone afterwards."""
    with temporary_folder(f"{folder.name}-", folder.parent) as place:
        command = [sys.executable, "-m", "benchmarks.peers.worker", name, str(prepared), str(place), str(searches)]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
        except subprocess.TimeoutExpired:
            return f"not done after {_LONGEST_S:g} s"
    if ended.returncode:
        return f"failed: {(ended.stderr.strip().splitlines() or ['(it said nothing)'])[-1][:300]}"
    return msgspec.json.decode(ended.stdout.strip().splitlines()[-1], type=PeerFigures)


if __name__ == "__main__":
    app()
