"""LanceDB's hybrid search, as its documentation shows it: full-text index, vectors, reciprocal rank fusion."""

from __future__ import annotations

import os
from collections.abc import Sequence

from benchmarks.quality.dataset import Document
from benchmarks.quality.peers.peer import Search, package, spoken
from benchmarks.quality.peers.vectors import Vectors

_TABLE = "documents"


class LanceDb:
    """One table a haystack, in RAM."""

    name = "lancedb"

    def __init__(self, vectors: Vectors) -> None:
        os.environ.setdefault("LANCEDB_LOG", "error")  # it warns of every table that it has to make
        self._database = package(self.name, "lancedb").connect("memory://")
        self._words = package(self.name, "lancedb.index").FTS()
        self._vectors = vectors

    def index(self, documents: Sequence[Document]) -> Search:
        texts = [spoken(document) for document in documents]
        rows = [
            {"place": place, "text": text, "vector": vector}
            for place, (text, vector) in enumerate(zip(texts, self._vectors.of(texts), strict=True))
        ]
        table = self._database.create_table(_TABLE, data=rows, mode="overwrite")
        table.create_index("text", config=self._words, replace=True)

        def search(question: str, k: int) -> Sequence[int]:
            asked = table.search(query_type="hybrid", vector_column_name="vector", fts_columns="text")
            found = asked.vector(self._vectors.of([question])[0]).text(question).distance_type("cosine").limit(k)
            return [int(row["place"]) for row in found.to_list()]

        return search
