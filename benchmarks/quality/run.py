"""One run: load every haystack, ask every question in every system, judge the answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from google.protobuf.duration_pb2 import Duration
from numpy.typing import NDArray

from benchmarks.quality.dataset import Dataset, Haystack, Question
from benchmarks.quality.judgement import Judgement, judge
from benchmarks.quality.loading import Loaded, LoadSettings, load, wait_for_coverage
from benchmarks.quality.peers import Peer
from benchmarks.quality.systems import System
from benchmarks.service import Service, ServiceError
from recall.v1 import admin_service_pb2, bank_service_pb2
from recall.v1 import recall_service_pb2 as pb


@dataclass(frozen=True, slots=True)
class RunSettings:
    """``limit`` results are asked for; ``time_budget_s`` is far above any answer's need, so that none is cut short."""

    limit: int = 100
    time_budget_s: int = 30
    embedder_timeout_s: float = 900.0
    bank_prefix: str = "bench"
    load: LoadSettings = field(default_factory=LoadSettings)


class Progress(Protocol):
    """What a run tells while it works."""

    def start(self, stage: str, total: int) -> None: ...
    def advance(self, done: int) -> None: ...
    def at(self, done: int, total: int) -> None: ...


@dataclass(slots=True)
class Outcome:
    """What one system did: a judgement and a latency for each question; how many answers were degraded, or empty."""

    judgements: list[Judgement] = field(default_factory=list)
    latency_ms: list[float] = field(default_factory=list)
    degraded: Counter[str] = field(default_factory=Counter)
    without_results: int = 0

    def latencies(self) -> NDArray[np.float64]:
        """In the order asked, shape (n,), milliseconds at the client."""
        return np.array(self.latency_ms, np.float64)


@dataclass(frozen=True, slots=True)
class Run:
    """All outcomes by system name, and what was in the banks."""

    outcomes: dict[str, Outcome]
    documents: int
    memories: int
    parted: int
    embedder: admin_service_pb2.EmbedderStatus
    load_s: float
    peers_left_out: tuple[str, ...] = ()
    """Peers that broke on the way, and how."""


def run(
    service: Service,
    dataset: Dataset,
    systems: Sequence[System],
    peers: Sequence[Peer],
    settings: RunSettings,
    progress: Progress,
) -> Run:
    """Measures ``systems`` and ``peers`` on ``dataset``. The banks it makes are deleted again."""
    embedder = _ready_embedder(service, systems, settings)
    outcomes = {name: Outcome() for name in _names(systems, peers)}
    memories, parted, load_s = 0, 0, 0.0
    standing, broken = list(peers), list[str]()
    for number, haystack in enumerate(dataset.haystacks):
        began = time.perf_counter()
        loaded = _fill(service, f"{settings.bank_prefix}-{number}", haystack, dataset, embedder, settings, progress)
        load_s += time.perf_counter() - began
        _ask_all(service, loaded, haystack, systems, outcomes, settings, progress)
        broken += _ask_peers(standing, loaded, haystack, outcomes, settings)
        service.banks.Delete(bank_service_pb2.BankServiceDeleteRequest(name=loaded.bank), timeout=60.0)
        memories, parted = memories + loaded.memories, parted + loaded.parted
    documents = sum(len(haystack.documents) for haystack in dataset.haystacks)
    return Run(outcomes, documents, memories, parted, embedder, load_s, tuple(broken))


def _names(systems: Sequence[System], peers: Sequence[Peer]) -> list[str]:
    return [*(system.name for system in systems), *(peer.name for peer in peers)]


def _ready_embedder(
    service: Service, systems: Sequence[System], settings: RunSettings
) -> admin_service_pb2.EmbedderStatus:
    embedder = service.wait_until_embedder_is_ready(settings.embedder_timeout_s)
    blind = [system.name for system in systems if system.needs_vectors]
    if embedder.state != "ready" and blind:
        raise ServiceError(f"the encoder is {embedder.state} ({embedder.detail}); without it: --systems lexical")
    return embedder


def _fill(
    service: Service,
    bank: str,
    haystack: Haystack,
    dataset: Dataset,
    embedder: admin_service_pb2.EmbedderStatus,
    settings: RunSettings,
    progress: Progress,
) -> Loaded:
    progress.start(f"{haystack.name}: save", len(haystack.documents))
    loaded = load(service, bank, haystack, dataset.dropped, settings.load, progress.advance)
    if embedder.state == "ready":
        progress.start(f"{haystack.name}: embed", loaded.memories)
        wait_for_coverage(service, bank, settings.load, progress.at)
    return loaded


def _ask_all(
    service: Service,
    loaded: Loaded,
    haystack: Haystack,
    systems: Sequence[System],
    outcomes: dict[str, Outcome],
    settings: RunSettings,
    progress: Progress,
) -> None:
    """Questions in turn, each to every system: whatever slows the machine for a while slows all of them."""
    progress.start(f"{haystack.name}: ask", len(haystack.questions))
    for question in haystack.questions:
        for system in systems:
            _ask(service, loaded, question, system, outcomes[system.name], settings)
        progress.advance(1)


def _ask(
    service: Service, loaded: Loaded, question: Question, system: System, outcome: Outcome, settings: RunSettings
) -> None:
    request = pb.RecallRequest(
        bank=loaded.bank,
        query=question.text,
        limit=settings.limit,
        mode=system.mode,
        time_budget=Duration(seconds=settings.time_budget_s),
        weights=system.weights.to_request(),
        fusion=system.fusion,
    )
    began = time.perf_counter()
    answer = service.recall.Recall(request, timeout=2 * settings.time_budget_s)
    outcome.latency_ms.append((time.perf_counter() - began) * 1e3)
    outcome.degraded.update(_labels(answer, system))
    outcome.without_results += not answer.results
    ranked = loaded.ranked_units(result.memory.id for result in answer.results)
    outcome.judgements.append(judge(question, ranked, loaded.units))


def _ask_peers(
    standing: list[Peer], loaded: Loaded, haystack: Haystack, outcomes: dict[str, Outcome], settings: RunSettings
) -> list[str]:
    """Asks every peer; one that breaks is out of the run, and costs it nothing else. Says which broke, and how."""
    broken = []
    for peer in list(standing):
        try:
            _ask_peer(peer, loaded, haystack, outcomes[peer.name], settings)
        except Exception as problem:  # noqa: BLE001 - other people's code may break in any way
            standing.remove(peer)
            del outcomes[peer.name]
            broken.append(f"the peer {peer.name} broke: {type(problem).__name__}: {problem}")
    return broken


def _ask_peer(peer: Peer, loaded: Loaded, haystack: Haystack, outcome: Outcome, settings: RunSettings) -> None:
    """A peer ranks documents; those that share a memory of ours are one to it too, so that all judge alike."""
    search = peer.index(haystack.documents)
    for question in haystack.questions:
        began = time.perf_counter()
        places = search(question.text, settings.limit)
        outcome.latency_ms.append((time.perf_counter() - began) * 1e3)
        ranked = dict.fromkeys(loaded.units[haystack.documents[place].id] for place in places)
        outcome.judgements.append(judge(question, ranked, loaded.units))


def _labels(answer: pb.RecallResponse, system: System) -> list[str]:
    labels = [pb.DegradationReason.Name(one.reason).removeprefix("DEGRADATION_REASON_") for one in answer.degraded]
    if system.needs_vectors and answer.retrieval == "lexical":
        labels.append("ANSWERED_WITHOUT_VECTORS")
    return labels
