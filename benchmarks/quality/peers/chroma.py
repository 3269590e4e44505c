"""Chroma: a collection of documents with their vectors, asked for the nearest by cosine."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.quality.dataset import Document
from benchmarks.quality.peers.peer import Search, package, spoken
from benchmarks.quality.peers.vectors import Vectors

_COLLECTION = "documents"


class Chroma:
    """One collection at a time, in RAM."""

    name = "chroma"

    def __init__(self, vectors: Vectors) -> None:
        chromadb = package(self.name, "chromadb")
        self._client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
        self._vectors = vectors
        self._filled = False

    def index(self, documents: Sequence[Document]) -> Search:
        if self._filled:
            self._client.delete_collection(_COLLECTION)
        collection = self._client.create_collection(
            _COLLECTION, metadata={"hnsw:space": "cosine"}, embedding_function=None
        )
        self._filled = True
        texts = [spoken(document) for document in documents]
        vectors = self._vectors.of(texts)
        step = self._client.get_max_batch_size()
        for start in range(0, len(texts), step):
            places = range(start, min(start + step, len(texts)))
            collection.add(
                ids=[str(place) for place in places],
                documents=texts[start : start + step],
                embeddings=vectors[start : start + step],
            )

        def search(question: str, k: int) -> Sequence[int]:
            found = collection.query(
                query_embeddings=self._vectors.of([question]), n_results=min(k, len(texts)), include=[]
            )
            return [int(place) for place in found["ids"][0]]

        return search
