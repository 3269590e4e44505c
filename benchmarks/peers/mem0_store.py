"""mem0 with `infer=False`: no model reads what is saved. Its default store: Qdrant's local mode in a folder.

Its words come from a sparse encoder that is fetched from a hub; without it mem0 scores by vector alone, as here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.peer import Vector, Vectors
from benchmarks.peers.table import TableEmbedder

_USER, _NO_KEY = "peers", "none"


class Mem0:
    """One user's memories; the vectors come from the table instead of an endpoint."""

    def __init__(self, folder: Path, prepared: Path) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "mem0"), HF_HUB_OFFLINE="1")
        from mem0 import Memory  # it reads its folder and its telemetry from the environment as it is imported

        table = TableEmbedder.read(prepared)
        key = {"api_key": _NO_KEY}  # its clients ask for one; nobody is called
        store = {"path": str(folder / "qdrant"), "embedding_model_dims": table.dimensions, "on_disk": True}
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "openai", "config": key},
                "llm": {"provider": "openai", "config": key},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _TableEmbedding(table)

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        for row, text in enumerate(texts):
            self.save(row, text, vectors[row])

    def save(self, row: int, text: str, vector: Vector) -> None:  # noqa: ARG002
        self._memory.add(text, user_id=_USER, metadata={"row": row}, infer=False)

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:  # noqa: ARG002
        found = self._memory.search(text, filters={"user_id": _USER}, top_k=k, threshold=0.0)
        return [int(one["metadata"]["row"]) for one in found["results"]]

    def processes(self) -> Sequence[int]:
        return ()

    def close(self) -> None:
        self._memory.close()


class _TableEmbedding:
    """What mem0 asks of an embedding model."""

    def __init__(self, table: TableEmbedder) -> None:
        self._table = table

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002
        return [float(value) for value in self._table.encode([text])[0]]
