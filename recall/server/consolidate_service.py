"""ConsolidateService: check → run or read → convert."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import grpc

from consolidate.report import RunReport
from recall.memory.clock import Clock
from recall.memory.errors import MemoryServiceError, RunNotFound
from recall.memory.record import Actor
from recall.memory.run_book import RunBook
from recall.server import checks_consolidate as checks
from recall.server import convert_consolidate as convert
from recall.server.caller import caller, seconds_left
from recall.server.convert import SOURCE_IN, set_time
from recall.server.live import LiveBanks
from recall.server.progress import followed
from recall.tending import run_log
from recall.tending.bank_port import BankPort
from recall.tending.runner import Order, Runner
from recall.tending.scheduler import Scheduler
from recall.tending.sweep import FallenSource, sweep
from recall.v1 import consolidate_service_pb2 as pb
from recall.v1.consolidate_service_pb2_grpc import ConsolidateServiceServicer

DEFAULT_RUNS = 50


@dataclass(frozen=True, slots=True)
class Tending:
    """What tends the banks."""

    runner: Runner
    scheduler: Scheduler
    enabled: bool
    interval_hours: float
    judge: bool


class ConsolidateService(ConsolidateServiceServicer):
    """Tends live banks."""

    def __init__(self, live: LiveBanks, tending: Tending, clock: Clock) -> None:
        self._live = live
        self._tending = tending
        self._clock = clock

    def Consolidate(  # noqa: N802
        self, request: pb.ConsolidateRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.ConsolidateResponse]:
        """Tends one bank or all, and tells how far it is."""
        checks.consolidate(request)
        who = caller(context)
        order = Order(
            tenant=who.tenant,
            banks=tuple(self._banks(who.tenant, request.bank)),
            dry_run=request.dry_run,
            merge_cosine=request.merge_cosine if request.HasField("merge_cosine") else None,
            propose_cosine=request.propose_cosine if request.HasField("propose_cosine") else None,
            max_supersedes=request.max_supersedes if request.HasField("max_supersedes") else None,
        )
        report: RunReport | None = None
        run = partial(self._tending.runner.run, order)
        for part in followed(run, context.add_callback):
            if isinstance(part, RunReport):
                report = part
            else:
                yield pb.ConsolidateResponse(progress=convert.progress_message(part))
        assert report is not None
        yield pb.ConsolidateResponse(report=convert.run_message(report, self._texts(who.tenant)))

    def GetConsolidateStatus(  # noqa: N802
        self, request: pb.GetConsolidateStatusRequest, context: grpc.ServicerContext
    ) -> pb.GetConsolidateStatusResponse:
        """Whether there is a schedule, what runs, when each bank was tended."""
        checks.status(request)
        tenant = caller(context).tenant
        tending = self._tending
        response = pb.GetConsolidateStatusResponse(
            enabled=tending.enabled,
            judge=tending.judge,
            running=[convert.progress_message(step) for step in tending.runner.running_of(tenant)],
            banks=[self._bank_status(tenant, name) for name in self._banks(tenant, request.bank)],
        )
        response.interval.FromMicroseconds(round(tending.interval_hours * 3_600_000_000))
        return response

    def ListRuns(self, request: pb.ListRunsRequest, context: grpc.ServicerContext) -> pb.ListRunsResponse:  # noqa: N802
        """The runs that changed a bank, newest first."""
        checks.list_runs(request)
        tenant, left_s = caller(context).tenant, seconds_left(context)
        found: list[run_log.Ran] = []
        for name in self._banks(tenant, request.bank):
            with self._live.lease(name, left_s, tenant) as live:
                found += run_log.summaries(live.bank)
        found.sort(key=lambda ran: (ran.at, ran.run), reverse=True)
        return pb.ListRunsResponse(runs=map(convert.summary_message, found[: request.limit or DEFAULT_RUNS]))

    def GetRun(self, request: pb.GetRunRequest, context: grpc.ServicerContext) -> pb.GetRunResponse:  # noqa: N802
        """What one run did."""
        checks.one_run(request)
        tenant = caller(context).tenant
        recent = next((report for report in self._tending.runner.recent_of(tenant) if report.run == request.run), None)
        message = pb.RunReport(run=request.run)
        if recent is not None and (not request.bank or request.bank in {bank.bank for bank in recent.banks}):
            message = convert.run_message(recent, self._texts(tenant))
        restored = {bank.bank: bank for bank in self._kept(tenant, request, seconds_left(context))}
        if not message.banks and not restored:
            raise RunNotFound(request.bank, request.run)
        for bank in message.banks:
            if bank.bank in restored:
                bank.restored.extend(restored.pop(bank.bank).restored)
        message.banks.extend(restored.values())
        if not message.HasField("started_at"):
            message.started_at.CopyFrom(message.banks[0].started_at)
            message.finished_at.CopyFrom(message.banks[-1].finished_at)
        return pb.GetRunResponse(report=message)

    def UndoRun(self, request: pb.UndoRunRequest, context: grpc.ServicerContext) -> pb.UndoRunResponse:  # noqa: N802
        """Brings the memories back that a run retired."""
        checks.one_run(request)
        who, left_s = caller(context), seconds_left(context)
        undone = []
        for name in self._knowing(who.tenant, request.run, request.bank, left_s):
            with self._tending.runner.gate.enter((who.tenant, name), request.run):
                undone.append(self._undone(who.tenant, name, request.run, who.actor, left_s))
        if not undone:
            raise RunNotFound(request.bank, request.run)
        return pb.UndoRunResponse(banks=undone)

    def Sweep(self, request: pb.SweepRequest, context: grpc.ServicerContext) -> pb.SweepResponse:  # noqa: N802
        """Takes out of use what is past its time or has lost its ground."""
        checks.sweep(request)
        fallen = [FallenSource(SOURCE_IN.get(source.kind), source.id) for source in request.fallen]
        with self._live.lease(request.bank, seconds_left(context), caller(context).tenant) as live:
            return convert.sweep_message(sweep(live.bank, fallen, self._clock.now(), request.dry_run))

    def _banks(self, tenant: str, name: str) -> Sequence[str]:
        return [name] if name else [str(bank) for bank in self._live.banks.list(tenant)]

    def _bank_status(self, tenant: str, name: str) -> pb.BankConsolidation:
        last, following = self._tending.scheduler.last_and_next(tenant, name)
        message = pb.BankConsolidation(
            bank=name,
            due=self._tending.enabled and following <= self._clock.now(),
            run=self._tending.runner.gate.inside((tenant, name)),
        )
        if last:
            set_time(message.last_run_at, last)
        if following:
            set_time(message.next_run_at, following)
        return message

    def _texts(self, tenant: str) -> Callable[[str], convert.TextOf]:
        """Looks texts up in the banks of one tenant."""

        def of_bank(name: str) -> convert.TextOf:
            def text_of(memory_id: str) -> str:
                with suppress(MemoryServiceError), self._live.banks.lease(tenant, name) as bank:
                    return bank.text(bank.get(memory_id))
                return ""

            return text_of

        return of_bank

    def _knowing(self, tenant: str, run: str, name: str, left_s: float) -> Iterator[str]:
        """The banks that a run changed."""
        for bank in self._banks(tenant, name):
            with self._live.lease(bank, left_s, tenant) as live:
                knows = run in RunBook(live.bank).runs()
            if knows:
                yield bank

    def _kept(self, tenant: str, request: pb.GetRunRequest, left_s: float) -> Iterator[pb.BankReport]:
        for name in self._knowing(tenant, request.run, request.bank, left_s):
            with self._live.lease(name, left_s, tenant) as live:
                report, restored = run_log.report_of(live.bank, request.run)
            message = convert.bank_message(report, self._texts(tenant)(name))
            message.restored.extend(restored)
            yield message

    def _undone(self, tenant: str, name: str, run: str, actor: Actor, left_s: float) -> pb.BankUndone:
        with self._live.lease(name, left_s, tenant) as live:
            outcome = BankPort(live.bank, live.index, self._clock, lambda: None, actor).undo(run)
        left = [pb.LeftAlone(id=id_, problem=problem) for id_, problem in outcome.moved]
        return pb.BankUndone(bank=name, restored=outcome.done, left=left)
