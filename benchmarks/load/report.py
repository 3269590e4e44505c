"""What a run under load found: JSON, and tables."""

from __future__ import annotations

from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.latency.load import LoopResult
from benchmarks.load.bars import table
from benchmarks.load.cold_banks import ColdFigures
from benchmarks.load.group_commit import SLOWER, GroupFigures, Shared
from benchmarks.load.many_banks import BanksFigures
from benchmarks.load.overload import OverloadFigures
from benchmarks.load.soak import SoakFigures
from benchmarks.load.ways import WaysFigures

Figures = GroupFigures | SoakFigures | OverloadFigures | BanksFigures | ColdFigures | WaysFigures


def write(found: Figures, path: Path) -> None:
    """Writes indented JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def show_group(found: GroupFigures, console: Console) -> None:
    """Prints the figures of `group-commit`."""
    made = Table("", title=f"saves of 1 and of {found.writers} writers", title_justify="left")
    for heading in Shared.__struct_fields__:
        made.add_column(heading.replace("_", " "), justify="right")
    rows = {"bank": found.bank, SLOWER: found.slower, "with its index": found.indexed, "over gRPC": found.over_grpc}
    for where, one in rows.items():
        made.add_row(where, *(f"{getattr(one, name):g}" for name in Shared.__struct_fields__))
    console.print(made, table("bars", found.bars))
    ground = found.ground
    bare = f"bare fdatasync p50 {ground.fdatasync_p50_ms:g} ms, p99 {ground.fdatasync_p99_ms:g} ms"
    told = f"{bare}; processor {ground.save_cpu_ms:g} ms a save; so sharing wins {ground.most:g} x at most on this disk"
    console.print(told, style="dim", highlight=False)


def show_soak(found: SoakFigures, console: Console) -> None:
    """Prints the figures of `soak`."""
    console.print(_loops(found.recall, found.save))
    made = Table("server", title="what the process holds", title_justify="left")
    for heading in ("early", "late", "highest"):
        made.add_column(heading, justify="right")
    for name, one in (("RSS, MiB", found.rss_mib), ("descriptors", found.fds), ("threads", found.threads)):
        made.add_row(name, f"{one.early:g}", f"{one.late:g}", f"{one.highest:g}")
    console.print(made, table(f"bars, {found.seconds:g} s at 70 % of {found.capacity_per_s:g} calls/s", found.bars))
    beside = found.beside
    told = f"{beside.filled_banks} banks filled and deleted, {beside.embedded} embedded, {beside.reloads} reloads"
    console.print(f"beside it: {told}; {found.model}; {found.machine}", style="dim", highlight=False)
    for failure in beside.failures[:5]:
        console.print(failure, style="red", highlight=False)


def show_overload(found: OverloadFigures, console: Console) -> None:
    """Prints the figures of `overload`."""
    console.print(_loops(found.calm, found.overloaded))
    console.print(table(f"bars, capacity {found.capacity_per_s:g} calls/s", found.bars))
    console.print(f"{found.model}; {found.machine}", style="dim", highlight=False)


def show_banks(found: BanksFigures, console: Console) -> None:
    """Prints the figures of `banks`."""
    title = f"{found.banks} banks of {found.memories_each} memories, at most {found.most_open} open"
    made = Table("openings", title=title, title_justify="left")
    for heading in ("ms each", "RSS, MiB", "descriptors", "threads"):
        made.add_column(heading, justify="right")
    for row in found.rows:
        held = row.footprint
        made.add_row(str(row.openings), f"{row.open_ms:g}", f"{held.rss_mib:g}", str(held.fds), str(held.threads))
    console.print(made, table("bars", found.bars))
    start = found.with_all
    told = f"SERVING after {start.serving_ms:g} ms ({start.empty_serving_ms:g} with no bank)"
    told += f", first answer after {start.first_answer_ms:g} ms, Status {start.status_ms:g} ms"
    told += f", a page of List {start.list_page_ms:g} ms"
    console.print(f"with all banks on disk: {told}; {start.footprint.rss_mib:g} MiB", highlight=False)


def show_cold(found: ColdFigures, console: Console) -> None:
    """Prints the figures of `cold`."""
    title = f"{found.banks} banks of {found.memories_each} memories asked in turn, at most {found.most_open} open"
    made = Table("milliseconds at the caller", title=title, title_justify="left")
    for heading in ("n", "p50", "p90", "p99", "max"):
        made.add_column(heading, justify="right")
    for mode, waits in found.waits.items():
        for when, one in (("first, bank closed", waits.first), ("second", waits.second)):
            points = (one.p50, one.p90, one.p99, one.max)
            made.add_row(f"{mode}: {when}", str(one.n), *(f"{point:.2f}" for point in points))
    console.print(made, table("bars", found.bars))
    console.print(f"{found.model}; {found.machine}", style="dim", highlight=False)


def show_ways(found: WaysFigures, console: Console) -> None:
    """Prints the figures of `ways`, the ratios last."""
    made = Table("way", title="milliseconds of one query or one text", title_justify="left")
    for heading in ("n", "p50", "p99", "x Recall over TCP"):
        made.add_column(heading, justify="right")
    for name, one in found.ways.items():
        ratio = found.ratios.get(name) if "Recall" in name else None
        made.add_row(name, str(one.n), f"{one.p50:.3f}", f"{one.p99:.3f}", "" if ratio is None else f"{ratio:.2f}")
    threads = Table("server.workers", title=f"recalls a second, {found.clients} clients", title_justify="left")
    threads.add_column("recalls/s", justify="right")
    for number, per_s in found.threads.items():
        threads.add_row(number, f"{per_s:g}")
    console.print(made, threads, table(f"bars, batches of {found.batch}", found.bars))
    console.print(f"{found.model}; {found.machine}", style="dim", highlight=False)


def _loops(*loops: LoopResult) -> Table:
    made = Table("call", title="milliseconds from when the call was due", title_justify="left")
    for heading in ("offered/s", "done/s", "failed", "p50", "p90", "p99", "p99.9", "max"):
        made.add_column(heading, justify="right")
    for one in loops:
        latency = one.latency_ms
        points = (latency.p50, latency.p90, latency.p99, latency.p999, latency.max)
        failed = f"{one.failed} {one.failures}" if one.failed else "0"
        made.add_row(one.name, f"{one.offered_per_s:g}", f"{one.done_per_s:g}", failed, *(f"{p:.2f}" for p in points))
    return made
