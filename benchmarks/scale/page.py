"""One HTML page about a run: self-contained, plots as inline SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import plots
from benchmarks.scale.measure import SizeFigures
from benchmarks.style import document

_MIB = float(1 << 20)
_MS = 1e3
PLOTS: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "A call": ("ms", {"recall_ms": 1.0, "engine_ms": 1.0, "save_ms": 1.0}),
    "A start": ("ms", {"start_words_s": _MS, "start_hybrid_s": _MS}),
    "What it holds": ("MiB", {"rss_mib": 1.0, "own_mib": 1.0, "disk_bytes": 1.0 / _MIB}),
}
"""Title → unit, and the figures in it with what turns them into the unit."""


def write(sizes: Sequence[SizeFigures], path: Path) -> None:
    """Writes the page; its folder exists."""
    path.write_text(render(sizes), encoding="utf-8")


def render(sizes: Sequence[SizeFigures]) -> str:
    """The page as one document that fetches nothing."""
    return document("scale", "What a bank costs by its memories", "".join(_sections(sizes)))


def _sections(sizes: Sequence[SizeFigures]) -> Iterator[str]:
    for title, (unit, figures) in PLOTS.items():
        lines = {
            name.rpartition("_")[0]: [(float(one.memories), round(getattr(one, name) * factor, 3)) for one in sizes]
            for name, factor in figures.items()
        }
        yield f"<h2>{title}, {unit}</h2>{plots.legend(list(lines))}{plots.powers(lines, 'memories', unit)}"
