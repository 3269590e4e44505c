"""One HTML page about one run: self-contained, with plots drawn as inline SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

from benchmarks import plots
from benchmarks.quality import metrics
from benchmarks.quality.figures import Figures, Values
from benchmarks.quality.tables import notes
from benchmarks.style import document

_HELD = {True: "<td>yes</td>", False: '<td class="best">NO</td>'}


def write(found: Figures, path: Path) -> None:
    """Writes the page; its folder exists."""
    path.write_text(render(found), encoding="utf-8")


def render(found: Figures) -> str:
    """The page as one document that fetches nothing."""
    title = f"{found.set}, unit {found.unit}"
    body = "".join(_sections(found))
    return document(title, title, body)


def _sections(found: Figures) -> Iterator[str]:
    series = list(found.systems)
    yield f'<p class="dim">{escape(found.headline)}, n = {found.n}; model {escape(found.model)}</p>'
    yield plots.legend(series)
    yield _table(found.systems)
    yield "<h2>fraction@10 by category</h2>" + plots.bars(_by_category(found), series)
    yield "<h2>Share of the evidence among the first k (fraction@k)</h2>" + plots.curves(_curves(found), "k")
    if found.differences:
        yield from _differences(found, series)
    if found.promises:
        yield "<h2>What is promised</h2>" + _promises(found)
    yield "<h2>Quality beside latency (fraction@10)</h2>"
    yield plots.scatter(_latency(found), "p50 of one answer at the caller, ms (100 results)")
    if found.all_categories_n != found.n:
        yield f"<h2>All categories, n = {found.all_categories_n}</h2>" + _table(found.all_categories)
    if len(found.category_n) > 1:
        for category, values in found.by_category.items():
            yield f"<h2>Category {escape(category)}, n = {found.category_n[category]}</h2>" + _table(values)
    yield "<h2>To know beside the figures</h2><ul>" + "".join(f"<li>{escape(line)}</li>" for line in notes(found))
    versions = ", ".join(f"{name} {release}" for name, release in {**found.versions, **found.settings}.items())
    yield f"<li>{escape(versions)}</li></ul>"


def _table(systems: Mapping[str, Values]) -> str:
    names = list(next(iter(systems.values())))
    best = {name: max(values[name] for values in systems.values()) for name in names}
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = "".join(
        f"<tr><td>{escape(system)}</td>{''.join(_cell(values[name], best[name]) for name in names)}</tr>"
        for system, values in systems.items()
    )
    return f'<div class="scroll"><table><tr><th>system</th>{head}</tr>{rows}</table></div>'


def _promises(found: Figures) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("promise", "metric", "against", "is", "ours", "difference", "held"))
    rows = "".join(
        f"<tr><td>{escape(one.told)}</td><td>{escape(one.metric)}</td><td>{escape(one.reference)}</td>"
        f"<td>{one.reference_value:.3f}</td><td>{one.value:.3f}</td>"
        f"<td>{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]</td>"
        f"{_HELD[one.held]}</tr>"
        for one in found.promises
    )
    return f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _cell(value: float, best: float) -> str:
    return f'<td class="best">{value:.3f}</td>' if value == best else f"<td>{value:.3f}</td>"


def _by_category(found: Figures) -> dict[str, dict[str, float]]:
    overall = {system: values["fraction@10"] for system, values in found.systems.items()}
    if len(found.category_n) < 2:
        return {found.headline: overall}
    return {
        **{
            f"{category.replace('_', ' ')} ({found.category_n[category]})": {
                system: values["fraction@10"] for system, values in systems.items()
            }
            for category, systems in found.by_category.items()
        },
        "headline": overall,
    }


def _curves(found: Figures) -> dict[str, list[tuple[float, float]]]:
    return {
        system: [
            (float(k), metrics.mean(f"fraction@{k}", found.headline_judgements(system))) for k in metrics.CURVE_DEPTHS
        ]
        for system in found.systems
    }


def _differences(found: Figures, series: list[str]) -> Iterator[str]:
    colours = {name: number for number, name in enumerate(series)}
    for name in metrics.COMPARED:
        rows = {system: (one[name].mean, one[name].low, one[name].high) for system, one in found.differences.items()}
        yield f"<h2>{name} minus {escape(found.baseline)}: mean and 95 % interval, paired bootstrap</h2>"
        yield plots.whiskers(rows, colours)


def _latency(found: Figures) -> dict[str, tuple[float, float]]:
    return {system: (found.latency_ms[system].p50, values["fraction@10"]) for system, values in found.systems.items()}
