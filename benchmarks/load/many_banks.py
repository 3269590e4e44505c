"""A thousand banks opened in turn: does the server stay within its least-recently-used few?"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import msgspec
from rich.progress import Progress

from benchmarks.environment import machine, versions
from benchmarks.latency.corpus import corpus
from benchmarks.latency.probes import recall_request
from benchmarks.load.bars import AtMost, Bar
from benchmarks.load.footprint import Footprint, footprint
from benchmarks.service import LaunchSettings, ServerProcess, Service, ServiceError
from recall.v1 import memory_service_pb2 as memory_pb
from recall.v1 import recall_service_pb2 as recall_pb

_CALL_S = 60.0


class Opened(msgspec.Struct, frozen=True):
    """After so many openings."""

    openings: int
    open_ms: float
    """Mean time of a save or recall that opens its bank, since the row before."""
    footprint: Footprint


class BanksFigures(msgspec.Struct, frozen=True):
    """The first pass makes the banks, the second opens each again."""

    banks: int
    most_open: int
    memories_each: int
    rows: tuple[Opened, ...]
    bars: dict[str, Bar]
    machine: str
    versions: dict[str, str]


def run(banks: int, most_open: int, memories: int, model: str, progress: Progress) -> BanksFigures:
    """Measures on a server of its own. Raises ServiceError, grpc.RpcError."""
    texts = corpus(memories, 1, None).texts
    launch = LaunchSettings({"embedding.model": model, "storage.max_open_banks": str(most_open)})
    every = max(1, banks // 8)
    rows: list[Opened] = []
    with (
        tempfile.TemporaryDirectory(prefix="recall-banks-") as folder,
        ServerProcess(Path(folder) / "data", launch) as process,
    ):
        service = Service(process.address)
        service.wait_until_serving(120.0)
        service.wait_until_embedder_is_ready(900.0)
        began = time.perf_counter()
        for number in progress.track(range(2 * banks), description="open"):
            bank = f"bank-{number % banks}"
            if number < banks:
                _make(service, bank, texts)
            else:
                _ask(service, bank, texts[0])
            if (number + 1) % every == 0:
                took = (time.perf_counter() - began) / every * 1e3
                rows.append(Opened(number + 1, round(took, 2), footprint(process.pid)))
                began = time.perf_counter()
        service.close()
    return BanksFigures(banks, most_open, memories, tuple(rows), bars_of(rows, most_open), machine(), versions())


def bars_of(rows: list[Opened], most_open: int) -> dict[str, Bar]:
    """Once as many banks were open as may be, nothing grows any more."""
    full = next((row.footprint for row in rows if row.openings >= most_open), rows[-1].footprint)
    last = rows[-1].footprint
    return {
        "RSS at the end / when full": AtMost(round(last.rss_mib / full.rss_mib, 3), 1.1, "x"),
        "descriptors at the end - when full": AtMost(last.fds - full.fds, 8),
        "threads at the end - when full": AtMost(last.threads - full.threads, 4),
    }


def _ask(service: Service, bank: str, text: str) -> None:
    request = recall_request(bank, text, recall_pb.RECALL_MODE_LEXICAL)
    answer = service.recall.Recall(request, timeout=_CALL_S)
    if not answer.results:
        reasons = [recall_pb.DegradationReason.Name(one.reason) for one in answer.degraded]
        raise ServiceError(f"{bank} was asked for a text of its own and answered nothing: {reasons}")


def _make(service: Service, bank: str, texts: tuple[str, ...]) -> None:
    memories = [memory_pb.NewMemory(text=text) for text in texts]
    service.memories.SaveBatch(memory_pb.SaveBatchRequest(bank=bank, memories=memories), timeout=_CALL_S)
