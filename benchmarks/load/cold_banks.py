"""Banks that were closed for want of room: how soon does the first recall after that answer?"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.progress import Progress

from benchmarks.environment import machine, versions
from benchmarks.latency.corpus import Corpus, corpus
from benchmarks.latency.fill import fill
from benchmarks.latency.percentiles import Percentiles
from benchmarks.latency.probes import Target, recall_request
from benchmarks.load.bars import AtMost, Bar
from benchmarks.service import LaunchSettings, ServerProcess, Service, ServiceError, serving
from recall.v1 import recall_service_pb2 as recall_pb

HASHING = "hashing:384"
"""No model: what is measured is the opening of a bank."""
MOST_MS = 50.0
_CALL_S = 60.0
_MODES = {"lexical": recall_pb.RECALL_MODE_LEXICAL, "hybrid": recall_pb.RECALL_MODE_HYBRID}


@dataclass(frozen=True, slots=True)
class ColdPlan:
    """How many banks are asked in turn; all but `most_open` of them are closed when their turn comes."""

    banks: int = 24
    memories: int = 1_000
    most_open: int = 4
    rounds: int = 10


QUICK = ColdPlan(banks=8, rounds=4)


class Waits(msgspec.Struct, frozen=True):
    """Milliseconds at the caller."""

    first: Percentiles
    second: Percentiles
    """The same query again, at once."""


class ColdFigures(msgspec.Struct, frozen=True):
    """By mode."""

    banks: int
    memories_each: int
    most_open: int
    waits: dict[str, Waits]
    bars: dict[str, Bar]
    model: str
    machine: str
    versions: dict[str, str]


def run(plan: ColdPlan, model: str, progress: Progress) -> ColdFigures:
    """Measures on a server of its own. Raises ServiceError, grpc.RpcError."""
    made = corpus(plan.memories, 200, None)
    launch = LaunchSettings({"embedding.model": model, "storage.max_open_banks": str(plan.most_open)})
    with (
        tempfile.TemporaryDirectory(prefix="recall-cold-") as folder,
        ServerProcess(Path(folder) / "data", launch) as process,
        serving(process.address) as service,
    ):
        service.wait_until_embedder_is_ready(900.0)
        names = [f"cold-{number}" for number in range(plan.banks)]
        for name in names:
            fill(Target(service, name), [f"{text} ({name})" for text in made.texts], True, progress)
        _asked_in_turn(service, names, made, plan.most_open, "lexical", progress)
        waits = {mode: _asked_in_turn(service, names, made, plan.rounds, mode, progress) for mode in _MODES}
    return ColdFigures(plan.banks, plan.memories, plan.most_open, waits, bars_of(waits), model, machine(), versions())


def bars_of(waits: dict[str, Waits]) -> dict[str, Bar]:
    """What has to hold of nearly every first answer."""
    return {f"first {mode} answer, p99": AtMost(round(one.first.p99, 2), MOST_MS, "ms") for mode, one in waits.items()}


def _asked_in_turn(
    service: Service, names: list[str], made: Corpus, rounds: int, mode: str, progress: Progress
) -> Waits:
    first: list[float] = []
    second: list[float] = []
    for number in progress.track(range(rounds * len(names)), description=mode):
        query = made.queries[number % len(made.queries)]
        for waits in (first, second):
            began = time.perf_counter()
            _ask(service, names[number % len(names)], query, mode)
            waits.append((time.perf_counter() - began) * 1e3)
    return Waits(Percentiles.of(first), Percentiles.of(second))


def _ask(service: Service, bank: str, query: str, mode: str) -> None:
    answer = service.recall.Recall(recall_request(bank, query, _MODES[mode]), timeout=_CALL_S)
    if answer.retrieval != mode:
        raise ServiceError(f"{bank} was asked for {mode} and answered {answer.retrieval}")
