"""One HTML page about a run over pairs: self-contained, plots as inline SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from benchmarks import plots
from benchmarks.compaction.deciders import OURS
from benchmarks.compaction.figures import Counts, Figures, Point
from benchmarks.style import document

_COLUMNS = ("merged same", "merged different", "proposed same", "proposed different")


def write(found: Sequence[Figures], path: Path) -> None:
    """Writes the page; its folder exists."""
    path.write_text(render(found), encoding="utf-8")


def render(found: Sequence[Figures]) -> str:
    """The page as one document that fetches nothing."""
    body = "".join(part for each in found for part in _sections(each))
    return document("compaction", "Compaction: labelled pairs", body)


def _sections(found: Figures) -> Iterator[str]:
    yield f"<h2>{escape(found.pairs)}</h2>"
    yield (
        f'<p class="dim">{found.n_same} pairs say the same, {found.n_different} do not; model {escape(found.model)}</p>'
    )
    yield _table("decider", found.deciders)
    lines = _lines(found)
    yield "<h3>By cosine threshold: share of the pairs that say the same, and of those that do not</h3>"
    yield plots.legend(list(lines)) + plots.curves(lines, "cosine threshold")
    if found.by_kind:
        yield "<h3>Ours by kind</h3>" + _table(
            "kind", {kind: each.deciders[OURS] for kind, each in found.by_kind.items()}
        )


def _lines(found: Figures) -> dict[str, list[tuple[float, float]]]:
    same, different = max(found.n_same, 1), max(found.n_different, 1)
    shares: dict[str, Callable[[Point], float]] = {
        "cosine alone merges the same": lambda point: point.cosine.merged_same / same,
        "cosine alone merges different": lambda point: point.cosine.merged_different / different,
        "ours merges the same": lambda point: point.ours.merged_same / same,
        "ours merges different": lambda point: point.ours.merged_different / different,
        "ours merges or proposes the same": lambda point: (point.ours.merged_same + point.ours.proposed_same) / same,
    }
    return {name: [(point.threshold, share(point)) for point in found.by_threshold] for name, share in shares.items()}


def _table(first: str, rows: Mapping[str, Counts]) -> str:
    head = "".join(f"<th>{name}</th>" for name in (first, *_COLUMNS))
    body = "".join(
        f"<tr><td>{escape(name)}</td><td>{each.merged_same}</td><td>{each.merged_different}</td>"
        f"<td>{each.proposed_same}</td><td>{each.proposed_different}</td></tr>"
        for name, each in rows.items()
    )
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'
