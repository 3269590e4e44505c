"""The table, the ratios, the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.peers.bars import JUDGED_AT, verdicts
from benchmarks.peers.registry import OURS, PEERS
from benchmarks.peers.worker import PeerFigures

_MIB = 1 << 20
COLUMNS = ("fill/s", "p50 ms", "p99 ms", "recall@10", "save ms", "visible ms", "RSS MiB", "grown", "disk MiB")


class PeersFigures(msgspec.Struct, frozen=True):
    """Everything that one run found."""

    n: int
    figures: dict[str, PeerFigures]
    left_out: dict[str, str]
    machine: str
    versions: dict[str, str]


class Ratios(msgspec.Struct, frozen=True):
    """A system's figure over ours: above 1 we are the faster or the smaller."""

    search: float
    visible: float
    fill: float
    rss: float
    disk: float


def ratios(figures: Mapping[str, PeerFigures]) -> dict[str, Ratios]:
    """Of every other system; none when ours was not measured."""
    ours = figures.get(OURS)
    if ours is None:
        return {}
    return {name: _ratio(one, ours) for name, one in figures.items() if name != OURS}


def _ratio(one: PeerFigures, ours: PeerFigures) -> Ratios:
    return Ratios(
        round(one.search_p50_ms / ours.search_p50_ms, 2),
        round(one.visible_p50_ms / ours.visible_p50_ms, 2),
        round(ours.fill_per_s / one.fill_per_s, 2),
        round(one.rss_mib / ours.rss_mib, 2),
        round(one.disk_bytes / max(ours.disk_bytes, 1), 2),
    )


def write(found: PeersFigures, path: Path) -> None:
    """Indented JSON, ratios included."""
    whole = {**msgspec.to_builtins(found), "ratios": msgspec.to_builtins(ratios(found.figures))}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n")


def show(found: PeersFigures, console: Console) -> None:
    """Figures, then what was left out, then the ratios."""
    table = Table("system", "legs", *COLUMNS, title=f"{found.n} memories, one caller", title_justify="left")
    for name, one in found.figures.items():
        table.add_row(name, legs(name), *_cells(one))
    console.print(table)
    for name, reason in found.left_out.items():
        console.print(f"left out: {name}: {reason}", highlight=False)
    console.print(_ratio_table(found))


def legs(name: str) -> str:
    """What a system is asked with, and whether it keeps it."""
    entry = PEERS[name]
    return ("both" if entry.hybrid else "one") + ("" if entry.durable else ", RAM")


def _cells(one: PeerFigures) -> tuple[str, ...]:
    return (
        f"{one.fill_per_s:.0f}",
        f"{one.search_p50_ms:.2f}",
        f"{one.search_p99_ms:.2f}",
        f"{one.recall_at_10:.3f}",
        f"{one.save_p50_ms:.2f}",
        f"{one.visible_p50_ms:.2f}",
        f"{one.rss_mib:.0f}",
        f"{one.rss_grown_mib:.0f}",
        f"{one.disk_bytes / _MIB:.1f}",
    )


def _ratio_table(found: PeersFigures) -> Table:
    table = Table("system / recall", title="ratios: above 1 Recall is faster or smaller", title_justify="left")
    for heading in Ratios.__struct_fields__:
        table.add_column(heading, justify="right")
    table.add_column("bars" if found.n == JUDGED_AT else "")
    for name, one in ratios(found.figures).items():
        told = verdicts(name, one.search, one.visible, found.figures) if found.n == JUDGED_AT else ""
        table.add_row(name, *(f"{getattr(one, field):.2f}" for field in Ratios.__struct_fields__), told)
    return table
