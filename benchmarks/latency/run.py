"""One run: fill, measure interleaved, load, save, restart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import grpc
from rich.progress import Progress

from benchmarks.ending import temporary_folder
from benchmarks.environment import machine, versions
from benchmarks.filling import DataFolder, blended
from benchmarks.latency import report
from benchmarks.latency.corpus import Corpus, corpus
from benchmarks.latency.fill import IN_PROCESS, Filled, fill, wait_for_vectors
from benchmarks.latency.flaming import Asked, write_flame
from benchmarks.latency.load import LoopResult, closed_loop, open_loop
from benchmarks.latency.percentiles import Recorder
from benchmarks.latency.plan import Plan
from benchmarks.latency.probes import Target, recall_request, recall_rounds, save_rounds
from benchmarks.latency.restart import restarts
from benchmarks.quality.dataset import Dataset
from benchmarks.service import LaunchSettings, ServerProcess, Service, ServiceError, serving
from index.embedder import Embedder, EmbedderSlot, EmbeddingSettings
from recall.server.app import MODELS
from recall.v1 import recall_service_pb2 as pb

BANK = "latency"


def run(
    n: int, dataset: Dataset | None, model: str, plan: Plan, progress: Progress, flame: Path | None = None
) -> report.LatencyFigures:
    """Measures a bank of ``n`` memories on a server of its own; `flame` is where a flame graph goes.

    Raises ServiceError, grpc.RpcError.
    """
    made = corpus(n + plan.saves + 1, plan.queries, dataset)
    launch = LaunchSettings({"embedding.model": model})
    recorder = Recorder()
    with temporary_folder("recall-latency-") as home, _prepared(home / "data", model, made, n, plan) as alone:
        data, ready = home / "data", alone is not None
        with ServerProcess(data, launch) as process, serving(process.address) as service:
            target = Target(service, BANK)
            encoder = service.wait_until_embedder_is_ready(plan.embedder_timeout_s)
            filled = _filled(target, made.texts[:n], ready, progress)
            wrong = _rounds(target, alone, made, plan, recorder, progress)
            closed, opened = _loops(process.address, made, ready, plan, progress)
            size = _saves(target, home, made.texts[n:], recorder, progress)
            if ready:
                wait_for_vectors(target, progress)
        restart = restarts(data, launch, BANK, made.queries[0], plan.repeats) if ready else None
        if flame is not None:
            write_flame(flame, data, launch, Asked(BANK, made.queries, ready), plan.flame_s)
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
def _prepared(data: Path, model: str, made: Corpus, n: int, plan: Plan) -> Iterator[Embedder | None]:
    """The server's own encoder in this process, its export where the server finds it, and the bank, if the plan wants
    it filled from here. None without a model. Raises ServiceError.
    """
    with DataFolder(data) as folder, closing(EmbedderSlot(EmbeddingSettings(model=model), data / MODELS)) as slot:
        slot.start()
        slot.wait(plan.embedder_timeout_s)
        embedder, state = slot.current(), slot.state()
        if embedder is None and state.state != "off":
            raise ServiceError(f"the encoder does not load in this process: {state.detail}")
        if embedder is not None and plan.sample:
            vectors = blended(embedder, made.texts[: plan.sample])
            folder.fill(BANK, made.texts[:n], embedder, vectors)
        folder.close()  # the server takes it now
        yield embedder


def _filled(target: Target, texts: Sequence[str], ready: bool, progress: Progress) -> Filled:
    """The bank as it should be, made now where it is not there yet."""
    if BANK not in target.service.bank_names():
        return fill(target, texts, ready, progress)
    wait_for_vectors(target, progress)
    return IN_PROCESS


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
