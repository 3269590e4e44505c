"""Fills banks in this process as the server would: events through the bank into its log, words and vectors beside it,
all flushed and closed as a server that stops leaves them. A memory takes a tenth of a millisecond instead of the
round trips, and no backfill runs; the settings are the server's defaults.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from index.analysis_settings import AnalysisSettings
from index.analyzer import analyzer_of
from index.embedder import Embedder
from index.sidecar import text_key
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import SystemClock
from recall.memory.files import DiskFiles
from recall.memory.record import NewMemory
from recall.memory.settings import StorageSettings
from recall.ranking.bank_index import BankIndex
from recall.ranking.index_settings import IndexSettings
from recall.server.app import DERIVED

Vectors = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts → unit rows (n, dimensions)."""

_BATCH = 2_000
_POLL_S = 0.01


class DataFolder:
    """A data folder that no server has open. Made when it is not there."""

    def __init__(self, data: Path) -> None:
        self._banks = Banks(data, StorageSettings(), DiskFiles(), SystemClock())
        self._analyzer = analyzer_of(AnalysisSettings())

    def fill(self, bank: str, texts: Sequence[str], embedder: Embedder, vectors: Vectors | None = None) -> None:
        """Makes a bank of these texts, each with its vector: the embedder's own, or what `vectors` gives for it."""
        made = self._banks.create(DEFAULT_TENANT, bank)
        batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        for batch in batches:
            made.save([NewMemory(text=text) for text in batch])
        folder = made.place.folder / DERIVED
        with closing(BankIndex.open(made, folder, self._analyzer, IndexSettings(), lambda: embedder)) as index:
            while index.rebuilding is not None:
                time.sleep(_POLL_S)
            for batch in batches:
                rows = zip(batch, (vectors or embedder.encode)(batch), strict=True)
                index.store(embedder.model_id, [(text_key(text), row[np.newaxis]) for text, row in rows])
            index.flush()
            made.kept_state.keep(made)

    def close(self) -> None:
        self._banks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def blended(embedder: Embedder, sample: Sequence[str], noise: float = 0.3, seed: int = 5) -> Vectors:
    """Vectors that lie as the embedder's do, without asking it for each: blends of two texts of the sample, and noise
    of this length. What a search costs is that of real ones; what it finds is not.
    """
    known = np.concatenate([embedder.encode([text]) for text in sample])
    rng = np.random.default_rng(seed)

    def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        first, second = known[rng.integers(len(known), size=(2, len(texts)))]
        share = rng.uniform(size=(len(texts), 1)).astype(np.float32)
        lost = rng.standard_normal(first.shape, np.float32) * np.float32(noise / np.sqrt(known.shape[1]))
        rows = share * first + (1 - share) * second + lost
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    return vectors
