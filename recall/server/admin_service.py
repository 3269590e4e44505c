"""AdminService: how the service is, and whether it really works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc

from index.embedder import EmbedderSlot, EmbedderState
from recall.backup import Backup, Summary
from recall.doctor import Finding, Outcome
from recall.memory.clock import Clock
from recall.server import audit, convert
from recall.server.caller import caller, seconds_left
from recall.server.live import LiveBanks
from recall.server.trouble import troubles
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
        examine: Callable[[str], Iterator[Finding]],
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
        who = caller(context)
        state = self._slot.state()
        opened = [live for live in self._live.opened() if live.bank.tenant == who.tenant and who.may_see(live.name)]
        coverages = [live.index.coverage(state.model_id) for live in opened]
        response = pb.StatusResponse(
            version=self._running.version,
            data_dir=str(self._running.data),
            embedder=_embedder(self._running.model, state),
            banks=sum(map(who.may_see, self._live.banks.list(who.tenant))),
            open_banks=len(opened),
            trouble=[
                pb.BankTrouble(bank=one.bank, state=one.state, reason=one.reason)
                for one in troubles(self._live, who.tenant)
                if who.may_see(one.bank)
            ],
            gauges=self._telemetry.gauges(),
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
        findings = list(self._examine(caller(context).tenant))
        return pb.DoctorResponse(
            ok=all(finding.outcome is not Outcome.FAIL for finding in findings),
            checks=[_check(finding) for finding in findings],
        )

    def Backup(self, request: pb.BackupRequest, context: grpc.ServicerContext) -> Iterator[pb.BackupResponse]:  # noqa: N802, ARG002
        """Streams a backup."""
        who = caller(context)
        tenants = self._live.banks.tenants() if who.local else [who.tenant]
        backup = Backup(self._live.banks, self._running.version, self._clock.now(), tenants)
        for chunk in backup:
            yield pb.BackupResponse(data=chunk)
        yield pb.BackupResponse(summary=_summary(backup.summary()))

    def ListAudit(self, request: pb.ListAuditRequest, context: grpc.ServicerContext) -> pb.ListAuditResponse:  # noqa: N802
        """Who did what in a bank."""
        audit.check_list(request)
        with self._live.lease(request.bank, seconds_left(context), caller(context).tenant) as live:
            return audit.answer(live.bank, request)


def _summary(found: Summary) -> pb.BackupSummary:
    manifest = found.manifest
    summary = pb.BackupSummary(
        banks=[
            pb.BankBackup(bank=one.bank, last_seq=one.last_seq, log_bytes=one.log_bytes, rules=one.rules)
            for one in manifest.banks
        ],
        left_out=[pb.BankTrouble(bank=one.bank, state="unavailable", reason=one.reason) for one in manifest.left_out],
        bytes=found.bytes,
        sha256=found.sha256,
    )
    convert.set_time(summary.taken_at, manifest.taken_at)
    return summary


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
