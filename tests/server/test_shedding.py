"""More calls than can be answered: some are refused at once, told when to come again, and clients do."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import QuotaFailure, RetryInfo
from grpc_status import rpc_status
from guarding import guard

from recall.client import ClientOptions, RecallClient
from recall.server.edge import new_server
from recall.server.pools import CallPool, refuse_if_told
from recall.server.refusals import Overloaded
from recall.server.settings import ServerSettings
from recall.telemetry import Telemetry
from recall.v1 import admin_service_pb2 as pb
from recall.v1.admin_service_pb2_grpc import AdminServiceServicer, add_AdminServiceServicer_to_server


class Slow(AdminServiceServicer):
    """Answers when it is let; counts who got through to it."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.inside = threading.Semaphore(0)

    def Status(self, _request: Any, _context: Any) -> pb.StatusResponse:
        self.inside.release()
        assert self.let.wait(20)
        return pb.StatusResponse(version="slow")

    def _unused(self, _request: Any, _context: Any) -> Any:
        raise NotImplementedError

    Doctor = ListAudit = Backup = _unused  # type: ignore[assignment]


@contextmanager
def slow_server(settings: ServerSettings, telemetry: Telemetry) -> Iterator[tuple[Slow, str]]:
    slow = Slow()
    server = new_server(settings, telemetry, guard())
    add_AdminServiceServicer_to_server(slow, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield slow, address
    finally:
        slow.let.set()
        server.stop(None).wait()


@dataclass(frozen=True, slots=True)
class Crowded:
    """A server whose one thread is busy with the first of `calls`, and whose one place in the line another holds."""

    slow: Slow
    address: str
    status: Any
    calls: list[Any]

    def call(self) -> Any:
        self.calls.append(self.status.future(b"", timeout=20))
        return self.calls[-1]


@pytest.fixture
def crowded() -> Iterator[Crowded]:
    with (
        slow_server(ServerSettings(workers=1, max_waiting_calls=1), Telemetry()) as (slow, address),
        grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)]) as channel,
    ):
        status: Any = channel.unary_unary("/recall.v1.AdminService/Status")
        made = Crowded(slow, address, status, [])
        made.call()
        assert slow.inside.acquire(timeout=20)
        made.call()
        yield made


def test_the_oldest_of_a_full_line_is_refused_at_once_and_told_when_to_come_again(crowded: Crowded) -> None:
    crowded.call()
    refused = next(call.exception() for call in as_they_end(crowded.calls[1:]))
    assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    status = rpc_status.from_call(refused)
    quota, retry = QuotaFailure(), RetryInfo()
    assert status.details[0].Unpack(quota)
    assert status.details[1].Unpack(retry)
    assert quota.violations[0].subject == "server.max_waiting_calls"
    assert retry.retry_delay.ToMilliseconds() == 200
    assert {one.key: str(one.value) for one in refused.trailing_metadata()}["grpc-retry-pushback-ms"] == "200"
    crowded.slow.let.set()
    assert len([call for call in crowded.calls if call.exception() is None]) == 2


def test_a_client_comes_again_and_is_answered(crowded: Crowded) -> None:
    with RecallClient(crowded.address, ClientOptions(timeout_s=20)) as client, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.status)
        assert is_refused(crowded.calls[1])  # the client has the place
        later = crowded.call()
        assert is_refused(later)  # it lost the place and came again
        crowded.slow.let.set()
        assert answer.result(20).version == "slow"


def is_refused(call: Any) -> bool:
    return bool(call.exception(20).code() is grpc.StatusCode.RESOURCE_EXHAUSTED)


def as_they_end(calls: list[Any]) -> Iterator[Any]:
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    for call in calls:
        call.add_done_callback(ended.put)
    for _ in calls:
        yield ended.get(timeout=20)


class Line:
    """A pool whose threads are all busy until `let`, at a time that is set."""

    def __init__(self, workers: int = 1, **settings: Any) -> None:
        self.now = 0.0
        self.told: list[str] = []
        self.pool = CallPool(ServerSettings(workers=workers, **settings), lambda: self.now)
        self._let = threading.Event()
        inside = threading.Semaphore(0)
        self._busy = [self.pool.submit(self._stay, inside) for _ in range(workers)]
        assert all(inside.acquire(timeout=20) for _ in range(workers))

    def _stay(self, inside: threading.Semaphore) -> None:
        inside.release()
        assert self._let.wait(20)

    def come(self, name: str, task: Callable[[], object] = lambda: None) -> Future[Any]:
        def told() -> None:
            refuse_if_told()
            task()
            self.told.append(name)

        return self.pool.submit(told)

    def let(self, *calls: Future[Any]) -> list[type[BaseException] | None]:
        """Lets the threads go on; how each call ended."""
        self._let.set()
        ended = [call.exception(20) for call in calls]
        self.pool.shutdown()
        return [None if error is None else type(error) for error in ended]


def test_of_a_burst_who_came_first_goes_first() -> None:
    line = Line()
    calls = [line.come("a"), line.come("b")]
    line.now = 0.09
    assert line.let(*calls) == [None, None]
    assert line.told == ["a", "b"]


def test_when_it_is_crowded_the_newest_goes_first_and_all_are_answered() -> None:
    line = Line()
    calls = [line.come("a"), line.come("b")]
    line.now = 1.9
    calls.append(line.come("c"))
    assert line.let(*calls) == [None, None, None]
    assert line.told == ["c", "b", "a"]


def test_under_overload_who_waited_for_long_is_refused_and_who_just_came_is_answered() -> None:
    line = Line()
    calls = [line.come("a"), line.come("b")]
    line.now = 2.1
    calls += [line.come("c"), line.come("d")]
    assert line.let(*calls) == [Overloaded, Overloaded, None, None]
    assert line.told == ["d", "c"]


def test_the_last_in_line_is_answered_however_long_it_waited() -> None:
    line = Line()
    call = line.come("a")
    line.now = 60.0
    assert line.let(call) == [None]


def test_under_overload_few_begin_beside_each_other() -> None:
    line = Line(workers=4, busy_ms=10_000.0)
    met = threading.Barrier(3)
    old = line.come("old")
    line.now = 3.0
    calls = [line.come(name, partial(met.wait, 0.2)) for name in "abc"]
    assert line.let(old, *calls) == [Overloaded, *[threading.BrokenBarrierError] * 3]


def test_as_many_as_there_are_threads_begin_beside_each_other_when_it_is_calm() -> None:
    line = Line(workers=3)
    met = threading.Barrier(3)
    assert line.let(*[line.come(name, partial(met.wait, 20)) for name in "abc"]) == [None] * 3


def test_a_pool_that_was_shut_down_takes_no_call() -> None:
    line = Line()
    line.let()
    with pytest.raises(RuntimeError):
        line.come("late")
