"""The outermost layer: a bug says nothing of itself, bytes that are no message are refused, everything is counted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import grpc
import pytest
from google.rpc.error_details_pb2 import ResourceInfo
from grpc_status import rpc_status
from guarding import guard

from recall.memory.errors import BankNotFound
from recall.server.edge import new_server
from recall.server.settings import ServerSettings
from recall.telemetry import Telemetry
from recall.v1 import admin_service_pb2, bank_service_pb2
from recall.v1.admin_service_pb2_grpc import AdminServiceServicer, add_AdminServiceServicer_to_server
from recall.v1.bank_service_pb2_grpc import BankServiceServicer, add_BankServiceServicer_to_server

SECRET = "the text of a memory"


def fail() -> NoReturn:
    try:
        raise KeyError(SECRET)
    except KeyError as error:
        raise ValueError(SECRET) from error


class Faulty(AdminServiceServicer):
    def Status(self, _request: Any, _context: Any) -> NoReturn:
        fail()

    def Doctor(self, _request: Any, _context: Any) -> NoReturn:
        raise BankNotFound("demo")

    def Backup(self, _request: Any, _context: Any) -> Iterator[admin_service_pb2.BackupResponse]:
        yield admin_service_pb2.BackupResponse()
        fail()

    def ListAudit(self, _request: Any, _context: Any) -> NoReturn:
        raise BankNotFound("demo")


class FaultyStream(BankServiceServicer):
    def _unused(self, _request: Any, _context: Any) -> NoReturn:
        raise NotImplementedError

    Create = Get = List = Update = Delete = Restore = Reload = Vacuum = _unused  # type: ignore[assignment]

    def Watch(self, _request: Any, _context: Any) -> Iterator[bank_service_pb2.WatchResponse]:
        yield bank_service_pb2.WatchResponse(bank="demo")
        fail()


@contextmanager
def channel(telemetry: Telemetry) -> Iterator[grpc.Channel]:
    server = new_server(ServerSettings(workers=2, max_message_bytes=64 * 1024), telemetry, guard())
    add_AdminServiceServicer_to_server(Faulty(), server)
    add_BankServiceServicer_to_server(FaultyStream(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.enable_http_proxy", 0)]) as connected:
            yield connected
    finally:
        server.stop(None).wait()


def told(error: grpc.RpcError) -> str:
    return error.details() or ""


def unary(connected: grpc.Channel, method: str, data: bytes = b"") -> Callable[[], bytes]:
    call: Any = connected.unary_unary(f"/recall.v1.{method}")
    return lambda: call(data, timeout=5)


def stream(connected: grpc.Channel, method: str) -> Callable[[], list[bytes]]:
    call: Any = connected.unary_stream(f"/recall.v1.{method}")
    return lambda: list(call(b"", timeout=5))


@pytest.mark.parametrize(("make", "method"), [(unary, "AdminService/Status"), (stream, "BankService/Watch")])
def test_a_bug_reaches_the_caller_as_a_fixed_text_and_the_log_without_messages(
    make: Callable[..., Callable[[], object]], method: str, caplog: pytest.LogCaptureFixture
) -> None:
    with channel(Telemetry()) as connected, caplog.at_level(logging.ERROR), pytest.raises(grpc.RpcError) as failed:
        make(connected, method)()
    assert failed.value.code() is grpc.StatusCode.INTERNAL
    assert told(failed.value).startswith("internal error")
    assert SECRET not in told(failed.value)
    assert SECRET not in caplog.text
    assert f"rpc={method}" in caplog.text
    assert "ValueError" in caplog.text
    assert "KeyError" in caplog.text
    assert "in fail" in caplog.text


def test_a_domain_error_becomes_its_status() -> None:
    with channel(Telemetry()) as connected, pytest.raises(grpc.RpcError) as failed:
        unary(connected, "AdminService/Doctor")()
    assert failed.value.code() is grpc.StatusCode.NOT_FOUND
    assert failed.value.details() == "no bank named 'demo'"
    status = rpc_status.from_call(failed.value)
    assert status.details[0].Unpack(ResourceInfo())


def test_bytes_that_are_no_message_are_the_callers_mistake() -> None:
    with channel(Telemetry()) as connected, pytest.raises(grpc.RpcError) as failed:
        unary(connected, "AdminService/Doctor", b"\xff\xff\xff")()
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_message_beyond_the_limit_is_refused_with_both_sizes_named() -> None:
    with channel(Telemetry()) as connected, pytest.raises(grpc.RpcError) as failed:
        unary(connected, "AdminService/Doctor", b"x" * 70_000)()
    assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "70000" in told(failed.value)
    assert "65536" in told(failed.value)


def test_calls_are_counted_with_their_codes() -> None:
    telemetry = Telemetry()
    with channel(telemetry) as connected:
        for method in ("AdminService/Status", "AdminService/Doctor", "AdminService/Doctor"):
            with pytest.raises(grpc.RpcError):
                unary(connected, method)()
    counted = {figures.name: (figures.count, figures.failed) for figures in telemetry.figures()}
    assert counted == {
        "AdminService/Doctor": (2, (("NOT_FOUND", 2),)),
        "AdminService/Status": (1, (("INTERNAL", 1),)),
    }


def test_every_rpc_that_streams_has_a_pool_of_its_own() -> None:
    from recall.server.edge import RECALL_STREAM, STREAMS, WATCH
    from recall.v1 import memory_service_pb2, recall_service_pb2

    streaming = {
        f"/{service.full_name}/{method.name}"
        for module in (admin_service_pb2, bank_service_pb2, memory_service_pb2, recall_service_pb2)
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
        if method.client_streaming or method.server_streaming
    }
    assert streaming <= {WATCH, RECALL_STREAM, *STREAMS}
