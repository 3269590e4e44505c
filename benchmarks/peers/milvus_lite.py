"""Milvus Lite by pymilvus: HNSW and BM25, fused by its own reciprocal ranks. Its server is a thread of this process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, MilvusClient, RRFRanker

from benchmarks.peers.exact import K1, RANK_CONSTANT, B
from benchmarks.peers.fusion import DEPTH
from benchmarks.peers.peer import Vector, Vectors
from index.stopwords import STOP_WORDS

_MEMORIES, _BATCH, _LONGEST_TEXT = "memories", 1_000, 8_192
_ANALYZER = {"tokenizer": "standard", "filter": [{"type": "stop", "stop_words": sorted(STOP_WORDS)}]}


class MilvusLite:
    """One collection in one folder."""

    def __init__(self, folder: Path, prepared: Path) -> None:  # noqa: ARG002
        self._client = MilvusClient(str(folder / "memories.db"))

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._client.create_collection(_MEMORIES, schema=_schema(vectors.shape[1]))
        for at in range(0, len(texts), _BATCH):
            rows = zip(texts[at : at + _BATCH], vectors[at : at + _BATCH], strict=True)
            self._client.insert(_MEMORIES, [_row(at + place, *one) for place, one in enumerate(rows)])
        self._client.flush(_MEMORIES)
        self._client.create_index(_MEMORIES, self._indexes())
        self._client.load_collection(_MEMORIES)

    def save(self, row: int, text: str, vector: Vector) -> None:
        self._client.insert(_MEMORIES, [_row(row, text, vector)])

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:
        legs = [
            AnnSearchRequest([vector.tolist()], "vector", {"metric_type": "COSINE", "params": {"ef": DEPTH}}, DEPTH),
            AnnSearchRequest([text], "words", {"metric_type": "BM25"}, DEPTH),
        ]
        found = self._client.hybrid_search(_MEMORIES, legs, RRFRanker(RANK_CONSTANT), limit=k)
        return [int(one["id"]) for one in found[0]]

    def processes(self) -> Sequence[int]:
        return ()

    def close(self) -> None:
        self._client.close()

    def _indexes(self) -> Any:
        indexes = self._client.prepare_index_params()
        indexes.add_index("vector", "HNSW", metric_type="COSINE", params={"M": 16, "efConstruction": 200})
        bm25 = {"bm25_k1": K1, "bm25_b": B}
        indexes.add_index("words", "SPARSE_INVERTED_INDEX", metric_type="BM25", params=bm25)
        return indexes


def _schema(dimensions: int) -> Any:
    schema = MilvusClient.create_schema(auto_id=False)
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field(
        "text", DataType.VARCHAR, max_length=_LONGEST_TEXT, enable_analyzer=True, analyzer_params=_ANALYZER
    )
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimensions)
    schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_function(Function("bm25", FunctionType.BM25, ["text"], ["words"]))
    return schema


def _row(row: int, text: str, vector: Vector) -> dict[str, Any]:
    return {"id": row, "text": text, "vector": vector.tolist()}
