"""Recall as callers have it: a server process of its own, over gRPC."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from google.protobuf.duration_pb2 import Duration

from benchmarks.peers.peer import Vector, Vectors
from benchmarks.peers.table_server import PREPARED
from benchmarks.quality.loading import LoadSettings, wait_for_coverage
from benchmarks.service import LaunchSettings, ServerProcess, Service
from recall.v1 import bank_service_pb2, memory_service_pb2
from recall.v1 import recall_service_pb2 as pb

BANK = "peers"
_BATCH, _TIMEOUT_S = 500, 120.0
_BUDGET = Duration(seconds=10)
_EVEN = {"lexical": 1.0, "semantic": 1.0, "entity": 0.0, "neighbour": 0.0, "dates": 0.0, "corroboration": 0.0}


class RecallGrpc:
    """Fused by rank, as `RecallEngine` does."""

    def __init__(self, folder: Path, prepared: Path) -> None:
        command = (sys.executable, "-m", "benchmarks.peers.table_server")
        settings = LaunchSettings({"analysis.stemmer": "none"}, command=command, extra={PREPARED: str(prepared)})
        self._process = ServerProcess(folder / "data", settings)
        self._service = Service(self._process.address)
        self._service.wait_until_serving(_TIMEOUT_S)
        self._service.wait_until_embedder_is_ready(_TIMEOUT_S)
        self._service.banks.Create(bank_service_pb2.BankServiceCreateRequest(name=BANK), timeout=_TIMEOUT_S)
        self._rows: dict[str, int] = {}

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:  # noqa: ARG002 - the server's table has them
        for at in range(0, len(texts), _BATCH):
            memories = [memory_service_pb2.NewMemory(text=text) for text in texts[at : at + _BATCH]]
            request = memory_service_pb2.SaveBatchRequest(bank=BANK, memories=memories)
            answer = self._service.memories.SaveBatch(request, timeout=_TIMEOUT_S)
            self._rows.update((one.saved.memory.id, at + place) for place, one in enumerate(answer.results))
        wait_for_coverage(self._service, BANK, LoadSettings(), lambda _done, _total: None)

    def save(self, row: int, text: str, vector: Vector) -> None:  # noqa: ARG002
        request = memory_service_pb2.SaveRequest(bank=BANK, memory=memory_service_pb2.NewMemory(text=text))
        answer = self._service.memories.Save(request, timeout=_TIMEOUT_S)
        self._rows[answer.memory.id] = row

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:  # noqa: ARG002
        request = pb.RecallRequest(
            bank=BANK,
            query=text,
            mode=pb.RECALL_MODE_HYBRID,
            limit=k,
            time_budget=_BUDGET,
            fusion=pb.FUSION_RECIPROCAL_RANK,
            weights=pb.WeightOverrides(**_EVEN),
        )
        answer = self._service.recall.Recall(request, timeout=_TIMEOUT_S)
        return [self._rows[one.memory.id] for one in answer.results]

    def processes(self) -> Sequence[int]:
        return (self._process.pid,)

    def close(self) -> None:
        self._service.close()
        self._process.stop()
