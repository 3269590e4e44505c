"""LanceDB's hybrid search, as its documentation shows it: full-text index, vectors, reciprocal rank fusion."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.index import FTS, IvfPq
from lancedb.rerankers import RRFReranker

from benchmarks.peers.exact import RANK_CONSTANT
from benchmarks.peers.fusion import DEPTH
from benchmarks.peers.peer import Vector, Vectors

_TABLE, _BATCH = "memories", 10_000


class LanceDb:
    """Vectors scanned, all of them."""

    def __init__(self, folder: Path, prepared: Path) -> None:  # noqa: ARG002
        os.environ.setdefault("LANCEDB_LOG", "error")
        self._database = lancedb.connect(str(folder / "lance"))
        self._table: Any = None
        self._fuse = RRFReranker(K=RANK_CONSTANT)

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        for at in range(0, len(texts), _BATCH):
            rows = _rows(at, texts[at : at + _BATCH], vectors[at : at + _BATCH])
            if self._table is None:
                self._table = self._database.create_table(_TABLE, data=rows)
            else:
                self._table.add(rows)
        self._table.create_index("text", config=FTS(stem=False, remove_stop_words=True))
        self._build_vectors()
        self._table.optimize()

    def save(self, row: int, text: str, vector: Vector) -> None:
        self._table.add(_rows(row, [text], vector[None]))

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:
        asked = self._table.search(query_type="hybrid", vector_column_name="vector", fts_columns="text")
        found = asked.vector(vector).text(text).distance_type("cosine").rerank(self._fuse).limit(DEPTH)
        return [int(row) for row in found.select(["row"]).to_arrow()["row"].to_pylist()][:k]

    def processes(self) -> Sequence[int]:
        return ()

    def close(self) -> None:
        """It has no word for it."""

    def _build_vectors(self) -> None:
        """No index: every search scans."""


class LanceDbAnn(LanceDb):
    """Vectors by an IVF-PQ index of LanceDB's own defaults."""

    def _build_vectors(self) -> None:
        self._table.create_index("vector", config=IvfPq(distance_type="cosine"))


def _rows(first: int, texts: Sequence[str], vectors: Vectors) -> pa.Table:
    flat = pa.array(vectors.reshape(-1))
    columns = {
        "row": pa.array(range(first, first + len(texts)), pa.int64()),
        "text": pa.array(list(texts)),
        "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
    }
    return pa.table(columns)
