"""``python -m benchmarks.regress A B``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.regress.intervals import Interval, interval

_PIPED_WIDTH = 120
_FAILED = 1
_QUICK_ROUNDS = 4
_PROBE = Path(__file__).with_name("pure.py")
_REPOSITORY = Path(__file__).resolve().parents[2]

Round = dict[str, tuple[float, int]]
"""By part: seconds, instructions."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)
errors = Console(stderr=True)


class Compared(msgspec.Struct, frozen=True):
    """One part in both: B / A of the time, and the instructions that a run takes in each."""

    time: Interval
    instructions_a: int
    instructions_b: int


@app.command()
def regress(
    a: Annotated[str, typer.Argument(help="A folder with the sources, or a commit: what was.")],
    b: Annotated[str, typer.Argument(help="The same: what is to be judged.")],
    rounds: Annotated[int, typer.Option(min=1, help="Processes of each, in turn.")] = 12,
    out: Annotated[Path | None, typer.Option(help="Where the JSON goes.")] = None,
    quick: Annotated[bool, typer.Option(help="Few rounds: a look, not a figure.")] = False,
) -> None:
    """Compares the pure parts of two checkouts in one run."""
    try:
        with ExitStack() as trees:
            folders = [trees.enter_context(checkout(one)) for one in (a, b)]
            measured = _rounds(folders[0], folders[1], _QUICK_ROUNDS if quick else rounds)
    except subprocess.CalledProcessError as problem:
        errors.print(f"error: {problem.cmd[:3]} failed: {problem.stderr.strip()}", highlight=False)
        raise typer.Exit(_FAILED) from problem
    found = compared(measured)
    _show(found)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


@contextmanager
def checkout(named: str) -> Iterator[Path]:
    """The folder itself, or a work tree of the commit for as long as the ``with``. Raises CalledProcessError."""
    if Path(named).is_dir():
        yield Path(named).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="recall-regress-") as folder:
        tree = Path(folder) / "tree"
        _git("worktree", "add", "--detach", str(tree), named)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(_REPOSITORY), *arguments], check=True, capture_output=True, text=True)


def _rounds(a: Path, b: Path, count: int) -> list[tuple[Round, Round]]:
    measured = []
    for number in range(count):
        if number % 2:
            second = _round(b)
            measured.append((_round(a), second))
        else:
            first = _round(a)
            measured.append((first, _round(b)))
    return measured


def _round(tree: Path) -> Round:
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
    told = subprocess.run(
        [sys.executable, str(_PROBE)], cwd=tree, env=environment, check=True, capture_output=True, text=True
    )
    return msgspec.json.decode(told.stdout, type=Round)


def compared(measured: list[tuple[Round, Round]]) -> dict[str, Compared]:
    """Every part of the first round, over all rounds."""
    return {
        name: Compared(
            interval([a[name][0] for a, _ in measured], [b[name][0] for _, b in measured]),
            measured[0][0][name][1],
            measured[0][1][name][1],
        )
        for name in measured[0][0]
    }


def _show(found: dict[str, Compared]) -> None:
    table = Table(
        "part", "instructions A", "instructions B", "B / A", "95 %", "", title="time and instructions, B against A"
    )
    for name, one in found.items():
        span = f"{one.time.low:.2f}-{one.time.high:.2f}"
        table.add_row(
            name, f"{one.instructions_a}", f"{one.instructions_b}", f"{one.time.ratio:.3f}", span, one.time.verdict
        )
    console.print(table)


if __name__ == "__main__":
    app()
