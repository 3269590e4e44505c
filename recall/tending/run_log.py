"""The runs that a bank remembers: summaries, reports, and what the log tells of a run that a crash ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from consolidate.report import BankReport, GroupReport, Member, decode
from recall.memory.bank import Bank
from recall.memory.run_book import RunBook
from recall.memory.runs import RunTrace


@dataclass(frozen=True, slots=True)
class Ran:
    """A run on one bank. `at` in microseconds UTC; `finished` is False for a run that a crash ended."""

    run: str
    bank: str
    at: int
    superseded: int
    nominated: int
    restored: int
    finished: bool


def summaries(bank: Bank) -> Iterator[Ran]:
    """The runs that changed a bank, newest first."""
    for run in RunBook(bank).runs():
        trace = RunBook(bank).run(run)
        report = _report(trace)
        yield Ran(
            run=run,
            bank=bank.name,
            at=trace.first_at,
            superseded=len(trace.given),
            nominated=0 if report is None else report.judge.nominated,
            restored=len(set(trace.restored)),
            finished=report is not None,
        )


def report_of(bank: Bank, run: str) -> tuple[BankReport, tuple[str, ...]]:
    """What a run did, and which memories were brought back since. Raises RunNotFound."""
    trace = RunBook(bank).run(run)
    report = _report(trace)
    return (_pieced_together(bank.name, trace) if report is None else report), trace.restored


def _report(trace: RunTrace) -> BankReport | None:
    try:
        return decode(trace.report) if trace.report else None
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _pieced_together(bank: str, trace: RunTrace) -> BankReport:
    """A run without a report of its own: what its events say."""
    groups: dict[str, list[Member]] = {}
    for given in trace.given:
        groups.setdefault(given.winner_id, []).append(Member(given.loser_id, None, 0.0, (), "merged", given.why))
    merges = tuple(GroupReport(winner, "merge", tuple(members)) for winner, members in groups.items())
    problem = "the run ended before its report was written"
    return BankReport(
        trace.run, bank, False, trace.first_at, merges=merges, superseded=len(trace.given), errors=(problem,)
    )
