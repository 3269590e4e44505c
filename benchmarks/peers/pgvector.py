"""PostgreSQL with pgvector, as its documentation fuses: HNSW and full text by reciprocal ranks in one statement.

Its full text knows no BM25: words are ranked by `ts_rank_cd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgvector.psycopg import register_vector

from benchmarks.peers.exact import RANK_CONSTANT, tokens
from benchmarks.peers.fusion import DEPTH
from benchmarks.peers.peer import Vector, Vectors
from benchmarks.peers.postgres import PostgresServer

_TABLE = """
CREATE TABLE memories (row bigint PRIMARY KEY, text text NOT NULL, embedding vector({dimensions}) NOT NULL,
                       words tsvector GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED)
"""
_INDEXES = (
    "CREATE INDEX ON memories USING hnsw (embedding vector_cosine_ops)",
    "CREATE INDEX ON memories USING gin (words)",
    "ANALYZE memories",
)
_INSERT = "INSERT INTO memories (row, text, embedding) VALUES (%s, %s, %s)"
_SEARCH = f"""
WITH near AS (
  SELECT row, row_number() OVER () AS rank
  FROM (SELECT row FROM memories ORDER BY embedding <=> %(vector)s LIMIT {DEPTH}) AS nearest
), matching AS (
  SELECT row, row_number() OVER () AS rank
  FROM (SELECT row FROM memories, to_tsquery('simple', %(words)s) AS asked WHERE words @@ asked
        ORDER BY ts_rank_cd(words, asked) DESC LIMIT {DEPTH}) AS ranked
)
SELECT row FROM near FULL OUTER JOIN matching USING (row)
ORDER BY coalesce(1.0 / ({RANK_CONSTANT} + near.rank), 0) + coalesce(1.0 / ({RANK_CONSTANT} + matching.rank), 0) DESC
LIMIT %(k)s
"""


class PgVector:
    """One table; each save is a transaction of its own, synced."""

    def __init__(self, folder: Path, prepared: Path) -> None:  # noqa: ARG002
        self._server = PostgresServer(folder)
        self._connection = self._server.connected()
        self._connection.execute("CREATE EXTENSION vector")
        self._connection.execute(f"SET hnsw.ef_search = {DEPTH}")
        register_vector(self._connection)

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._connection.execute(_TABLE.format(dimensions=vectors.shape[1]))
        with (
            self._connection.cursor() as cursor,
            cursor.copy("COPY memories (row, text, embedding) FROM STDIN WITH (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["int8", "text", "vector"])
            for row, text in enumerate(texts):
                copy.write_row((row, text, vectors[row]))
        for statement in _INDEXES:
            self._connection.execute(statement)

    def save(self, row: int, text: str, vector: Vector) -> None:
        self._connection.execute(_INSERT, (row, text, vector))

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:
        asked = {"words": " | ".join(tokens(text)), "vector": vector, "k": k}
        return [int(row) for (row,) in self._connection.execute(_SEARCH, asked).fetchall()]

    def processes(self) -> Sequence[int]:
        return self._server.processes()

    def close(self) -> None:
        self._connection.close()
        self._server.stop()
