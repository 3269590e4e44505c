"""Chroma on disk: vectors by HNSW; its words are a filter without scores, so it is asked by vector alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import chromadb

from benchmarks.peers.peer import Vector, Vectors

_BATCH = 5_000


class Chroma:
    """One collection."""

    def __init__(self, folder: Path, prepared: Path) -> None:  # noqa: ARG002
        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder / "chroma"), settings)
        self._memories = self._client.create_collection("memories", metadata={"hnsw:space": "cosine"})

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        for at in range(0, len(texts), _BATCH):
            part = texts[at : at + _BATCH]
            ids = [str(at + place) for place in range(len(part))]
            self._memories.add(ids=ids, embeddings=vectors[at : at + _BATCH], documents=list(part))

    def save(self, row: int, text: str, vector: Vector) -> None:
        self._memories.add(ids=[str(row)], embeddings=vector[None], documents=[text])

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:  # noqa: ARG002
        found = self._memories.query(query_embeddings=vector[None], n_results=k, include=["documents"])
        return [int(one) for one in found["ids"][0]]

    def processes(self) -> Sequence[int]:
        return ()

    def close(self) -> None:
        """It has no word for it."""
