"""grpc.health.v1, for each service and for the whole: NOT_SERVING until banks can answer, and again while stopping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grpc_health.v1 import health, health_pb2, health_pb2_grpc

OVERALL = ""


class Health:
    """What health checks are told. The health servicer itself starts as SERVING, so this says NOT_SERVING at once."""

    def __init__(self, services: Sequence[str]) -> None:
        self._names = (OVERALL, *services)
        self._servicer = health.HealthServicer()
        self._tell(health_pb2.HealthCheckResponse.NOT_SERVING)

    def add_to(self, server: Any) -> None:
        """Registers the health service; before the server starts."""
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    def serving(self) -> None:
        """Banks can answer."""
        self._tell(health_pb2.HealthCheckResponse.SERVING)

    def stopping(self) -> None:
        """No new calls, for good."""
        self._servicer.enter_graceful_shutdown()

    def _tell(self, status: Any) -> None:
        for name in self._names:
            self._servicer.set(name, status)
