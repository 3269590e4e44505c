"""LangGraph's InMemoryStore: vectors alone, in RAM, scanned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langgraph.store.memory import InMemoryStore

from benchmarks.peers.peer import Vector, Vectors
from benchmarks.peers.table import TableEmbedder

_WHERE = ("memories",)


class LangGraphStore:
    """Not durable: nothing is written."""

    def __init__(self, folder: Path, prepared: Path) -> None:  # noqa: ARG002
        table = TableEmbedder.read(prepared)
        self._store = InMemoryStore(
            index={"dims": table.dimensions, "embed": lambda texts: table.encode(texts).tolist(), "fields": ["text"]}
        )

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        for row, text in enumerate(texts):
            self.save(row, text, vectors[row])

    def save(self, row: int, text: str, vector: Vector) -> None:  # noqa: ARG002
        self._store.put(_WHERE, str(row), {"text": text})

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:  # noqa: ARG002
        return [int(one.key) for one in self._store.search(_WHERE, query=text, limit=k)]

    def processes(self) -> Sequence[int]:
        return ()

    def close(self) -> None:
        """Nothing is open."""
