"""What a compressed vector scan misses: ``python -m benchmarks.approximation --set vaswani --data PATH``.

Documents and questions of a set are embedded once; the same searches run over the same vectors, exactly and compressed
(as above ``vectors.dense_limit``). recall@k is the share of the exact k nearest that the compressed scan gives.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.quality.sets import registry
from index.embedder import Embedder, EmbeddingSettings
from index.hits import Hits
from index.loader import Loader
from index.vectors import Vectors, VectorSettings

DEPTHS = (10, 100)
_EXACT_ROWS, _COMPRESSED_ROWS = 1_000_000_000, 1
_MODELS = Path("data") / ".models"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True, slots=True)
class Approximation:
    """Over all questions: mean and least recall at one depth; median milliseconds of both searches."""

    depth: int
    recall: float
    least_recall: float
    exact_ms: float
    compressed_ms: float


def approximation(
    documents: NDArray[np.float32], queries: NDArray[np.float32], depth: int, rerank: int
) -> Approximation:
    """`documents` (n, dim) and `queries` (m, dim) are unit rows; `rerank` as in VectorSettings."""
    exact = _searched(documents, queries, depth, VectorSettings(dense_limit=_EXACT_ROWS))
    compressed = _searched(
        documents,
        queries,
        depth,
        VectorSettings(dense_limit=_COMPRESSED_ROWS, compressed_from=_COMPRESSED_ROWS, rerank=rerank),
    )
    recalls = [
        len(set(one.ordinals.tolist()) & set(other.ordinals.tolist())) / max(len(one), 1)
        for one, other in zip(exact[0], compressed[0], strict=True)
    ]
    return Approximation(depth, float(np.mean(recalls)), min(recalls), exact[1], compressed[1])


def _searched(
    documents: NDArray[np.float32], queries: NDArray[np.float32], depth: int, settings: VectorSettings
) -> tuple[list[Hits], float]:
    vectors = Vectors(documents.shape[1], settings, run=_at_once)
    vectors.apply(list(enumerate(documents)))
    found, spent = [], []
    for query in queries:
        began = time.perf_counter()
        found.append(vectors.search(query, depth))
        spent.append((time.perf_counter() - began) * 1e3)
    return found, float(np.median(spent))


def _at_once(work: Callable[[], None]) -> None:
    work()


def _encoded(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    return np.concatenate([embedder.encode([text]) for text in texts])


@app.command()
def main(
    data: Annotated[Path, typer.Option(help="The file or folder of the set, in its published layout.")],
    name: Annotated[str, typer.Option("--set", help=f"One of: {', '.join(registry.SETS)}.")] = "vaswani",
    model: Annotated[str, typer.Option(help="As the setting embedding.model.")] = "default",
    rerank: Annotated[int, typer.Option(help="As the setting vectors.rerank.")] = VectorSettings().rerank,
) -> None:
    """Prints the recall of the compressed scan."""
    dataset = registry.load(name, data, None)
    embedder = Loader(EmbeddingSettings(model=model), _MODELS).load().embedder
    documents = _encoded(embedder, [one.text for haystack in dataset.haystacks for one in haystack.documents])
    queries = _encoded(embedder, [question.text for question in dataset.questions()])
    table = Table("depth", "recall", "least", "exact ms", "compressed ms", title=f"{name}: {len(documents)} vectors")
    for depth in DEPTHS:
        one = approximation(documents, queries, depth, rerank)
        table.add_row(
            *(f"{value:.4g}" for value in (depth, one.recall, one.least_recall, one.exact_ms, one.compressed_ms))
        )
    Console().print(table)


if __name__ == "__main__":
    app()
