"""One HTML page about a run: self-contained, a plot as inline SVG."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from benchmarks import plots
from benchmarks.peers.report import PeersFigures
from benchmarks.style import document


def write(found: PeersFigures, path: Path) -> None:
    """Writes the page; its folder exists."""
    path.write_text(render(found), encoding="utf-8")


def render(found: PeersFigures) -> str:
    """The page as one document that fetches nothing."""
    return document("peers", f"{found.n} memories in each store", "".join(_sections(found)))


def _sections(found: PeersFigures) -> Iterator[str]:
    yield f'<p class="dim">{escape(found.machine)}; one caller</p>'
    if not found.figures:
        return
    places = {name: (one.search_p50_ms, one.recall_at_10) for name, one in found.figures.items()}
    visible = {name: (one.visible_p50_ms, one.recall_at_10) for name, one in found.figures.items()}
    yield plots.legend(list(places))
    yield "<h2>recall@10 of the exact fused ten, by the time of a search</h2>"
    yield plots.scatter(places, "p50 of a search, ms")
    yield "<h2>recall@10, by the time from a save until a search finds it</h2>"
    yield plots.scatter(visible, "p50 until visible, ms")
