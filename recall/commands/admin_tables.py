"""How status and check-up look in a terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from recall.commands.output import one_line
from recall.commands.tables import console, facts, table, when
from recall.v1 import admin_service_pb2 as admin

FIGURES = ("count", "failed", "p50 ms", "p99 ms", "max ms")
_OUTCOMES = {
    admin.DOCTOR_OUTCOME_PASS: Text("pass", style="green"),
    admin.DOCTOR_OUTCOME_WARN: Text("warn", style="yellow"),
    admin.DOCTOR_OUTCOME_FAIL: Text("FAIL", style="bold red"),
}


def show_status(answer: admin.StatusResponse, server: str) -> None:
    """Everything in the status."""
    embedder = answer.embedder
    size = f", {embedder.dimensions} dimensions" if embedder.dimensions else ""
    backend = f" ({one_line(embedder.backend)}{size})" if embedder.state == "ready" else ""
    rows = [
        ("server", f"{server}, release {one_line(answer.version)}"),
        ("started", f"{when(answer.started_at)}, up {_span(answer.uptime.ToSeconds())}"),
        ("data", one_line(answer.data_dir)),
        ("model", f"{one_line(embedder.model)}: {one_line(embedder.state)}{backend}"),
        ("", one_line(embedder.detail)),
        ("banks", f"{answer.banks}, {answer.open_banks} open"),
        ("memories", f"{answer.memories} live in open banks, {answer.embedded} with a vector"),
    ]
    rows += [("trouble", f"{each.bank} is {each.state}: {one_line(each.reason)}") for each in answer.trouble]
    rows += [("watchers", str(answer.watchers))] if answer.watchers else []
    console().print(facts(rows))
    if answer.calls:
        console().print(_calls(answer))


def show_doctor(answer: admin.DoctorResponse) -> None:
    """One check a row, with what to do about it."""
    rows = table("check", "", "found", "ms", right=["ms"])
    for check in answer.checks:
        found = Text(one_line(check.detail))
        if check.remedy:
            found.append(f"\n→ {one_line(check.remedy)}", style="bold")
        rows.add_row(one_line(check.name), _OUTCOMES.get(check.outcome, Text("?")), found, f"{check.ms:.0f}")
    console().print(rows)
    console().print(_verdict(answer), style="bold")


def _verdict(answer: admin.DoctorResponse) -> str:
    if not answer.ok:
        return "something does not work"
    warned = any(check.outcome == admin.DOCTOR_OUTCOME_WARN for check in answer.checks)
    return "it works; see the warnings" if warned else "all is well"


def _calls(answer: admin.StatusResponse) -> Table:
    rows = table("call or stage", "count", "failed", "p50 ms", "p99 ms", "max ms", right=FIGURES)
    for call in answer.calls:
        times = (f"{ms:.2f}" for ms in (call.p50_ms, call.p99_ms, call.max_ms))
        rows.add_row(one_line(call.name), str(call.count), str(sum(call.failed.values())), *times)
    return rows


def _span(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    clock = f"{hours}:{rest // 60:02d}:{rest % 60:02d}"
    return f"{days} d {clock}" if days else clock
