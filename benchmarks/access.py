"""What a token check and a role check cost: ``python -m benchmarks.access [--n 10000] [--quick]``.

Two services over equal banks, one without tokens and one that asks for them, get the same lexical recalls in turn,
the order swapped each round, so that whatever else the machine does falls on both. The figure is the ratio of the two
medians. The bar is 1.05.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress

from benchmarks.environment import machine, versions
from benchmarks.latency.corpus import corpus
from benchmarks.latency.fill import fill
from benchmarks.latency.percentiles import Percentiles
from benchmarks.latency.probes import Target, recall_request
from benchmarks.service import LaunchSettings, ServerProcess, Service
from recall.memory.files import DiskFiles
from recall.memory.lifecycle import Role
from recall.tokens import TokenFile
from recall.v1 import recall_service_pb2 as pb

BANK = "measured"
BAR = 1.05
_FULL, _QUICK, _WARM = 4_000, 800, 50
_RESAMPLES = 2_000

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Found(msgspec.Struct, frozen=True):
    """Both sides in ms, and the ratio of their medians with the interval that holds 95 % of its resamples."""

    memories: int
    without: Percentiles
    with_token: Percentiles
    ratio_of_p50: float
    interval: tuple[float, float]
    machine: str
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Side:
    """One service and what calls to it bring."""

    target: Target
    metadata: tuple[tuple[str, str], ...]

    def ask(self, query: str) -> None:
        request = recall_request(self.target.bank, query, pb.RECALL_MODE_LEXICAL)
        self.target.service.recall.Recall(request, timeout=60.0, metadata=self.metadata)


@app.command()
def measure(
    n: Annotated[int, typer.Option(help="Memories in the bank.")] = 10_000,
    quick: Annotated[bool, typer.Option(help="Fewer rounds: a look, not a figure.")] = False,
    out: Annotated[Path | None, typer.Option(help="Where the JSON goes.")] = None,
) -> None:
    """Prints both medians and their ratio."""
    rounds = _QUICK if quick else _FULL
    asked = corpus(n, rounds, None)
    with tempfile.TemporaryDirectory(prefix="recall-bench-") as folder, ExitStack() as parts:
        with Progress(console=Console(stderr=True)) as progress:
            plain = parts.enter_context(filled(Path(folder) / "plain", asked.texts, progress))
            guarded = parts.enter_context(filled(Path(folder) / "guarded", asked.texts, progress))
        token, _ = TokenFile(Path(folder) / "guarded", DiskFiles()).create(Role.AGENT, "default", (BANK,), "bench", 1)
        sides = {"without": Side(plain, ()), "with token": Side(guarded, (("authorization", f"Bearer {token}"),))}
        found = compare(n, sides, asked.queries)
    Console().print(f"p50 without {found.without.p50} ms, with a token {found.with_token.p50} ms")
    low, high = found.interval
    Console().print(f"ratio {found.ratio_of_p50} ({low} to {high}); the bar is {BAR}")
    if out is not None:
        out.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")


@contextmanager
def filled(data: Path, texts: Sequence[str], progress: Progress) -> Iterator[Target]:
    """A service whose one bank holds the texts."""
    settings = LaunchSettings({"embedding.model": "none", "consolidate.enabled": "false"})
    with ServerProcess(data, settings) as process:
        service = Service(process.address)
        try:
            service.wait_until_serving(settings.start_timeout_s)
            target = Target(service, BANK)
            fill(target, texts, has_encoder=False, progress=progress)
            yield target
        finally:
            service.close()


def compare(memories: int, sides: dict[str, Side], queries: Sequence[str]) -> Found:
    """Each query to both sides, the order swapped each time."""
    for side in sides.values():
        for query in queries[:_WARM]:
            side.ask(query)
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for place, query in enumerate(queries):
        for name in list(sides)[:: 1 if place % 2 else -1]:
            taken[name].append(_milliseconds(sides[name], query))
    without, with_token = (np.array(taken[name]) for name in sides)
    return Found(
        memories=memories,
        without=Percentiles.of(taken["without"]),
        with_token=Percentiles.of(taken["with token"]),
        ratio_of_p50=round(float(np.median(with_token) / np.median(without)), 4),
        interval=_interval(without, with_token),
        machine=machine(),
        versions=versions(),
    )


def _milliseconds(side: Side, query: str) -> float:
    began = time.perf_counter_ns()
    side.ask(query)
    return (time.perf_counter_ns() - began) / 1e6


def _interval(without: NDArray[np.float64], with_token: NDArray[np.float64]) -> tuple[float, float]:
    rng = np.random.default_rng(7)
    picks = rng.integers(0, len(without), (_RESAMPLES, len(without)))
    ratios = np.median(with_token[picks], axis=1) / np.median(without[picks], axis=1)
    low, high = np.percentile(ratios, (2.5, 97.5))
    return round(float(low), 4), round(float(high), 4)


if __name__ == "__main__":
    app()
