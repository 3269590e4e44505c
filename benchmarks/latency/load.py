"""Many callers at once: closed loops (c calls always under way) and open loops (calls that come when they come)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import grpc
import msgspec
import numpy as np

from benchmarks.latency.percentiles import Percentiles
from benchmarks.service import Service
from recall.v1 import recall_service_pb2 as pb

Call = Callable[[Service, int], object]
StartCall = Callable[[Service, int], "grpc.Future[pb.RecallResponse]"]


class LoopResult(msgspec.Struct, frozen=True):
    """``offered_per_s`` is 0 for a closed loop; ``clients`` is 0 for an open one."""

    name: str
    clients: int
    offered_per_s: float
    done_per_s: float
    failed: int
    latency_ms: Percentiles


def closed_loop(address: str, name: str, call: Call, clients: int, seconds: float) -> LoopResult:
    """``clients`` threads, each with a channel of its own, each calling again as soon as it is answered."""
    latencies: list[list[float]] = [[] for _ in range(clients)]
    failed = [0] * clients
    started, ends_at = time.perf_counter(), time.perf_counter() + seconds

    def work(worker: int) -> None:
        service = Service(address)
        number = worker
        while (began := time.perf_counter()) < ends_at:
            try:
                call(service, number)
                latencies[worker].append((time.perf_counter() - began) * 1e3)
            except grpc.RpcError:
                failed[worker] += 1
            number += clients
        service.close()

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = [latency for one in latencies for latency in one]
    took = time.perf_counter() - started
    return LoopResult(name, clients, 0.0, round(len(done) / took, 1), sum(failed), Percentiles.of(done or [0.0]))


def open_loop(address: str, name: str, start: StartCall, per_s: float, seconds: float, seed: int) -> LoopResult:
    """Calls at Poisson times; a latency counts from the time a call was due, whether or not it could start then."""
    due = _poisson_times(per_s, seconds, seed)
    service = Service(address)
    done: list[float] = []
    failed: list[int] = []
    left = threading.Semaphore(0)
    started = time.perf_counter()
    for number, at in enumerate(due):
        time.sleep(max(0.0, started + at - time.perf_counter()))
        start(service, number).add_done_callback(_settler(started + at, done, failed, left))
    for _ in due:
        left.acquire()
    took = time.perf_counter() - started
    service.close()
    latency = Percentiles.of(done or [0.0])
    return LoopResult(name, 0, round(per_s, 1), round(len(done) / took, 1), len(failed), latency)


def _poisson_times(per_s: float, seconds: float, seed: int) -> Sequence[float]:
    gaps = np.random.default_rng(seed).exponential(1.0 / per_s, max(1, int(per_s * seconds)))
    return [float(at) for at in np.cumsum(gaps)]


def _settler(
    due_at: float, done: list[float], failed: list[int], left: threading.Semaphore
) -> Callable[[grpc.Future[pb.RecallResponse]], None]:
    def settle(future: grpc.Future[pb.RecallResponse]) -> None:
        if future.exception() is None:
            done.append((time.perf_counter() - due_at) * 1e3)
        else:
            failed.append(1)
        left.release()

    return settle
