"""One size: a server of its own, filled, asked, saved to, started anew."""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.progress import Progress

from benchmarks.latency.corpus import corpus
from benchmarks.latency.fill import fill, wait_for_vectors
from benchmarks.latency.probes import Target
from benchmarks.latency.restart import first_answers
from benchmarks.load.footprint import footprint
from benchmarks.service import LaunchSettings, ServerProcess, Service, ServiceError
from recall.v1 import recall_service_pb2 as pb

BANK = "scale"
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class ScaleSettings:
    """How much is asked at each size."""

    queries: int = 200
    warm_up: int = 20
    saves: int = 100
    start_timeout_s: float = 300.0
    model: str = "hashing:384"


class SizeFigures(msgspec.Struct, frozen=True):
    """What one size costs; the package's docstring tells each figure."""

    memories: int
    recall_ms: float
    engine_ms: float
    save_ms: float
    start_words_s: float
    start_hybrid_s: float
    rss_mib: float
    disk_bytes: int
    fill_s: float


def measure(memories: int, settings: ScaleSettings, progress: Progress) -> SizeFigures:
    """Measures a bank of ``memories``. Raises ServiceError, grpc.RpcError."""
    made = corpus(memories + settings.saves, settings.warm_up + settings.queries + 1, None)
    launch = LaunchSettings({"embedding.model": settings.model}, settings.start_timeout_s)
    with tempfile.TemporaryDirectory(prefix="recall-scale-") as folder:
        data = Path(folder) / "data"
        with ServerProcess(data, launch) as process:
            service = Service(process.address)
            try:
                service.wait_until_serving(settings.start_timeout_s)
                target = Target(service, BANK)
                began = time.perf_counter()
                fill(target, made.texts[:memories], True, progress)
                fill_s = time.perf_counter() - began
                callers, engines = _recalls(target, made.queries[:-1], settings.warm_up)
                saves = [_timed_save(target, text) for text in made.texts[memories:]]
                wait_for_vectors(target, progress)
            finally:
                service.close()
        _, words_s, hybrid_s = first_answers(data, launch, BANK, made.queries[-1])
        return SizeFigures(
            memories=memories,
            recall_ms=round(statistics.median(callers), 3),
            engine_ms=round(statistics.median(engines), 3),
            save_ms=round(statistics.median(saves), 3),
            start_words_s=round(words_s, 3),
            start_hybrid_s=round(hybrid_s, 3),
            rss_mib=_resident(data, launch, made.queries[-1], settings),
            disk_bytes=sum(path.stat().st_size for path in data.rglob("*") if path.is_file()),
            fill_s=round(fill_s, 2),
        )


def _recalls(target: Target, queries: tuple[str, ...], warm_up: int) -> tuple[list[float], list[float]]:
    """Milliseconds at the caller and by the server's account, those of the warm-up left out."""
    callers, engines = [], []
    for query in queries:
        began = time.perf_counter()
        answer = target.recall(query, pb.RECALL_MODE_HYBRID)
        callers.append((time.perf_counter() - began) * 1e3)
        engines.append(answer.timings.total_ms)
    return callers[warm_up:], engines[warm_up:]


def _timed_save(target: Target, text: str) -> float:
    began = time.perf_counter()
    target.save(text)
    return (time.perf_counter() - began) * 1e3


def _resident(data: Path, launch: LaunchSettings, query: str, settings: ScaleSettings) -> float:
    with ServerProcess(data, launch) as process:
        service = Service(process.address)
        try:
            service.wait_until_serving(settings.start_timeout_s)
            _wait_for_hybrid(Target(service, BANK), query, settings.start_timeout_s)
            return footprint(process.pid).rss_mib
        finally:
            service.close()


def _wait_for_hybrid(target: Target, query: str, timeout_s: float) -> None:
    """Returns at the first undegraded hybrid answer: all that a full answer needs is in memory then."""
    deadline = time.monotonic() + timeout_s
    while True:
        answer = target.recall(query, pb.RECALL_MODE_AUTO)
        if answer.retrieval == "hybrid" and not answer.degraded:
            return
        if time.monotonic() > deadline:
            raise ServiceError(f"no undegraded hybrid answer {timeout_s:g} s after the start")
        time.sleep(_POLL_S)
