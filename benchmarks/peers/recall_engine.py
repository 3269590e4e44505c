"""Recall's own engine in this process: bank, index and recall, without gRPC.

Words and meaning are put together by reciprocal ranks of equal weight, as the exact answer is; every other signal is
off. `RecallEvidence` keeps the settings a bank has by default.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.peer import Vector, Vectors
from benchmarks.peers.table import TableEmbedder, TableSource
from index.analysis_settings import NONE, AnalysisSettings
from index.analyzer import analyzer_of
from index.query_cache import QueryCache
from index.sidecar import text_key
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import SystemClock
from recall.memory.files import DiskFiles
from recall.memory.record import NewMemory
from recall.memory.settings import StorageSettings
from recall.ranking.bank_index import BankIndex
from recall.ranking.budget import Budget
from recall.ranking.engine import Engine
from recall.ranking.index_settings import IndexSettings
from recall.ranking.query import Mode, RecallQuery, Weights
from recall.ranking.settings import Fusion, RankingSettings

BANK = "peers"
BY_RANK = Weights(lexical=1.0, semantic=1.0, entity=0.0, neighbour=0.0, dates=0.0, corroboration=0.0, pinned=0.0)
_BATCH, _BUDGET_S = 500, 10.0


class RecallEngine:
    """Fused by rank."""

    _fusion: Fusion | None = Fusion.RECIPROCAL_RANK
    _weights: Weights | None = BY_RANK

    def __init__(self, folder: Path, prepared: Path) -> None:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        self._table = TableEmbedder.read(prepared)
        source = TableSource(self._table)
        self._banks = Banks(folder, StorageSettings(), DiskFiles(), SystemClock())
        self._bank = self._banks.create(DEFAULT_TENANT, BANK)
        self._index = BankIndex.open(
            self._bank,
            folder / "derived",
            analyzer_of(AnalysisSettings(stemmer=NONE)),
            IndexSettings(),
            source.current,
        )
        self._queries = QueryCache(source)
        self._engine = Engine(RankingSettings(), self._queries, source, SystemClock())

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        for at in range(0, len(texts), _BATCH):
            part = texts[at : at + _BATCH]
            self._bank.save([NewMemory(text=text) for text in part])
            rows = zip(part, vectors[at : at + _BATCH], strict=True)
            self._index.store(self._table.model_id, [(text_key(text), row[None]) for text, row in rows])
        self._index.flush()

    def save(self, row: int, text: str, vector: Vector) -> None:  # noqa: ARG002 - ordinals count as rows do
        self._bank.save([NewMemory(text=text)])
        self._index.store(self._table.model_id, [(text_key(text), vector[None])])

    def search(self, text: str, vector: Vector, k: int) -> Sequence[int]:  # noqa: ARG002 - the table knows it
        now = time.monotonic()
        query = RecallQuery(text, limit=k, mode=Mode.HYBRID, fusion=self._fusion, weights=self._weights)
        answer = self._engine.recall(self._index, self._bank, query, Budget(now, now + _BUDGET_S))
        return [one.record.ordinal for one in answer.results]

    def processes(self) -> Sequence[int]:
        return ()

    def close(self) -> None:
        self._queries.close()
        self._index.close()
        self._banks.close()


class RecallEvidence(RecallEngine):
    """As a bank answers by default; its ten are not those of reciprocal ranks, and are not meant to be."""

    _fusion = None
    _weights = None
