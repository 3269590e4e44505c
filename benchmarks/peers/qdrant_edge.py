"""Qdrant Edge: Qdrant's engine in this process; dense HNSW and BM25 as a sparse vector, fused by reciprocal ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import qdrant_edge as q

from benchmarks.peers.exact import RANK_CONSTANT, tokens
from benchmarks.peers.fusion import DEPTH
from benchmarks.peers.peer import Vector, Vectors

_BATCH = 1_000
_DENSE, _WORDS = "dense", "words"


class QdrantEdge:
    """One shard with its write-ahead log; built (`optimize`) when the fill ends."""

    def __init__(self, folder: Path, prepared: Path) -> None:  # noqa: ARG002
        self._path = folder / "shard"
        self._path.mkdir()
        self._shard: Any = None
        self._words: Any = None

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._shard = q.EdgeShard.create(
            str(self._path),
            q.EdgeConfig(
                vectors={_DENSE: q.EdgeVectorParams(size=vectors.shape[1], distance=q.Distance.Cosine)},
                sparse_vectors={_WORDS: q.EdgeSparseVectorParams(modifier=q.Modifier.Idf)},
            ),
        )
        mean = sum(len(tokens(text)) for text in texts) / len(texts)
        self._words = q.Bm25(
            q.Bm25Config(avg_len=mean, stemmer=q.DisabledStemmer(), tokenizer=q.TokenizerType.Whitespace)
        )
        for at in range(0, len(texts), _BATCH):
            rows = zip(texts[at : at + _BATCH], vectors[at : at + _BATCH], strict=True)
            self._put([self._point(at + place, text, vector) for place, (text, vector) in enumerate(rows)])
        self._shard.optimize()
        self._shard.flush()

    def save(self, row: int, text: str, vector: Vector) -> None:
        self._put([self._point(row, text, vector)])
        self._shard.flush()

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:
        legs = [
            q.Prefetch(limit=DEPTH, query=q.Query.Nearest(vector.tolist(), using=_DENSE)),
            q.Prefetch(limit=DEPTH, query=q.Query.Nearest(self._words.embed_query(text), using=_WORDS)),
        ]
        asked = q.QueryRequest(limit=k, prefetches=legs, query=q.Fusion.Rrf(RANK_CONSTANT), with_payload=True)
        return [int(point.id) for point in self._shard.query(asked)]

    def processes(self) -> Sequence[int]:
        return ()

    def close(self) -> None:
        if self._shard is not None:
            self._shard.close()

    def _point(self, row: int, text: str, vector: Vector) -> Any:
        return q.Point(row, {_DENSE: vector.tolist(), _WORDS: self._words.embed_document(text)}, {"text": text})

    def _put(self, points: list[Any]) -> None:
        self._shard.update(q.UpdateOperation.upsert_points(points))
