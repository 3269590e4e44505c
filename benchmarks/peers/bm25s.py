"""bm25s: words alone, in RAM, made anew for every change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bm25s

from benchmarks.peers.exact import K1, B, tokens
from benchmarks.peers.peer import Vector, Vectors


class Bm25s:
    """Eager sparse BM25 of the Lucene kind; it cannot take one text in, so a save builds it all again."""

    def __init__(self, folder: Path, prepared: Path) -> None:  # noqa: ARG002
        self._folder = folder / "bm25s"
        self._read: list[list[str]] = []
        self._retriever: Any = None

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:  # noqa: ARG002
        self._read = [tokens(text) for text in texts]
        self._build()

    def save(self, row: int, text: str, vector: Vector) -> None:  # noqa: ARG002
        self._read.append(tokens(text))
        self._build()

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:  # noqa: ARG002
        found, _ = self._retriever.retrieve([tokens(text)], k=k, show_progress=False)
        return [int(row) for row in found[0]]

    def processes(self) -> Sequence[int]:
        return ()

    def close(self) -> None:
        """Nothing is open."""

    def _build(self) -> None:
        self._retriever = bm25s.BM25(method="lucene", k1=K1, b=B)
        self._retriever.index(self._read, show_progress=False)
        self._retriever.save(str(self._folder))
