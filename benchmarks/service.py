"""The service under measurement: a server process of our own, or one that runs already."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from recall.v1 import (
    admin_service_pb2,
    admin_service_pb2_grpc,
    bank_service_pb2,
    bank_service_pb2_grpc,
    memory_service_pb2_grpc,
    recall_service_pb2_grpc,
)

_ANNOUNCEMENT = "listening on "
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_LEFT_OUT = ("RECALL_", "PYTHONDONTWRITEBYTECODE")
_SERVING_S = 120.0


class ServiceError(Exception):
    """The service did not start, or does not answer as the measurement needs it."""


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """How a server process is started.

    ``overrides`` are settings of the server by their dotted name ("embedding.model"); they reach it through the
    environment, and no ``RECALL_…`` variable of ours leaks in beside them. It keeps compiled modules, as an installed
    one does: the second start is the one to measure.
    """

    overrides: Mapping[str, str] = field(default_factory=dict)
    start_timeout_s: float = 120.0
    stop_timeout_s: float = 30.0
    command: tuple[str, ...] = (sys.executable, "-m", "recall", "serve")
    listen: str = "127.0.0.1:0"
    """Where it listens: a free port of this machine, or unix:PATH."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Variables of the environment that are no settings of the server."""

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)}
        chosen = {f"RECALL_{name.upper().replace('.', '__')}": value for name, value in self.overrides.items()}
        return {**kept, "HF_HUB_OFFLINE": "1", **chosen, **self.extra}


class ServerProcess:
    """A server on a free port of this machine. ``address`` is known once it listens."""

    def __init__(self, data: Path, settings: LaunchSettings) -> None:
        self.data = data
        self.started_at = time.perf_counter()
        self._settings = settings
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self._process = subprocess.Popen(
            [*settings.command, "--data", str(data), "--listen", settings.listen],
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=settings.environment(),
        )
        assert self._process.stdout is not None
        threading.Thread(target=_drain, args=(self._process.stdout, self._lines), daemon=True).start()
        self.address = self._wait_for_address()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _wait_for_address(self) -> str:
        deadline = time.monotonic() + self._settings.start_timeout_s
        while (left := deadline - time.monotonic()) > 0:
            try:
                line = self._lines.get(timeout=left)
            except queue.Empty:
                break
            if line is None:
                told = self._last_errors()
                self.stop()
                raise ServiceError(f"the server ended before it listened: {told}")
            if _ANNOUNCEMENT in line:
                return line.split(_ANNOUNCEMENT, 1)[1].split()[0]
        self.stop()
        raise ServiceError(f"the server did not listen within {self._settings.start_timeout_s:g} s")

    def _last_errors(self, lines: int = 5) -> str:
        self._process.wait()
        self._errors.seek(0)
        return " / ".join(self._errors.read().strip().splitlines()[-lines:]) or "(it said nothing)"

    def stop(self) -> None:
        """Asks it to end, as an operator would; kills it when it does not."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(self._settings.stop_timeout_s)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def _drain(stream: IO[str], lines: queue.SimpleQueue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)
    stream.close()


class Service:
    """The stubs of one address, over one channel; `more` are channel arguments."""

    def __init__(self, address: str, more: Sequence[tuple[str, Any]] = ()) -> None:
        self.address = address
        self.channel = grpc.insecure_channel(address, options=[*_options(), *more])
        self.recall = recall_service_pb2_grpc.RecallServiceStub(self.channel)
        self.memories = memory_service_pb2_grpc.MemoryServiceStub(self.channel)
        self.banks = bank_service_pb2_grpc.BankServiceStub(self.channel)
        self.admin = admin_service_pb2_grpc.AdminServiceStub(self.channel)
        self.health = health_pb2_grpc.HealthStub(self.channel)

    def wait_until_serving(self, timeout_s: float) -> None:
        """Returns once the health service says SERVING."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            try:
                answer = self.health.Check(health_pb2.HealthCheckRequest(), timeout=1.0, wait_for_ready=True)
            except grpc.RpcError:
                continue
            if answer.status == health_pb2.HealthCheckResponse.SERVING:
                return
            time.sleep(0.02)
        raise ServiceError(f"{self.address} is not SERVING after {timeout_s:g} s")

    def wait_until_embedder_is_ready(self, timeout_s: float) -> admin_service_pb2.EmbedderStatus:
        """Returns how the encoder stands once it no longer loads."""
        deadline = time.monotonic() + timeout_s
        while True:
            embedder = self.admin.Status(admin_service_pb2.StatusRequest(), timeout=10.0).embedder
            if embedder.state != "loading":
                return embedder
            if time.monotonic() > deadline:
                raise ServiceError(f"the encoder still loads after {timeout_s:g} s: {embedder.detail}")
            time.sleep(0.05)

    def bank_names(self) -> tuple[str, ...]:
        """The banks of the default tenant, first page."""
        answer = self.banks.List(bank_service_pb2.BankServiceListRequest(), timeout=30.0)
        return tuple(bank.name for bank in answer.banks)

    def close(self) -> None:
        self.channel.close()


def _options() -> Sequence[tuple[str, int]]:
    return (
        ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
        ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
        ("grpc.use_local_subchannel_pool", 1),
    )


@contextmanager
def service(address: str | None, settings: LaunchSettings) -> Iterator[Service]:
    """A service to measure: the one at ``address``, or a fresh process on an empty data folder, gone afterwards."""
    if address is not None:
        running = Service(address)
        try:
            yield running
        finally:
            running.close()
        return
    with (
        tempfile.TemporaryDirectory(prefix="recall-bench-") as folder,
        ServerProcess(Path(folder) / "data", settings) as process,
    ):
        own = Service(process.address)
        try:
            own.wait_until_serving(settings.start_timeout_s)
            yield own
        finally:
            own.close()


@contextmanager
def serving(address: str) -> Iterator[Service]:
    """A connection to a server that answers. Raises ServiceError when it does not in two minutes."""
    service = Service(address)
    try:
        service.wait_until_serving(_SERVING_S)
        yield service
    finally:
        service.close()
