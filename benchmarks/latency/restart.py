"""From the start of the process to the first full answer, on a data folder that is there already."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import grpc
import msgspec

from benchmarks.latency.probes import Target
from benchmarks.service import LaunchSettings, ServerProcess, Service, ServiceError
from recall.v1 import recall_service_pb2 as pb

_POLL_S = 0.005
_TIMEOUT_S = 120.0


class Restart(msgspec.Struct, frozen=True):
    """Seconds from starting the process; medians of ``repeats``.

    ``model_load_s`` is from listening to an encoder that is ready, at a start where nobody asks the bank;
    ``model_aside_s`` is ``first_hybrid_s`` less that.
    """

    repeats: int
    listening_s: float
    first_answer_s: float
    first_hybrid_s: float
    model_load_s: float
    model_aside_s: float


def restarts(data: Path, launch: LaunchSettings, bank: str, query: str, repeats: int) -> Restart:
    """Starts the server ``2 * repeats`` times; nobody else uses the folder."""
    loads, asked = [], []
    for _ in range(repeats):
        loads.append(_model_load_s(data, launch))
        asked.append(first_answers(data, launch, bank, query))
    listening, first, hybrid = (_median([one[i] for one in asked]) for i in range(3))
    load = _median(loads)
    return Restart(repeats, listening, first, hybrid, load, round(hybrid - load, 3))


def _median(seconds: Sequence[float]) -> float:
    return round(statistics.median(seconds), 3)


def _model_load_s(data: Path, launch: LaunchSettings) -> float:
    with ServerProcess(data, launch) as process:
        listening = time.perf_counter()
        service = Service(process.address)
        try:
            service.wait_until_embedder_is_ready(_TIMEOUT_S)
            return time.perf_counter() - listening
        finally:
            service.close()


def first_answers(data: Path, launch: LaunchSettings, bank: str, query: str) -> tuple[float, float, float]:
    """Seconds to listening, to the first answer of any kind, and to the first undegraded hybrid one."""
    with ServerProcess(data, launch) as process:
        listening = time.perf_counter() - process.started_at
        service = Service(process.address)
        try:
            first = hybrid = None
            while hybrid is None:
                answer = _try(Target(service, bank), query)
                at = time.perf_counter() - process.started_at
                if at > _TIMEOUT_S:
                    raise ServiceError(f"no undegraded hybrid answer {_TIMEOUT_S:g} s after the restart")
                if answer is not None:
                    first = at if first is None else first
                    hybrid = at if answer.retrieval == "hybrid" and not answer.degraded else None
                if hybrid is None:
                    time.sleep(_POLL_S)
            assert first is not None
            return listening, first, hybrid
        finally:
            service.close()


def _try(target: Target, query: str) -> pb.RecallResponse | None:
    try:
        return target.recall(query, pb.RECALL_MODE_AUTO)
    except grpc.RpcError:
        return None
