"""Many banks opened in turn: does the server stay within its least-recently-used few, and does it start as fast?"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from rich.progress import Progress

from benchmarks.environment import machine, versions
from benchmarks.latency.corpus import corpus
from benchmarks.latency.probes import recall_request
from benchmarks.load.bars import AtMost, Bar
from benchmarks.load.footprint import Footprint, footprint
from benchmarks.service import LaunchSettings, ServerProcess, Service, ServiceError, serving
from recall.v1 import admin_service_pb2 as admin_pb
from recall.v1 import bank_service_pb2 as bank_pb
from recall.v1 import memory_service_pb2 as memory_pb
from recall.v1 import recall_service_pb2 as recall_pb

_CALL_S = 60.0
_STARTS = 3
_STARTS_LATER_MS = 500.0
_PAGES = 10


class Opened(msgspec.Struct, frozen=True):
    """After so many openings."""

    openings: int
    open_ms: float
    """Mean time of a save or recall that opens its bank, since the row before."""
    footprint: Footprint


class WithAll(msgspec.Struct, frozen=True):
    """With all banks on disk, milliseconds: from the start of the process to SERVING, and to the answer of one bank
    (beside a start on an empty folder); medians of Status and of the pages of List.
    """

    serving_ms: float
    empty_serving_ms: float
    first_answer_ms: float
    status_ms: float
    list_page_ms: float
    list_pages: int
    footprint: Footprint
    """After the start and the calls above."""


class BanksFigures(msgspec.Struct, frozen=True):
    """The first pass makes the banks, the second opens each again."""

    banks: int
    most_open: int
    memories_each: int
    rows: tuple[Opened, ...]
    with_all: WithAll
    bars: dict[str, Bar]
    machine: str
    versions: dict[str, str]


def run(banks: int, most_open: int, memories: int, model: str, progress: Progress) -> BanksFigures:
    """Measures on a server of its own. Raises ServiceError, grpc.RpcError."""
    texts = corpus(memories, 1, None).texts
    launch = LaunchSettings({"embedding.model": model, "storage.max_open_banks": str(most_open)})
    every = max(1, banks // 8)
    rows: list[Opened] = []
    with tempfile.TemporaryDirectory(prefix="recall-banks-") as folder:
        data = Path(folder) / "data"
        with ServerProcess(data, launch) as process, serving(process.address) as service:
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
        with_all = _with_all(data, Path(folder) / "empty", launch, texts[0])
    bars = bars_of(rows, banks, most_open, with_all)
    return BanksFigures(banks, most_open, memories, tuple(rows), with_all, bars, machine(), versions())


def _with_all(data: Path, empty: Path, launch: LaunchSettings, text: str) -> WithAll:
    empty_serving_ms = min(_serving_ms(empty, launch) for _ in range(_STARTS))
    serving_ms = min(_serving_ms(data, launch) for _ in range(_STARTS - 1))
    with ServerProcess(data, launch) as process, serving(process.address) as service:
        serving_ms = min(serving_ms, (time.perf_counter() - process.started_at) * 1e3)
        _ask(service, "bank-0", text)
        first_answer_ms = (time.perf_counter() - process.started_at) * 1e3
        status = [_timed(lambda: service.admin.Status(admin_pb.StatusRequest(), timeout=_CALL_S)) for _ in range(20)]
        pages = list(_list_pages(service))
        held = footprint(process.pid)
    return WithAll(
        serving_ms=round(serving_ms, 1),
        empty_serving_ms=round(empty_serving_ms, 1),
        first_answer_ms=round(first_answer_ms, 1),
        status_ms=round(statistics.median(status), 2),
        list_page_ms=round(statistics.median(pages), 1),
        list_pages=len(pages),
        footprint=held,
    )


def _serving_ms(data: Path, launch: LaunchSettings) -> float:
    with ServerProcess(data, launch) as process, serving(process.address):
        return (time.perf_counter() - process.started_at) * 1e3


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def _list_pages(service: Service) -> Iterator[float]:
    """Milliseconds of each of the first pages."""
    token = ""
    for _ in range(_PAGES):
        began = time.perf_counter()
        answer = service.banks.List(bank_pb.BankServiceListRequest(page_token=token), timeout=_CALL_S)
        yield (time.perf_counter() - began) * 1e3
        token = answer.next_page_token
        if not token:
            return


def bars_of(rows: Sequence[Opened], banks: int, most_open: int, with_all: WithAll) -> dict[str, Bar]:
    """Once as many banks were open and asked as may be, nothing grows any more; nor does a start read them all."""
    full = next((row.footprint for row in rows if row.openings >= banks + most_open), rows[-1].footprint)
    last = rows[-1].footprint
    return {
        "RSS at the end / when full": AtMost(round(last.rss_mib / full.rss_mib, 3), 1.1, "x"),
        "descriptors at the end - when full": AtMost(last.fds - full.fds, 8),
        "threads at the end - when full": AtMost(last.threads - full.threads, 4),
        "start to SERVING with all banks - with none": AtMost(
            round(with_all.serving_ms - with_all.empty_serving_ms, 1), _STARTS_LATER_MS, "ms"
        ),
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
