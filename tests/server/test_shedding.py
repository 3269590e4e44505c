"""More calls than can be answered: some are refused at once, told when to come again, and clients do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import QuotaFailure, RetryInfo
from grpc_status import rpc_status
from guarding import guard

from recall.client import ClientOptions, RecallClient
from recall.server.edge import new_server
from recall.server.pools import CallPool
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


@pytest.fixture
def crowded() -> Iterator[tuple[Slow, str, list[Any], RecallClient]]:
    """A server whose one thread is busy and whose one place in the line is taken."""
    with (
        slow_server(ServerSettings(workers=1, max_waiting_calls=1), Telemetry()) as (slow, address),
        RecallClient(address, ClientOptions(timeout_s=20)) as client,
        grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)]) as channel,
    ):
        status: Any = channel.unary_unary("/recall.v1.AdminService/Status")
        running = [status.future(b"", timeout=20)]
        assert slow.inside.acquire(timeout=20)
        running.append(status.future(b"", timeout=20))
        while refused_with(status) is None:  # until the second one stands in the line
            running.append(status.future(b"", timeout=20))
        yield slow, address, running, client


def refused_with(status: Any) -> grpc.RpcError | None:
    """The refusal of a call, None when it waits for its turn."""
    try:
        status(b"", timeout=0.5)
    except grpc.RpcError as error:
        return error if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED else None
    return None


def test_a_call_that_finds_no_place_is_refused_at_once_and_told_when_to_come_again(
    crowded: tuple[Slow, str, list[Any], RecallClient],
) -> None:
    _, address, _, _ = crowded
    with grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)]) as channel:
        call: Any = channel.unary_unary("/recall.v1.AdminService/Status")
        refused = refused_with(call)
    assert refused is not None
    status = rpc_status.from_call(refused)
    quota, retry = QuotaFailure(), RetryInfo()
    assert status.details[0].Unpack(quota)
    assert status.details[1].Unpack(retry)
    assert quota.violations[0].subject == "server.max_waiting_calls"
    assert retry.retry_delay.ToMilliseconds() == 200
    assert {one.key: str(one.value) for one in refused.trailing_metadata()}["grpc-retry-pushback-ms"] == "200"


def test_a_client_comes_again_and_is_answered(crowded: tuple[Slow, str, list[Any], RecallClient]) -> None:
    slow, _, running, client = crowded
    timer = threading.Timer(0.1, slow.let.set)
    timer.start()
    assert client.status().version == "slow"
    timer.join()
    assert all(call.result() is not None for call in running[:2])


def _stay(begun: threading.Event, let: threading.Event) -> None:
    begun.set()
    let.wait(20)


def line(now: list[float], **settings: Any) -> tuple[CallPool, threading.Event]:
    """A pool of one busy thread, and what lets that go on."""
    pool = CallPool(ServerSettings(workers=1, burst_ms=100.0, standing_ms=10.0, **settings), lambda: now[0])
    busy, let = threading.Event(), threading.Event()
    pool.submit(_stay, busy, let)
    assert busy.wait(20)
    return pool, let


def test_a_burst_may_wait_but_nobody_joins_a_line_that_stands() -> None:
    now = [0.0]
    pool, let = line(now)
    assert not pool.full
    waiting = pool.submit(lambda: None)
    now[0] = 0.09
    assert not pool.full
    now[0] = 0.2
    assert pool.full
    let.set()
    waiting.result(20)
    assert not pool.full
    pool.shutdown()


def test_a_line_that_moves_fast_takes_more_also_when_it_is_never_empty() -> None:
    now = [0.0]
    pool, let = line(now)
    first = threading.Event()
    began = threading.Event()
    pool.submit(_stay, began, first)
    now[0] = 0.2
    pool.submit(lambda: None)
    let.set()
    assert began.wait(20)
    assert not pool.full  # not empty for .2 s, but the first in the line came this moment
    now[0] = 0.22
    assert pool.full
    first.set()
    pool.shutdown()


def test_a_line_has_an_end() -> None:
    pool, let = line([0.0], max_waiting_calls=2)
    pool.submit(lambda: None)
    assert not pool.full
    pool.submit(lambda: None)
    assert pool.full
    let.set()
    pool.shutdown()
