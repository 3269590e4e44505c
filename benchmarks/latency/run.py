"""One run: fill, measure interleaved, load, save, restart."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
from rich.progress import Progress

from benchmarks.environment import machine, versions
from benchmarks.latency import report
from benchmarks.latency.corpus import Corpus, corpus
from benchmarks.latency.fill import fill, wait_for_vectors
from benchmarks.latency.load import LoopResult, closed_loop, open_loop
from benchmarks.latency.percentiles import Recorder
from benchmarks.latency.plan import Plan
from benchmarks.latency.probes import Target, recall_request, recall_rounds, save_rounds
from benchmarks.latency.restart import restarts
from benchmarks.quality.dataset import Dataset
from benchmarks.service import LaunchSettings, ServerProcess, Service, ServiceError
from index.embedder import Embedder, EmbedderSlot, EmbeddingSettings
from recall.server.app import MODELS
from recall.v1 import recall_service_pb2 as pb

BANK = "latency"


def run(n: int, dataset: Dataset | None, model: str, plan: Plan, progress: Progress) -> report.LatencyFigures:
    """Measures a bank of ``n`` memories on a server of its own. Raises ServiceError, grpc.RpcError."""
    made = corpus(n + plan.saves + 1, plan.queries, dataset)
    launch = LaunchSettings({"embedding.model": model})
    recorder = Recorder()
    with tempfile.TemporaryDirectory(prefix="recall-latency-") as folder:
        home = Path(folder)
        with ServerProcess(home / "data", launch) as process, _serving(process.address) as service:
            target = Target(service, BANK)
            encoder = service.wait_until_embedder_is_ready(plan.embedder_timeout_s)
            ready = encoder.state == "ready"
            filled = fill(target, made.texts[:n], ready, progress)
            with _alone(model, home / "data", ready) as alone:
                wrong = _rounds(target, alone, made, plan, recorder, progress)
            closed, opened = _loops(process.address, made, ready, plan, progress)
            size = _saves(target, home, made.texts[n:], recorder, progress)
            if ready:
                wait_for_vectors(target, progress)
        restart = restarts(home / "data", launch, BANK, made.queries[0], plan.repeats) if ready else None
    measured = recorder.percentiles()
    return report.LatencyFigures(
        n=n,
        real_texts=min(made.real, n),
        corpus=f"{dataset.name} text topped up with synthetic" if dataset else "synthetic text, Zipf vocabulary",
        ratios=report.ratios(measured, restart),
        latency_ms=measured,
        stages_p50_ms=report.stages(measured, "p50"),
        stages_mean_ms=report.stages(measured, "mean"),
        bytes_of_a_save=size,
        fill_per_s=filled.saved_per_s,
        embed_per_s=filled.embedded_per_s,
        restart=restart,
        closed_loops=closed,
        open_loops=opened,
        wrong_answers=dict(Counter(wrong)),
        model=f"{encoder.model} ({encoder.backend or encoder.state})",
        machine=machine(),
        versions=versions(),
    )


@contextmanager
def _serving(address: str) -> Iterator[Service]:
    service = Service(address)
    try:
        service.wait_until_serving(120.0)
        yield service
    finally:
        service.close()


@contextmanager
def _alone(model: str, data: Path, ready: bool) -> Iterator[Embedder | None]:
    """The same encoder in this process, over the export that the server made."""
    if not ready:
        yield None
        return
    slot = EmbedderSlot(EmbeddingSettings(model=model), data / MODELS)
    slot.start()
    try:
        slot.wait(600.0)
        embedder = slot.current()
        if embedder is None:
            raise ServiceError(f"the encoder does not load in this process: {slot.state().detail}")
        yield embedder
    finally:
        slot.close()


def _rounds(
    target: Target, alone: Embedder | None, made: Corpus, plan: Plan, recorder: Recorder, progress: Progress
) -> list[str]:
    warm, measured = made.queries[: plan.warm_up], made.queries[plan.warm_up : plan.warm_up + plan.rounds]
    recall_rounds(target, alone, warm, Recorder(), lambda: None)
    task = progress.add_task("recall", total=len(measured))
    return recall_rounds(target, alone, measured, recorder, lambda: progress.advance(task))


def _saves(target: Target, home: Path, texts: tuple[str, ...], recorder: Recorder, progress: Progress) -> int:
    task = progress.add_task("save", total=len(texts) - 1)
    return save_rounds(target, home, texts, recorder, lambda: progress.advance(task))


def _loops(
    address: str, made: Corpus, ready: bool, plan: Plan, progress: Progress
) -> tuple[tuple[LoopResult, ...], tuple[LoopResult, ...]]:
    """Closed loops at each number of clients, then open ones at shares of the best of them."""
    closed, opened = [], []
    modes = {"lexical": pb.RECALL_MODE_LEXICAL, **({"hybrid": pb.RECALL_MODE_HYBRID} if ready else {})}
    stock = made.queries[plan.warm_up + plan.rounds :]
    task = progress.add_task("load", total=len(modes) * (len(plan.clients) + len(plan.open_shares)))
    for name, mode in modes.items():
        calls = _Queries(stock, mode)
        for clients in plan.clients:
            closed.append(closed_loop(address, name, calls.call, clients, plan.loop_s))
            progress.advance(task)
        best = max(loop.done_per_s for loop in closed if loop.name == name)
        for share in plan.open_shares:
            opened.append(open_loop(address, name, calls.start, share * best, plan.loop_s, plan.seed))
            progress.advance(task)
    return tuple(closed), tuple(opened)


class _Queries:
    """Walks on through a stock of queries, so that no loop asks what the one before it asked."""

    def __init__(self, stock: tuple[str, ...], mode: pb.RecallMode.ValueType) -> None:
        self._stock = stock
        self._mode = mode
        self._next = iter(range(10**9))

    def _request(self) -> pb.RecallRequest:
        return recall_request(BANK, self._stock[next(self._next) % len(self._stock)], self._mode)

    def call(self, service: Service, _number: int) -> object:
        return service.recall.Recall(self._request(), timeout=60.0)

    def start(self, service: Service, _number: int) -> grpc.Future[pb.RecallResponse]:
        return service.recall.Recall.future(self._request(), timeout=60.0)
