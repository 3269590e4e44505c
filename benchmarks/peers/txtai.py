"""txtai: faiss and its own BM25, a hundred of each for ten, fused by its own reciprocal ranks: Σ ½ / rank, without the
constant of 60 that the exact answer has, which costs it recall here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from txtai import Embeddings

from benchmarks.peers.exact import K1, B
from benchmarks.peers.peer import Vector, Vectors
from benchmarks.peers.table import TableEmbedder


class Txtai:
    """In RAM until it is saved: a save writes the whole index anew, which is the only durability it has."""

    def __init__(self, folder: Path, prepared: Path) -> None:
        self._path = str(folder / "txtai")
        self._index = Embeddings(
            {
                "method": "external",
                "transform": _transform_of(TableEmbedder.read(prepared)),
                "scoring": {"method": "bm25", "terms": True, "normalize": False, "k1": K1, "b": B},
            }
        )

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:  # noqa: ARG002 - its transform has them
        self._index.index((row, text, None) for row, text in enumerate(texts))
        self._index.save(self._path)

    def save(self, row: int, text: str, vector: Vector) -> None:  # noqa: ARG002
        self._index.upsert([(row, text, None)])
        self._index.save(self._path)

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:  # noqa: ARG002
        return [int(row) for row, _ in self._index.search(text, k)]

    def processes(self) -> Sequence[int]:
        return ()

    def close(self) -> None:
        self._index.close()


def _transform_of(table: TableEmbedder) -> Callable[[Sequence[str]], Vectors]:
    """It takes functions alone, no methods."""

    def transform(texts: Sequence[str]) -> Vectors:
        return table.encode(texts)

    return transform
