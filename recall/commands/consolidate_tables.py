"""How a run looks in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from recall.commands.output import one_line
from recall.commands.tables import console, table, when
from recall.v1 import consolidate_service_pb2 as pb

SHORT_TEXT = 160


def show_report(report: pb.RunReport, proposals: bool, kept: bool) -> None:
    """A whole run: a table of groups for each bank, and a line that sums it up."""
    screen = console()
    for bank in report.banks:
        screen.print(one_line(bank.bank), style="bold")
        sections = [("merges", bank.merges)]
        sections += [("proposals, for the judge or a reviewer", bank.proposals)] if proposals else []
        sections += [("kept apart", bank.kept)] if kept else []
        for title, groups in sections:
            if groups:
                screen.print(title, style="dim")
                screen.print(_groups(groups))
        screen.print(_summary(bank, report.dry_run), soft_wrap=True)
        for error in bank.errors:
            screen.print(f"error: {one_line(error)}", style="red", soft_wrap=True)
    kind = "dry run" if report.dry_run else "run"
    screen.print(f"{kind} {report.run}", style="dim", soft_wrap=True)


def show_runs(found: pb.ListRunsResponse, state: pb.GetConsolidateStatusResponse) -> None:
    """The runs, and below them what the schedule does."""
    screen = console()
    rows = table("run", "retired", "brought back", right=["retired", "brought back"])
    for run in found.runs:
        about = f"{one_line(run.bank)}, {when(run.at)}{'' if run.finished else ' (ended early)'}"
        cell = Group(Text(run.run, no_wrap=True), Text(about, style="dim"))
        rows.add_row(cell, str(run.superseded), str(run.restored))
    screen.print(rows if found.runs else "no runs")
    every = f"every {state.interval.seconds / 3600:g} h" if state.enabled else "off (consolidate.enabled)"
    judge = "a judge is asked" if state.judge else "no judge"
    now = f"; now: {', '.join(f'{step.bank} {step.stage}' for step in state.running)}" if state.running else ""
    screen.print(f"schedule {every}; {judge}{now}", style="dim", soft_wrap=True)


def _groups(groups: Iterable[pb.MergeGroup]) -> Table:
    rows = table("memory", "cosine", "guards", "verdict", right=["cosine"])
    for group in groups:
        rows.add_row(_text(group.winner, ""), "", "", group.verdict, end_section=False)
        for other in group.others:
            cosine = f"{other.cosine:.3f}" if other.HasField("cosine") else "–"
            rows.add_row(_text(other, "  ← "), cosine, _guards(other.guards), one_line(other.outcome))
    return rows


def _text(member: pb.GroupMember, before: str) -> Text:
    text = one_line(member.text)
    short = text if len(text) <= SHORT_TEXT else text[:SHORT_TEXT].rstrip() + " …"
    shown = Text(before + (short or "(no text)"))
    shown.append(f"\n{' ' * len(before)}{member.id}", style="dim")
    if member.problem:
        shown.append(f"\n{' ' * len(before)}{one_line(member.problem)}", style="dim")
    return shown


def _guards(findings: Sequence[pb.GuardFinding]) -> Text:
    return Text("\n".join(f"{one.guard}: {one_line(one.detail)}" for one in findings))


def _summary(bank: pb.BankReport, dry_run: bool) -> str:
    planned = sum(other.outcome == "planned" for group in bank.merges for other in group.others)
    retired = f"{planned} would be retired" if dry_run else f"{bank.superseded} retired"
    parts = [
        f"{bank.scanned} looked at",
        retired,
        f"{bank.proposed} proposed",
        f"{bank.kept_pairs} pairs kept apart",
        *([f"{bank.capped} left for the next run"] if bank.capped else []),
        *([f"{bank.moved} changed meanwhile and left alone"] if bank.moved else []),
        *([f"{len(bank.restored)} brought back since"] if bank.restored else []),
    ]
    judge = bank.judge
    if judge.state not in ("", "off"):
        said = f"judge {judge.state}: {judge.calls} asked, {judge.confirmed} confirmed, {judge.nominated} nominated"
        parts.append(said + (f" ({one_line(judge.problem)})" if judge.problem else ""))
    return ", ".join(parts)
