"""Many callers at once: closed loops (c calls always under way) and open loops (calls that come when they come)."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import grpc
import msgspec
import numpy as np

from benchmarks.latency.percentiles import Percentiles
from benchmarks.service import Service

Call = Callable[[Service, int], object]
StartCall = Callable[[Service, int], "grpc.Future[Any]"]
Connect = Callable[[str], Service]
Connected = AbstractContextManager[Callable[[int], object]]


class LoopResult(msgspec.Struct, frozen=True):
    """``offered_per_s`` is 0 for a closed loop; ``clients`` is 0 for an open one."""

    name: str
    clients: int
    offered_per_s: float
    done_per_s: float
    failed: int
    latency_ms: Percentiles
    failures: dict[str, int] = {}
    """Failed calls of an open loop by status."""


def closed_loop(
    address: str, name: str, call: Call, clients: int, seconds: float, connect: Connect = Service
) -> LoopResult:
    """``clients`` threads, each with a channel of its own, each calling again as soon as it is answered."""

    @contextmanager
    def connected() -> Iterator[Callable[[int], object]]:
        service = connect(address)
        try:
            yield partial(call, service)
        finally:
            service.close()

    return at_once(name, connected, clients, seconds, grpc.RpcError)


def at_once(
    name: str, connected: Callable[[], Connected], clients: int, seconds: float, failure: type[Exception]
) -> LoopResult:
    """``clients`` threads, each calling again as soon as it is answered; each call gets a number of its own."""
    latencies: list[list[float]] = [[] for _ in range(clients)]
    failed = [0] * clients
    started, ends_at = time.perf_counter(), time.perf_counter() + seconds

    def work(worker: int) -> None:
        number = worker
        with connected() as call:
            while (began := time.perf_counter()) < ends_at:
                try:
                    call(number)
                    latencies[worker].append((time.perf_counter() - began) * 1e3)
                except failure:
                    failed[worker] += 1
                number += clients

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = [latency for one in latencies for latency in one]
    took = time.perf_counter() - started
    return LoopResult(name, clients, 0.0, round(len(done) / took, 1), sum(failed), Percentiles.of(done or [0.0]))


def open_loop(
    address: str, name: str, start: StartCall, per_s: float, seconds: float, seed: int, connect: Connect = Service
) -> LoopResult:
    """Calls at Poisson times; a latency counts from the time a call was due, whether or not it could start then."""
    due = _poisson_times(per_s, seconds, seed)
    service = connect(address)
    done: list[float] = []
    failed: list[str] = []
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
    rates = round(per_s, 1), round(len(done) / took, 1)
    return LoopResult(name, 0, *rates, len(failed), latency, dict(Counter(failed)))


def _poisson_times(per_s: float, seconds: float, seed: int) -> Sequence[float]:
    gaps = np.random.default_rng(seed).exponential(1.0 / per_s, max(1, int(per_s * seconds)))
    return [float(at) for at in np.cumsum(gaps)]


def _settler(
    due_at: float, done: list[float], failed: list[str], left: threading.Semaphore
) -> Callable[[grpc.Future[Any]], None]:
    def settle(future: grpc.Future[Any]) -> None:
        error = future.exception()
        if error is None:
            done.append((time.perf_counter() - due_at) * 1e3)
        else:
            failed.append(error.code().name if isinstance(error, grpc.RpcError) else type(error).__name__)
        left.release()

    return settle
