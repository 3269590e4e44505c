"""Figures over pairs as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from benchmarks.compaction.deciders import OURS
from benchmarks.compaction.figures import Counts, Figures


def show(found: Figures, console: Console) -> None:
    """Prints who merged what, then ours by kind."""
    title = f"{found.pairs}: {found.n_same} pairs say the same, {found.n_different} do not; model {found.model}"
    console.print(_deciders(title, found.deciders))
    if found.by_kind:
        console.print(_kinds(found))


def _deciders(title: str, counts: Mapping[str, Counts]) -> Table:
    table = Table("decider", title=title, title_justify="left")
    for name in ("merged same", "merged different", "proposed same", "proposed different"):
        table.add_column(name, justify="right")
    for name, each in counts.items():
        cells = (each.merged_same, each.merged_different, each.proposed_same, each.proposed_different)
        table.add_row(name, *(str(cell) for cell in cells))
    return table


def _kinds(found: Figures) -> Table:
    table = Table("kind", title="ours by kind", title_justify="left")
    for name in ("pairs", "say the same", "merged", "proposed", "kept", "falsely merged"):
        table.add_column(name, justify="right")
    for kind, each in found.by_kind.items():
        ours = each.deciders[OURS]
        pairs = each.n_same + each.n_different
        merged = ours.merged_same + ours.merged_different
        proposed = ours.proposed_same + ours.proposed_different
        cells = (pairs, each.n_same, merged, proposed, pairs - merged - proposed, ours.merged_different)
        table.add_row(kind, *(str(cell) for cell in cells))
    return table
