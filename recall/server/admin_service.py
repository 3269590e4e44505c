"""AdminService: how the service is, and whether it really works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc

from index.embedder import EmbedderSlot, EmbedderState
from recall.doctor import Finding, Outcome
from recall.memory.banks import DEFAULT_TENANT
from recall.memory.clock import Clock
from recall.server import convert
from recall.server.live import LiveBanks
from recall.server.watch import WatchHub
from recall.telemetry import Figures, Telemetry
from recall.v1 import admin_service_pb2 as pb
from recall.v1.admin_service_pb2_grpc import AdminServiceServicer

OUTCOME_OUT: Final = {outcome: pb.DoctorOutcome.Value(f"DOCTOR_OUTCOME_{outcome.name}") for outcome in Outcome}


@dataclass(frozen=True, slots=True)
class Running:
    """What is told about a running server and does not change."""

    version: str
    data: Path
    model: str
    """`embedding.model` as set."""
    started_at: int
    """Microseconds UTC."""


class AdminService(AdminServiceServicer):
    """Tells operators how the service is."""

    def __init__(
        self,
        running: Running,
        live: LiveBanks,
        slot: EmbedderSlot,
        hub: WatchHub,
        telemetry: Telemetry,
        clock: Clock,
        examine: Callable[[], Iterator[Finding]],
    ) -> None:
        self._running = running
        self._live = live
        self._slot = slot
        self._hub = hub
        self._telemetry = telemetry
        self._clock = clock
        self._examine = examine

    def Status(self, request: pb.StatusRequest, context: grpc.ServicerContext) -> pb.StatusResponse:  # noqa: N802, ARG002
        """What the service is doing."""
        state = self._slot.state()
        opened = self._live.opened()
        coverages = [live.index.coverage(state.model_id) for live in opened]
        response = pb.StatusResponse(
            version=self._running.version,
            data_dir=str(self._running.data),
            embedder=_embedder(self._running.model, state),
            banks=len(self._live.banks.list(DEFAULT_TENANT)),
            open_banks=len(opened),
            trouble=self._trouble(),
            embedded=sum(coverage.embedded for coverage in coverages),
            memories=sum(coverage.total for coverage in coverages),
            calls=[_figures(figures) for figures in self._telemetry.figures()],
            watchers=len(self._hub),
        )
        convert.set_time(response.started_at, self._running.started_at)
        response.uptime.FromMicroseconds(self._clock.now() - self._running.started_at)
        return response

    def Doctor(self, request: pb.DoctorRequest, context: grpc.ServicerContext) -> pb.DoctorResponse:  # noqa: N802, ARG002
        """Tries the service for real."""
        findings = list(self._examine())
        return pb.DoctorResponse(
            ok=all(finding.outcome is not Outcome.FAIL for finding in findings),
            checks=[_check(finding) for finding in findings],
        )

    def _trouble(self) -> list[pb.BankTrouble]:
        damaged = [
            pb.BankTrouble(bank=name, state="unavailable", reason=reason)
            for name, reason in sorted(self._live.banks.trouble().items())
        ]
        read_only = [
            pb.BankTrouble(bank=live.name, state="read_only", reason=live.bank.read_only_reason)
            for live in self._live.opened()
            if live.bank.read_only_reason
        ]
        return damaged + read_only


def _embedder(model: str, state: EmbedderState) -> pb.EmbedderStatus:
    return pb.EmbedderStatus(
        model=model,
        state=state.state,
        backend=state.backend or "none",
        dimensions=state.dimensions,
        detail=state.detail,
    )


def _figures(figures: Figures) -> pb.CallFigures:
    return pb.CallFigures(
        name=figures.name,
        count=figures.count,
        failed=dict(figures.failed),
        p50_ms=figures.p50_ms,
        p99_ms=figures.p99_ms,
        max_ms=figures.max_ms,
    )


def _check(finding: Finding) -> pb.DoctorCheck:
    return pb.DoctorCheck(
        name=finding.name,
        outcome=OUTCOME_OUT[finding.outcome],
        detail=finding.detail,
        remedy=finding.remedy,
        ms=finding.ms,
    )
