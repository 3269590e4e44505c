"""Figures as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rich.console import Console, Group
from rich.table import Table

from benchmarks.quality import metrics
from benchmarks.quality.figures import Figures, Values
from benchmarks.quality.promises import Promise
from benchmarks.quality.significance import Difference


def show(found: Figures, console: Console) -> None:
    """Prints the headline, every category, the comparison with the baseline, and what was left out."""
    console.print(Group(*_tables(found)))
    for line in notes(found):
        console.print(line, style="dim", highlight=False)


def _tables(found: Figures) -> Iterator[Table]:
    title = f"{found.set}, unit {found.unit}"
    yield values_table(f"{title}: {found.headline}, n = {found.n}", found.systems)
    if found.all_categories_n != found.n:
        yield values_table(f"{title}: all categories, n = {found.all_categories_n}", found.all_categories)
    if len(found.category_n) > 1:
        for category, values in found.by_category.items():
            yield values_table(f"{title}: category {category}, n = {found.category_n[category]}", values)
    if found.differences:
        yield differences_table(f"minus {found.baseline} ({found.headline})", found.differences)
    if found.promises:
        yield promises_table(f"what is promised ({found.headline})", found.promises)


def values_table(title: str, systems: Mapping[str, Values]) -> Table:
    """A row a system, a column a metric; the best of a column is bold."""
    names = list(next(iter(systems.values())))
    best = {name: max(values[name] for values in systems.values()) for name in names}
    table = Table("system", title=title, title_justify="left")
    for name in names:
        table.add_column(name, justify="right")
    for system, values in systems.items():
        table.add_row(system, *(_cell(values[name], best[name], len(systems)) for name in names))
    return table


def _cell(value: float, best: float, rivals: int) -> str:
    return f"[bold]{value:.3f}[/bold]" if rivals > 1 and value == best else f"{value:.3f}"


def differences_table(title: str, differences: Mapping[str, Mapping[str, Difference]]) -> Table:
    """A row a system: the mean difference, its 95 % interval and p for each compared metric."""
    table = Table("system", title=title, title_justify="left")
    for name in metrics.COMPARED:
        table.add_column(name, justify="right")
    for system, found in differences.items():
        table.add_row(system, *(describe(found[name]) for name in metrics.COMPARED))
    return table


def promises_table(title: str, promises: Iterable[Promise]) -> Table:
    """A row a promise and metric: what is compared with what, the difference with its interval, held or not."""
    table = Table("promise", "metric", title=title, title_justify="left")
    for name in ("better leg or peer", "is", "ours", "difference"):
        table.add_column(name, justify="right")
    table.add_column("held")
    for one in promises:
        difference = f"{one.mean:+.3f} \\[{one.low:+.3f}, {one.high:+.3f}]"
        held = "yes" if one.held else "[bold red]NO[/bold red]"
        table.add_row(
            one.told, one.metric, one.reference, f"{one.reference_value:.3f}", f"{one.value:.3f}", difference, held
        )
    return table


def describe(found: Difference) -> str:
    """ "+0.041 [+0.020, +0.062] p=0.0003"."""
    return f"{found.mean:+.3f} [[]{found.low:+.3f}, {found.high:+.3f}] p={found.p:.4f}".replace("[[]", "\\[")


def notes(found: Figures) -> Iterator[str]:
    """What a reader must know beside the figures, a line each."""
    if note := found.settings.get("note"):
        yield note
    yield (
        f"{found.documents} documents in {found.memories} memories; {found.documents_in_parts} parts beyond the first "
        f"of documents longer than a memory may be; model {found.model}"
    )
    yield (
        "latencies, 100 results each: a system may find a query's vector in the cache, left there by the system before "
        "it; peers answer in the process that asks, without a server"
    )
    for system, latency in found.latency_ms.items():
        yield f"{system}: an answer takes {latency.p50:.2f} ms (p50), {latency.p90:.2f} (p90), {latency.p99:.2f} (p99)"
    for told in found.peers_left_out:
        yield f"left out: {told}"
    for reason, left in found.dropped.items():
        yield f"dropped {left.count} x {reason}: {', '.join(left.ids)}{' …' if left.count > len(left.ids) else ''}"
    for system, count in found.without_results.items():
        if count:
            yield f"{system}: {count} questions found nothing at all"
    for system, reasons in found.degraded.items():
        for reason, count in sorted(reasons.items()):
            yield f"{system}: {count} answers {reason}"
