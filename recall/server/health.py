"""grpc.health.v1: for the whole (""), for each service, and for each service of one bank ("SERVICE/BANK").

The whole and the services are NOT_SERVING until banks can answer and again while stopping, and SERVING in between: one
bank in trouble must not take a server out of rotation that serves all the others. What a bank can do is asked for by
name, such as `recall.v1.MemoryService/main`:

| the bank | RecallService/BANK | MemoryService/BANK, BankService/BANK |
|---|---|---|
| is well, or was not opened yet | SERVING | SERVING |
| is read-only | SERVING | NOT_SERVING |
| cannot be opened | NOT_SERVING | NOT_SERVING |
| does not exist | NOT_FOUND | NOT_FOUND |

The protocol has no room for reasons: those are in AdminService.Status. A watch of such a name hears within
`LOOK_EVERY_S`; a check looks for itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from recall.server.trouble import READ_ONLY, UNAVAILABLE, Trouble

OVERALL = ""
READING: Final = "recall.v1.RecallService"
LOOK_EVERY_S = 1.0
_Status = health_pb2.HealthCheckResponse


class Health:
    """What health checks are told. The health servicer itself starts as SERVING, so this says NOT_SERVING at once."""

    def __init__(
        self,
        services: Sequence[str],
        troubles: Callable[[], Sequence[Trouble]],
        exists: Callable[[str], bool],
    ) -> None:
        """`troubles` says what is wrong now, `exists` whether there is a bank of a name; both are cheap."""
        self._names = (OVERALL, *services)
        self._servicer = _BankHealth(services, troubles, exists)
        self._tell(_Status.NOT_SERVING)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._look, name="recall-health", daemon=True)

    def add_to(self, server: Any) -> None:
        """Registers the health service; before the server starts."""
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    def serving(self) -> None:
        """Banks can answer."""
        self._tell(_Status.SERVING)
        self._thread.start()

    def stopping(self) -> None:
        """No new calls, for good."""
        self._stopping.set()
        self._servicer.enter_graceful_shutdown()

    def _tell(self, status: Any) -> None:
        for name in self._names:
            self._servicer.set(name, status)

    def _look(self) -> None:
        while not self._stopping.wait(LOOK_EVERY_S):
            self._servicer.look()


class _BankHealth(health.HealthServicer):  # type: ignore[misc]  # the package has no types
    """The reference servicer, which also knows the names of banks."""

    def __init__(
        self, services: Sequence[str], troubles: Callable[[], Sequence[Trouble]], exists: Callable[[str], bool]
    ) -> None:
        super().__init__()
        self._services = frozenset(services)
        self._troubles = troubles
        self._exists = exists
        self._asked: set[str] = set()

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        """The status of a name, now."""
        service, slash, bank = request.service.partition("/")
        if not slash or service not in self._services:
            return super().Check(request, context)
        if not self._exists(bank):
            context.set_code(grpc.StatusCode.NOT_FOUND)
            return _Status()
        if super().Check(health_pb2.HealthCheckRequest(), context).status != _Status.SERVING:
            return _Status(status=_Status.NOT_SERVING)
        return _Status(status=self._of_bank(service, bank, self._states()))

    def Watch(self, request: Any, context: Any, send_response_callback: Any = None) -> Any:  # noqa: N802
        """As the reference has it; a bank's name is looked at from now on, until its last watcher left."""
        service, slash, bank = request.service.partition("/")
        if slash and service in self._services and self._exists(bank):
            status = self._of_bank(service, bank, self._states())
            with self._lock:
                self._asked.add(request.service)
                self.set(request.service, status)
                return super().Watch(request, context, send_response_callback)
        return super().Watch(request, context, send_response_callback)

    def look(self) -> None:
        """Tells watchers of banks what changed."""
        with self._lock:
            asked = sorted(self._asked)
        states = self._states() if asked else {}
        for name in asked:
            self._tell_of(name, states)

    def _tell_of(self, name: str, states: dict[str, frozenset[str]]) -> None:
        service, _, bank = name.partition("/")
        status = self._of_bank(service, bank, states) if self._exists(bank) else _Status.SERVICE_UNKNOWN
        with self._lock:
            if not self._send_response_callbacks.get(name):
                self._asked.discard(name)
                self._server_status.pop(name, None)
                self._send_response_callbacks.pop(name, None)
            elif self._server_status.get(name) != status:
                self.set(name, status)

    def _states(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for one in self._troubles():
            found.setdefault(one.bank, set()).add(one.state)
        return {bank: frozenset(states) for bank, states in found.items()}

    @staticmethod
    def _of_bank(service: str, bank: str, states: dict[str, frozenset[str]]) -> Any:
        wrong = states.get(bank, frozenset())
        ends = {UNAVAILABLE} if service == READING else {UNAVAILABLE, READ_ONLY}
        return _Status.NOT_SERVING if wrong & ends else _Status.SERVING
