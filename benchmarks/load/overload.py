"""More recalls than the machine can answer: are some refused at once, or do all of them wait?"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import grpc
import msgspec
from rich.progress import Progress

from benchmarks.environment import machine, versions
from benchmarks.latency.corpus import Corpus, corpus
from benchmarks.latency.fill import fill
from benchmarks.latency.load import LoopResult, StartCall, closed_loop, open_loop
from benchmarks.latency.probes import Target, recall_request
from benchmarks.load.bars import AtLeast, AtMost, Bar
from benchmarks.service import LaunchSettings, ServerProcess, Service, serving
from recall.v1 import recall_service_pb2 as recall_pb

BANK = "overload"
_CALL_S = 30.0
_REFUSED = grpc.StatusCode.RESOURCE_EXHAUSTED.name


@dataclass(frozen=True, slots=True)
class OverloadPlan:
    """How long, and how much."""

    memories: int = 3_000
    queries: int = 200
    """Asked again and again, so their vectors are known: what is measured is the service, not the model."""
    clients: tuple[int, ...] = (2, 4, 8)
    capacity_s: float = 8.0
    seconds: float = 20.0
    calm: float = 0.5
    """Of the capacity: uncongested."""
    much: float = 1.5
    """Of the capacity: more than can be answered."""
    seed: int = 29


QUICK = OverloadPlan(memories=1_000, clients=(4,), capacity_s=4.0, seconds=6.0)


class OverloadFigures(msgspec.Struct, frozen=True):
    """Latencies of answered calls, from the time each was due, in milliseconds."""

    capacity_per_s: float
    calm: LoopResult
    overloaded: LoopResult
    bars: dict[str, Bar]
    model: str
    machine: str
    versions: dict[str, str]


def run(plan: OverloadPlan, model: str, progress: Progress) -> OverloadFigures:
    """Measures on a server of its own. Raises ServiceError, grpc.RpcError where the preparation fails."""
    made = corpus(plan.memories, plan.queries, None)
    launch = LaunchSettings({"embedding.model": model})
    with (
        tempfile.TemporaryDirectory(prefix="recall-overload-") as folder,
        ServerProcess(Path(folder) / "data", launch) as process,
        serving(process.address) as service,
    ):
        encoder = service.wait_until_embedder_is_ready(900.0)
        fill(Target(service, BANK), made.texts, encoder.state == "ready", progress)
        start = _recall(made)
        for number in range(plan.queries):
            start(service, number).result()
        task = progress.add_task("overload", total=None)
        capacity = max(
            closed_loop(process.address, "capacity", partial(_done, start), clients, plan.capacity_s).done_per_s
            for clients in plan.clients
        )
        offered = partial(open_loop, process.address, start=start, seconds=plan.seconds, seed=plan.seed)
        calm = offered("calm", per_s=capacity * plan.calm)
        overloaded = offered("overloaded", per_s=capacity * plan.much)
        progress.update(task, total=1, completed=1)
    return OverloadFigures(
        capacity_per_s=capacity,
        calm=calm,
        overloaded=overloaded,
        bars=bars_of(capacity, calm, overloaded),
        model=f"{encoder.model} ({encoder.backend or encoder.state})",
        machine=machine(),
        versions=versions(),
    )


def bars_of(capacity: float, calm: LoopResult, overloaded: LoopResult) -> dict[str, Bar]:
    """What has to hold: load is shed, by the one status that says so, and what is answered is answered in time."""
    refused = overloaded.failures.get(_REFUSED, 0)
    return {
        "calls refused when overloaded": AtLeast(refused, 1),
        "calls failed otherwise": AtMost(calm.failed + overloaded.failed - refused, 0),
        "answered when overloaded / capacity": AtLeast(round(overloaded.done_per_s / capacity, 3), 0.7, "x"),
        "p99 of answered / uncongested": AtMost(round(overloaded.latency_ms.p99 / calm.latency_ms.p99, 3), 3.0, "x"),
    }


def _recall(made: Corpus) -> StartCall:
    def start(service: Service, number: int) -> grpc.Future[recall_pb.RecallResponse]:
        query = made.queries[number % len(made.queries)]
        return service.recall.Recall.future(recall_request(BANK, query, recall_pb.RECALL_MODE_AUTO), timeout=_CALL_S)

    return start


def _done(start: StartCall, service: Service, number: int) -> object:
    try:
        return start(service, number).result()
    except grpc.RpcError as error:
        if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
            return None
        raise
