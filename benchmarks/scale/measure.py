"""One size: a server of its own, filled, asked, saved to, started anew."""

from __future__ import annotations

import statistics
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.progress import Progress

from benchmarks.ending import temporary_folder
from benchmarks.filling import DataFolder, blended
from benchmarks.latency.corpus import corpus
from benchmarks.latency.fill import wait_for_vectors
from benchmarks.latency.probes import Target
from benchmarks.latency.restart import first_answers
from benchmarks.load.footprint import footprint, own_mib, processor_s
from benchmarks.service import LaunchSettings, ServerProcess, ServiceError, serving
from index.embedder import EmbedderSlot, EmbeddingSettings
from recall.server.app import MODELS
from recall.v1 import recall_service_pb2 as pb

BANK, HASHING = "scale", "hashing:384"
_POLL_S = 0.02
_IDLE_S, _IDLE_SHARE = 0.5, 0.1


@dataclass(frozen=True, slots=True)
class ScaleSettings:
    """How much is asked at each size."""

    queries: int = 200
    warm_up: int = 20
    saves: int = 100
    start_timeout_s: float = 300.0
    model: str = HASHING
    sample: int = 512
    """Texts that a language model embeds; the other vectors are blended of theirs."""

    @property
    def has_language_model(self) -> bool:
        return not self.model.startswith("hashing")


class SizeFigures(msgspec.Struct, frozen=True):
    """What one size costs; the package's docstring tells each figure."""

    memories: int
    recall_ms: float
    engine_ms: float
    save_ms: float
    start_words_s: float
    start_hybrid_s: float
    rss_mib: float
    own_mib: float
    disk_bytes: int
    fill_s: float


def measure(memories: int, settings: ScaleSettings, progress: Progress) -> SizeFigures:
    """Measures a bank of ``memories``. Raises ServiceError, grpc.RpcError."""
    made = corpus(memories + settings.saves, settings.warm_up + settings.queries + 1, None)
    launch = LaunchSettings({"embedding.model": settings.model}, settings.start_timeout_s)
    with temporary_folder("recall-scale-") as folder:
        data = folder / "data"
        fill_s = _fill(data, made.texts[:memories], settings)
        with ServerProcess(data, launch) as process, serving(process.address) as service:
            target = Target(service, BANK)
            _wait_for_hybrid(target, made.queries[-1], settings.start_timeout_s)
            _wait_for_idle(process.pid, settings.start_timeout_s)
            callers, engines = _recalls(target, made.queries[:-1], settings.warm_up)
            _wait_for_idle(process.pid, settings.start_timeout_s)
            saves = [_timed_save(target, text) for text in made.texts[memories:]]
            wait_for_vectors(target, progress)
        _, words_s, hybrid_s = first_answers(data, launch, BANK, made.queries[-1])
        rss_mib, own = _resident(data, launch, made.queries[-1], settings)
        return SizeFigures(
            memories=memories,
            recall_ms=round(statistics.median(callers), 3),
            engine_ms=round(statistics.median(engines), 3),
            save_ms=round(statistics.median(saves), 3),
            start_words_s=round(words_s, 3),
            start_hybrid_s=round(hybrid_s, 3),
            rss_mib=rss_mib,
            own_mib=own,
            disk_bytes=sum(path.stat().st_size for path in data.rglob("*") if path.is_file()),
            fill_s=round(fill_s, 2),
        )


def _fill(data: Path, texts: tuple[str, ...], settings: ScaleSettings) -> float:
    """Makes the bank in this process; seconds, the embedding of a sample aside. Raises ServiceError."""
    with (
        DataFolder(data) as folder,
        closing(EmbedderSlot(EmbeddingSettings(model=settings.model), data / MODELS)) as slot,
    ):
        slot.start()
        slot.wait(settings.start_timeout_s)
        if (embedder := slot.current()) is None:
            raise ServiceError(f"the encoder does not load in this process: {slot.state().detail}")
        vectors = blended(embedder, texts[: settings.sample]) if settings.has_language_model else None
        began = time.perf_counter()
        folder.fill(BANK, texts, embedder, vectors)
        return time.perf_counter() - began


def _recalls(target: Target, queries: tuple[str, ...], warm_up: int) -> tuple[list[float], list[float]]:
    """Milliseconds at the caller and by the server's account, those of the warm-up left out."""
    callers, engines = [], []
    for query in queries:
        began = time.perf_counter()
        answer = target.recall(query, pb.RECALL_MODE_HYBRID)
        callers.append((time.perf_counter() - began) * 1e3)
        engines.append(answer.timings.total_ms - answer.timings.embed_ms)
    return callers[warm_up:], engines[warm_up:]


def _wait_for_idle(pid: int, timeout_s: float) -> None:
    """Returns when a start has no more work behind it, so that a call is measured alone."""
    deadline, used = time.monotonic() + timeout_s, processor_s(pid)
    while time.monotonic() < deadline:
        time.sleep(_IDLE_S)
        before, used = used, processor_s(pid)
        if used - before < _IDLE_SHARE * _IDLE_S:
            return
    raise ServiceError(f"the server still works {timeout_s:g} s after its first answer, and nobody asks it")


def _timed_save(target: Target, text: str) -> float:
    began = time.perf_counter()
    target.save(text)
    return (time.perf_counter() - began) * 1e3


def _resident(data: Path, launch: LaunchSettings, query: str, settings: ScaleSettings) -> tuple[float, float]:
    """MiB of a server that was started anew, all and without pages of files."""
    with ServerProcess(data, launch) as process, serving(process.address) as service:
        _wait_for_hybrid(Target(service, BANK), query, settings.start_timeout_s)
        return footprint(process.pid).rss_mib, own_mib(process.pid)


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
