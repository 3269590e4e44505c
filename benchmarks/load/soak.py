"""Minutes of load: does anything fail, and does anything grow?"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import grpc
import msgspec
from rich.progress import Progress

from benchmarks.environment import machine, versions
from benchmarks.latency.corpus import Corpus, corpus
from benchmarks.latency.fill import fill
from benchmarks.latency.load import LoopResult, closed_loop, open_loop
from benchmarks.latency.probes import Target, recall_request
from benchmarks.load.bars import AtLeast, AtMost, Bar
from benchmarks.load.footprint import Drift, Footprint, FootprintWatch, drift
from benchmarks.service import LaunchSettings, ServerProcess, Service, serving
from recall.client import ClientOptions, retry_config
from recall.v1 import bank_service_pb2 as banks_pb
from recall.v1 import memory_service_pb2 as memory_pb
from recall.v1 import recall_service_pb2 as recall_pb

BANK, FILLED = "soak", "soak-filled"
_CALL_S = 60.0
_KEPT_SAMPLES = 120


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """How long, and how much of what."""

    seconds: float
    settled_s: float
    """From here on nothing may grow."""
    window_s: float
    """Over which early and late figures are medians."""
    memories: int = 3_000
    share: float = 0.7
    """Of the capacity."""
    recalls: float = 0.8
    """Of the calls; the others save."""
    capacity_s: float = 6.0
    clients: tuple[int, ...] = (4, 8)
    pool_s: float = 60.0
    """Saves draw on as many texts as are saved in this time, so that the bank stops growing."""
    fill_batch: int = 200
    reload_every_s: float = 5.0
    seed: int = 23


def plan_for(seconds: float) -> SoakPlan:
    """Ten minutes settle for two; shorter runs in proportion."""
    scale = min(1.0, seconds / 600.0)
    return SoakPlan(
        seconds,
        settled_s=120.0 * scale,
        window_s=60.0 * scale,
        pool_s=60.0 * scale,
        memories=3_000 if scale == 1.0 else 1_000,
        capacity_s=6.0 if scale == 1.0 else 3.0,
    )


class Beside(msgspec.Struct):
    """What went on beside the load."""

    filled_banks: int = 0
    embedded: int = 0
    reloads: int = 0
    failures: list[str] = msgspec.field(default_factory=list)


class SoakFigures(msgspec.Struct, frozen=True):
    """Everything that one run found. Latencies count from the time a call was due."""

    seconds: float
    capacity_per_s: float
    recall: LoopResult
    save: LoopResult
    beside: Beside
    rss_mib: Drift
    fds: Drift
    threads: Drift
    samples: tuple[Footprint, ...]
    bars: dict[str, Bar]
    model: str
    machine: str
    versions: dict[str, str]


def run(plan: SoakPlan, model: str, progress: Progress) -> SoakFigures:
    """Measures on a server of its own. Raises ServiceError, grpc.RpcError where the preparation fails."""
    made = corpus(plan.memories + 20_000, 5_000, None)
    launch = LaunchSettings({"embedding.model": model})
    with (
        tempfile.TemporaryDirectory(prefix="recall-soak-") as folder,
        ServerProcess(Path(folder) / "data", launch) as process,
        serving(process.address) as service,
    ):
        encoder = service.wait_until_embedder_is_ready(900.0)
        fill(Target(service, BANK), made.texts[: plan.memories], encoder.state == "ready", progress)
        mixed = _Mixed(made, plan)
        with _working_beside(process.address, made, plan):
            capacity = _capacity(process.address, mixed, plan)
        mixed.bound_pool(capacity)
        task = progress.add_task("soak", total=None)
        with FootprintWatch(process.pid) as watch, _working_beside(process.address, made, plan) as beside:
            recall, save = _soak(process.address, mixed, capacity, plan)
        progress.update(task, total=1, completed=1)
    rss, fds, threads = (
        drift(watch.samples, figure, plan.settled_s, plan.window_s) for figure in ("rss_mib", "fds", "threads")
    )
    return SoakFigures(
        seconds=plan.seconds,
        capacity_per_s=capacity,
        recall=recall,
        save=save,
        beside=beside,
        rss_mib=rss,
        fds=fds,
        threads=threads,
        samples=tuple(watch.samples[:: max(1, len(watch.samples) // _KEPT_SAMPLES)]),
        bars=bars_of(recall, save, beside, rss, fds, threads),
        model=f"{encoder.model} ({encoder.backend or encoder.state})",
        machine=machine(),
        versions=versions(),
    )


def bars_of(
    recall: LoopResult, save: LoopResult, beside: Beside, rss: Drift, fds: Drift, threads: Drift
) -> dict[str, Bar]:
    """What has to hold. A connection or a file that is just open may add to a median; a leak adds much more."""
    return {
        "failed calls": AtMost(recall.failed + save.failed + len(beside.failures), 0),
        "RSS late / early": AtMost(rss.growth, 1.1, "x"),
        "RSS highest / early": AtMost(round(rss.highest / rss.early, 3), 1.1, "x"),
        "descriptors late - early": AtMost(fds.late - fds.early, 2),
        "threads late - early": AtMost(threads.late - threads.early, 2),
        "reloads": AtLeast(beside.reloads, 1),
        "filled banks": AtLeast(beside.filled_banks, 1),
    }


class _Mixed:
    """Recalls and saves; saves go round a pool of texts."""

    def __init__(self, made: Corpus, plan: SoakPlan) -> None:
        self._queries = made.queries
        self._texts = made.texts[plan.memories :]
        self._plan = plan
        self._numbers = count()
        self._saves = count()

    def bound_pool(self, capacity: float) -> None:
        """Keeps as many texts as are saved in ``pool_s``."""
        saves_per_s = capacity * self._plan.share * (1 - self._plan.recalls)
        self._texts = self._texts[: max(1, int(saves_per_s * self._plan.pool_s))]

    def call(self, service: Service, _number: int) -> object:
        """One call of the mixture."""
        number = next(self._numbers)
        one_in = round(1 / (1 - self._plan.recalls))
        start = self.save if number % one_in == 0 else self.recall
        return start(service, number).result()

    def recall(self, service: Service, number: int) -> grpc.Future[recall_pb.RecallResponse]:
        query = self._queries[number % len(self._queries)]
        request = recall_request(BANK, query, recall_pb.RECALL_MODE_AUTO)
        return service.recall.Recall.future(request, timeout=_CALL_S)

    def save(self, service: Service, _number: int) -> grpc.Future[memory_pb.SaveResponse]:
        memory = memory_pb.NewMemory(text=self._texts[next(self._saves) % len(self._texts)])
        return service.memories.Save.future(memory_pb.SaveRequest(bank=BANK, memory=memory), timeout=_CALL_S)


def _capacity(address: str, mixed: _Mixed, plan: SoakPlan) -> float:
    loops = [
        closed_loop(address, "capacity", mixed.call, clients, plan.capacity_s, as_clients_do)
        for clients in plan.clients
    ]
    return max(loop.done_per_s for loop in loops)


def _soak(address: str, mixed: _Mixed, capacity: float, plan: SoakPlan) -> tuple[LoopResult, LoopResult]:
    per_s = capacity * plan.share
    with ThreadPoolExecutor(1) as pool:
        saving = pool.submit(
            open_loop,
            address,
            "save",
            mixed.save,
            per_s * (1 - plan.recalls),
            plan.seconds,
            plan.seed + 1,
            as_clients_do,
        )
        recall = open_loop(
            address, "recall", mixed.recall, per_s * plan.recalls, plan.seconds, plan.seed, as_clients_do
        )
        return recall, saving.result()


def as_clients_do(address: str) -> Service:
    """A connection with the retries of `recall.client`: what finds no room is asked again when the server says so."""
    return Service(address, [("grpc.service_config", retry_config(ClientOptions()))])


@contextmanager
def _working_beside(address: str, made: Corpus, plan: SoakPlan) -> Iterator[Beside]:
    """Reloads and a backfill inside the ``with``; the capacity, too, is measured with them going on."""
    over, beside = threading.Event(), Beside()
    with ThreadPoolExecutor(2) as pool:
        works = (
            pool.submit(_until, over, partial(_reload, address, beside), plan.reload_every_s, beside),
            pool.submit(_until, over, partial(_fill_and_delete, address, made, plan, over, beside), 1.0, beside),
        )
        try:
            yield beside
        finally:
            over.set()
        for work in works:
            work.result()


def _until(over: threading.Event, work: Callable[[], None], every_s: float, beside: Beside) -> None:
    while not over.wait(every_s):
        try:
            work()
        except grpc.RpcError as error:
            beside.failures.append(f"{error.code().name}: {error.details()}")


def _reload(address: str, beside: Beside) -> None:
    service = as_clients_do(address)
    try:
        service.banks.Reload(banks_pb.ReloadRequest(name=BANK), timeout=_CALL_S)
        beside.reloads += 1
    finally:
        service.close()


def _fill_and_delete(address: str, made: Corpus, plan: SoakPlan, over: threading.Event, beside: Beside) -> None:
    """A bank that the backfill has to embed, gone once it is."""
    service = as_clients_do(address)
    try:
        texts = made.texts[: plan.fill_batch]
        memories = [memory_pb.NewMemory(text=f"{text} ({beside.filled_banks})") for text in texts]
        service.memories.SaveBatch(memory_pb.SaveBatchRequest(bank=FILLED, memories=memories), timeout=_CALL_S)
        embedded = 0
        while embedded < len(texts) and not over.wait(0.5):
            answer = service.banks.Get(banks_pb.BankServiceGetRequest(name=FILLED), timeout=_CALL_S)
            embedded = answer.bank.coverage.embedded
        beside.embedded += embedded
        service.banks.Delete(banks_pb.BankServiceDeleteRequest(name=FILLED), timeout=_CALL_S)
        beside.filled_banks += 1
    finally:
        service.close()
