"""SQLite (by apsw, since not every Python lets its sqlite3 load extensions) with FTS5 for words and sqlite-vec for
vectors (scanned), fused by reciprocal ranks; each save synced.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw
import sqlite_vec

from benchmarks.peers.exact import tokens
from benchmarks.peers.fusion import DEPTH, by_rank
from benchmarks.peers.peer import Vector, Vectors


class SqliteVec:
    """One database file in WAL mode, synchronous=FULL."""

    def __init__(self, folder: Path, prepared: Path) -> None:  # noqa: ARG002
        self._database = apsw.Connection(str(folder / "memories.db"))
        self._database.enable_load_extension(True)
        self._database.load_extension(sqlite_vec.loadable_path())
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        size = vectors.shape[1]
        with self._database as database:
            database.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
            database.execute(f"CREATE VIRTUAL TABLE meaning USING vec0(vector float[{size}] distance_metric=cosine)")
            rows = ((row + 1, text) for row, text in enumerate(texts))
            database.cursor().executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", rows)
            numbers = ((row + 1, vector.tobytes()) for row, vector in enumerate(vectors))
            database.cursor().executemany("INSERT INTO meaning(rowid, vector) VALUES (?, ?)", numbers)

    def save(self, row: int, text: str, vector: Vector) -> None:
        with self._database as database:
            database.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (row + 1, text))
            database.execute("INSERT INTO meaning(rowid, vector) VALUES (?, ?)", (row + 1, vector.tobytes()))

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:
        words = " OR ".join(f'"{word}"' for word in tokens(text))
        lexical = self._database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (words, DEPTH)
        )
        near = self._database.execute(
            "SELECT rowid FROM meaning WHERE vector MATCH ? AND k = ? ORDER BY distance", (vector.tobytes(), DEPTH)
        )
        return by_rank(([row - 1 for (row,) in lexical], [row - 1 for (row,) in near]), k)

    def processes(self) -> Sequence[int]:
        return ()

    def close(self) -> None:
        self._database.close()
