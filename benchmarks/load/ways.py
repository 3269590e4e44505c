"""The ways to ask and to save, in turn on one bank: what does each take for one query, for one text?"""

from __future__ import annotations

import queue
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

import msgspec
from rich.progress import Progress

from benchmarks.environment import machine, versions
from benchmarks.latency.corpus import Corpus, corpus
from benchmarks.latency.fill import fill
from benchmarks.latency.load import closed_loop
from benchmarks.latency.percentiles import Percentiles, Recorder
from benchmarks.latency.probes import Target, recall_request
from benchmarks.load.bars import AtMost, Bar
from benchmarks.service import LaunchSettings, ServerProcess, Service, serving
from recall.v1 import memory_service_pb2 as memory_pb
from recall.v1 import recall_service_pb2 as recall_pb

BANK = "ways"
TCP, UNIX = "TCP", "unix socket"
Begin = Callable[[str, LaunchSettings], AbstractContextManager[Service]]
"""(name, settings) → a server with a full bank."""
_CALL_S = 60.0
_MODE = recall_pb.RECALL_MODE_AUTO


@dataclass(frozen=True, slots=True)
class WaysPlan:
    """How much is measured."""

    memories: int = 3_000
    rounds: int = 200
    batch: int = 50
    clients: int = 8
    loop_s: float = 6.0
    threads: tuple[int, ...] = (4, 16, 64)


QUICK = WaysPlan(memories=1_000, rounds=30, loop_s=2.0, threads=(4, 16))


class WaysFigures(msgspec.Struct, frozen=True):
    """Milliseconds of one query or one text, by way; recalls a second of all clients, by threads of the server."""

    ways: dict[str, Percentiles]
    threads: dict[str, float]
    ratios: dict[str, float]
    bars: dict[str, Bar]
    batch: int
    clients: int
    model: str
    machine: str
    versions: dict[str, str]


def run(plan: WaysPlan, model: str, progress: Progress) -> WaysFigures:
    """Measures on servers of its own. Raises ServiceError, grpc.RpcError."""
    made = corpus(plan.memories + 2 * plan.rounds * (plan.batch + 1), 200, None)
    recorder = Recorder()
    with tempfile.TemporaryDirectory(prefix="recall-ways-") as folder, ExitStack() as parts:
        launch = LaunchSettings({"embedding.model": model})
        begin = partial(_server, Path(folder), made.texts[: plan.memories], progress)
        tcp = parts.enter_context(begin("tcp", launch))
        unix = parts.enter_context(begin("unix", replace(launch, listen=f"unix:{folder}/socket")))
        _take_turns({TCP: tcp, UNIX: unix}, made, plan, recorder, progress)
        threads = {str(number): _recalls_per_s(begin, launch, made, plan, number) for number in plan.threads}
    ways = recorder.percentiles()
    ratios = _ratios(ways)
    return WaysFigures(ways, threads, ratios, bars_of(ratios), plan.batch, plan.clients, model, machine(), versions())


def bars_of(ratios: dict[str, float]) -> dict[str, Bar]:
    """A batch is one."""
    return {
        "SaveBatch / Save, one text": AtMost(ratios["SaveBatch"], 0.5, "x"),
        "RecallBatch / Recall, one query": AtMost(ratios["RecallBatch"], 0.9, "x"),
    }


def _ratios(ways: dict[str, Percentiles]) -> dict[str, float]:
    """By the medians, against a call over TCP."""
    recall, save = ways[f"Recall, {TCP}"].p50, ways["Save"].p50
    found = {name: round(one.p50 / recall, 3) for name, one in ways.items() if "Recall" in name}
    return {**found, "SaveBatch": round(ways["SaveBatch"].p50 / save, 3)}


def _take_turns(
    services: dict[str, Service], made: Corpus, plan: WaysPlan, recorder: Recorder, progress: Progress
) -> None:
    texts = iter(made.texts[plan.memories :])
    with ExitStack() as streams:
        asks = {f"Recall, {where}": partial(_ask, service) for where, service in services.items()} | {
            f"RecallStream, {where}": streams.enter_context(_streaming(service)) for where, service in services.items()
        }
        tcp = services[TCP]
        for number in progress.track(range(plan.rounds), description="ways"):
            for name, ask in asks.items():
                request = recall_request(BANK, made.queries[number % len(made.queries)], _MODE)
                recorder.measure(name, partial(ask, request))
            recorder.measure("Save", partial(_save, tcp, [next(texts)]))
            if number % 5 == 0:
                queries = [made.queries[(number + at) % len(made.queries)] for at in range(plan.batch)]
                _each(recorder, "RecallBatch", partial(_ask_all, tcp, queries), plan.batch)
                _each(recorder, "SaveBatch", partial(_save, tcp, [next(texts) for _ in range(plan.batch)]), plan.batch)


def _each(recorder: Recorder, name: str, call: Callable[[], object], items: int) -> None:
    began = time.perf_counter()
    call()
    recorder.add(name, (time.perf_counter() - began) * 1e3 / items)


def _recalls_per_s(begin: Begin, launch: LaunchSettings, made: Corpus, plan: WaysPlan, threads: int) -> float:
    numbers = count()
    changed = replace(launch, overrides={**launch.overrides, "server.workers": str(threads)})

    def call(service: Service, _number: int) -> object:
        return _ask(service, recall_request(BANK, made.queries[next(numbers) % len(made.queries)], _MODE))

    with begin(f"threads-{threads}", changed) as service:
        return closed_loop(service.address, "recalls", call, plan.clients, plan.loop_s).done_per_s


@contextmanager
def _server(
    folder: Path, texts: Sequence[str], progress: Progress, name: str, launch: LaunchSettings
) -> Iterator[Service]:
    with ServerProcess(folder / name, launch) as process, serving(process.address) as service:
        encoder = service.wait_until_embedder_is_ready(900.0)
        fill(Target(service, BANK), texts, encoder.state == "ready", progress)
        yield service


@contextmanager
def _streaming(service: Service) -> Iterator[Callable[[recall_pb.RecallRequest], object]]:
    asked: queue.SimpleQueue[recall_pb.RecallStreamRequest | None] = queue.SimpleQueue()
    answers = service.recall.RecallStream(iter(asked.get, None))

    def ask(request: recall_pb.RecallRequest) -> object:
        asked.put(recall_pb.RecallStreamRequest(request=request))
        return next(answers)

    try:
        yield ask
    finally:
        asked.put(None)


def _ask(service: Service, request: recall_pb.RecallRequest) -> object:
    return service.recall.Recall(request, timeout=_CALL_S)


def _ask_all(service: Service, queries: Sequence[str]) -> object:
    requests = [recall_request(BANK, query, _MODE) for query in queries]
    return service.recall.RecallBatch(recall_pb.RecallBatchRequest(requests=requests), timeout=_CALL_S)


def _save(service: Service, texts: Sequence[str]) -> object:
    memories = [memory_pb.NewMemory(text=text) for text in texts]
    if len(memories) == 1:
        return service.memories.Save(memory_pb.SaveRequest(bank=BANK, memory=memories[0]), timeout=_CALL_S)
    return service.memories.SaveBatch(memory_pb.SaveBatchRequest(bank=BANK, memories=memories), timeout=_CALL_S)
