"""The single calls that are measured on a warm bank, interleaved."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from google.protobuf.duration_pb2 import Duration
from grpc_health.v1 import health_pb2

from benchmarks.latency.percentiles import Recorder
from benchmarks.service import Service
from index.embedder import Embedder
from recall.v1 import bank_service_pb2, memory_service_pb2
from recall.v1 import recall_service_pb2 as pb

STAGES = ("analyze", "embed", "lexical", "vector", "fuse", "fetch", "total")
_BUDGET = Duration(seconds=10)
_EMPTY = health_pb2.HealthCheckRequest()


@dataclass(frozen=True, slots=True)
class Target:
    """A bank on a service."""

    service: Service
    bank: str

    def empty(self) -> None:
        self.service.health.Check(_EMPTY, timeout=30.0)

    def recall(self, query: str, mode: pb.RecallMode.ValueType) -> pb.RecallResponse:
        return self.service.recall.Recall(recall_request(self.bank, query, mode), timeout=60.0)

    def save(self, text: str) -> None:
        memory = memory_service_pb2.NewMemory(text=text)
        self.service.memories.Save(memory_service_pb2.SaveRequest(bank=self.bank, memory=memory), timeout=60.0)

    def log_bytes(self) -> int:
        request = bank_service_pb2.BankServiceGetRequest(name=self.bank)
        return self.service.banks.Get(request, timeout=30.0).bank.sizes.log_bytes


def recall_request(bank: str, query: str, mode: pb.RecallMode.ValueType) -> pb.RecallRequest:
    """A Recall with the default limit and a budget that no answer needs."""
    return pb.RecallRequest(bank=bank, query=query, mode=mode, time_budget=_BUDGET)


def recall_rounds(
    target: Target, embedder: Embedder | None, queries: Sequence[str], recorder: Recorder, done: Callable[[], None]
) -> list[str]:
    """One round a query: empty, lexical, and, with an encoder, encode, hybrid, cached.

    Gives the labels of answers that were not what was asked for; there should be none.
    """
    wrong: list[str] = []
    for query in queries:
        recorder.measure("empty", target.empty)
        _recall(target, query, "lexical", pb.RECALL_MODE_LEXICAL, recorder, wrong)
        if embedder is not None:
            recorder.measure("encode", lambda: embedder.encode([query]))  # noqa: B023
            _recall(target, query, "hybrid", pb.RECALL_MODE_HYBRID, recorder, wrong)
            _recall(target, query, "cached", pb.RECALL_MODE_HYBRID, recorder, wrong)
        done()
    return wrong


def _recall(
    target: Target, query: str, name: str, mode: pb.RecallMode.ValueType, recorder: Recorder, wrong: list[str]
) -> None:
    answer = recorder.measure(name, lambda: target.recall(query, mode))
    expected = "lexical" if mode == pb.RECALL_MODE_LEXICAL else "hybrid"
    if answer.retrieval != expected:
        wrong.append(f"{name}: answered {answer.retrieval}")
    wrong.extend(f"{name}: {pb.DegradationReason.Name(one.reason)}" for one in answer.degraded)
    for stage in STAGES:
        recorder.add(f"{name}/{stage}", getattr(answer.timings, f"{stage}_ms"))


def save_rounds(
    target: Target, folder: Path, texts: Sequence[str], recorder: Recorder, done: Callable[[], None]
) -> int:
    """One round a text: empty, save, fdatasync of as many bytes as a save adds to the log. Gives those bytes."""
    size = _bytes_of_a_save(target, texts[0])
    with (folder / "probe").open("ab", buffering=0) as file:
        for text in texts[1:]:
            recorder.measure("empty beside saves", target.empty)
            recorder.measure("save", lambda: target.save(text))  # noqa: B023
            recorder.measure("fdatasync", lambda: _append(file, size))
            done()
    return size


def _bytes_of_a_save(target: Target, text: str) -> int:
    before = target.log_bytes()
    target.save(text)
    return target.log_bytes() - before


def _append(file: IO[bytes], size: int) -> None:
    file.write(b"x" * size)
    os.fdatasync(file.fileno())
