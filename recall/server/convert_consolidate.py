"""Reports of consolidation as messages. Texts come from the bank as it is now; a report itself holds ids alone."""

from __future__ import annotations

from collections.abc import Callable

from consolidate.report import BankReport, GroupReport, JudgeReport, Member, RunReport
from consolidate.tidy import Step
from recall.server.convert import set_time
from recall.tending.run_log import Ran
from recall.tending.sweep import Swept
from recall.v1 import consolidate_service_pb2 as pb

TextOf = Callable[[str], str]
"""A memory's id → its text; "" when it is not known."""


def run_message(report: RunReport, text_of: Callable[[str], TextOf]) -> pb.RunReport:
    """A whole run; `text_of` gives the lookup of a bank by name."""
    message = pb.RunReport(run=report.run, dry_run=report.dry_run)
    set_time(message.started_at, report.started_at)
    set_time(message.finished_at, report.finished_at)
    message.banks.extend(bank_message(bank, text_of(bank.bank)) for bank in report.banks)
    return message


def bank_message(report: BankReport, text_of: TextOf) -> pb.BankReport:
    """One bank's part of a run."""
    message = pb.BankReport(
        bank=report.bank,
        scanned=report.scanned,
        merges=[_group(group, text_of) for group in report.merges],
        proposals=[_group(group, text_of) for group in report.proposals],
        kept=[_group(group, text_of) for group in report.kept],
        proposed=report.proposed,
        kept_pairs=report.kept_pairs,
        superseded=report.superseded,
        capped=report.capped,
        moved=report.moved,
        judge=_judge(report.judge),
        errors=report.errors,
    )
    set_time(message.started_at, report.started_at)
    if report.finished_at:
        set_time(message.finished_at, report.finished_at)
    return message


def progress_message(step: Step) -> pb.RunProgress:
    """How far a run is."""
    return pb.RunProgress(run=step.run, bank=step.bank, stage=step.stage, done=step.done, total=step.total)


def summary_message(ran: Ran) -> pb.RunSummary:
    """A run on one bank."""
    message = pb.RunSummary(
        run=ran.run,
        bank=ran.bank,
        superseded=ran.superseded,
        nominated=ran.nominated,
        restored=ran.restored,
        finished=ran.finished,
    )
    set_time(message.at, ran.at)
    return message


def sweep_message(swept: Swept) -> pb.SweepResponse:
    """What a sweep did."""
    left = [pb.LeftAlone(id=one.id, problem=one.problem) for one in swept.left]
    return pb.SweepResponse(expired=swept.expired, quarantined=swept.quarantined, left=left)


def _group(group: GroupReport, text_of: TextOf) -> pb.MergeGroup:
    winner = pb.GroupMember(id=group.winner_id, text=text_of(group.winner_id), outcome="winner")
    return pb.MergeGroup(winner=winner, others=[_member(one, text_of) for one in group.members], verdict=group.verdict)


def _member(member: Member, text_of: TextOf) -> pb.GroupMember:
    return pb.GroupMember(
        id=member.id,
        text=text_of(member.id),
        cosine=member.cosine,
        jaccard=member.jaccard,
        guards=[pb.GuardFinding(guard=one.guard, verdict=one.verdict, detail=one.detail) for one in member.guards],
        outcome=member.outcome,
        problem=member.problem,
    )


def _judge(report: JudgeReport) -> pb.JudgeReport:
    return pb.JudgeReport(
        state=report.state,
        calls=report.calls,
        confirmed=report.confirmed,
        nominated=report.nominated,
        mined=report.mined,
        problem=report.problem,
    )
