"""``python -m benchmarks.compaction [--pairs FILE.tsv] --out OUT.json``, ``… --recall LOCOMO.json``, ``… --growth``.

``--pairs`` may be given several times; without it both halves of the built-in set are measured.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from benchmarks.compaction import figures, page, pairs, tables
from benchmarks.compaction.likeness import likeness, load_model
from benchmarks.environment import versions
from benchmarks.quality.dataset import LayoutError
from benchmarks.service import ServiceError
from consolidate.settings import ConsolidateSettings
from index.embedder import Embedder
from index.errors import EmbedderUnavailable, ModelUnusable

_PIPED_WIDTH = 120
_USAGE, _FAILED = 2, 1
_CACHE = Path.home() / ".cache" / "recall" / "models"
_EMBED_BATCH = 32

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)
errors = Console(stderr=True)


@app.command()
def measure(
    files: Annotated[
        list[Path] | None, typer.Option("--pairs", help="Tab-separated: a, b, same, perhaps kind.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where the JSON goes; a page with plots goes beside it.")] = None,
    model: Annotated[str, typer.Option(help="The embedding model, as in the setting embedding.model.")] = "default",
    cache: Annotated[Path, typer.Option(help="Where the export of the model is kept.")] = _CACHE,
    recall: Annotated[
        Path | None, typer.Option(help="LoCoMo's JSON: recall before and after, instead of pairs.")
    ] = None,
    growth: Annotated[bool, typer.Option(help="Planning time and memory by size, instead of pairs.")] = False,
) -> None:
    """Measures how well restatements are told from other facts."""
    try:
        if growth:
            _growth(out)
        elif recall is not None:
            _recall(recall, out)
        else:
            _pairs(files or list(pairs.BUILT_IN.values()), load_model(model, cache), out)
    except (pairs.PairFileError, LayoutError, OSError, UnicodeDecodeError) as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_USAGE) from problem
    except (ModelUnusable, EmbedderUnavailable, ServiceError) as problem:
        errors.print(f"error: {problem}", highlight=False)
        raise typer.Exit(_FAILED) from problem


def _pairs(files: list[Path], embedder: Embedder, out: Path | None) -> None:
    found = [_measured(path, embedder) for path in files]
    for each in found:
        tables.show(each, console)
    if out is not None:
        figures.write(found, out)
        page.write(found, out.with_suffix(".html"))


def _measured(path: Path, embedder: Embedder) -> figures.Figures:
    labelled = pairs.read(path)
    texts = len({text for pair in labelled for text in (pair.a, pair.b)})
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task(f"embedding {path.name}", total=texts)
        alike = likeness(labelled, embedder, _EMBED_BATCH, lambda done: progress.advance(task, done))
    settings = ConsolidateSettings()
    return figures.figures(path.stem, embedder.model_id, labelled, alike, settings, versions())


def _recall(data: Path, out: Path | None) -> None:
    from benchmarks.compaction import injected

    found = injected.measure(data)
    injected.show(found, console)
    if out is not None:
        injected.write(found, out)


def _growth(out: Path | None) -> None:
    from benchmarks.compaction import growth

    found = growth.measure(growth.SIZES)
    growth.show(found, console)
    if out is not None:
        growth.write(found, out)


if __name__ == "__main__":
    app()
