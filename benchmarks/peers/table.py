"""An embedder of Recall that looks prepared vectors up, so that no model is part of the figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.prepared import read
from index.embedder import EmbedderState
from index.errors import EmbeddingError
from index.loader import Loaded
from index.sidecar import text_key

MODEL = "table"


class TableEmbedder:
    """Text → the vector that the corpus has for it. Sixteen bytes a text: keys sorted, and where their rows are."""

    model_id = MODEL
    window_tokens = 0

    def __init__(self, texts: Sequence[str], vectors: NDArray[np.float32], questions: NDArray[np.float32]) -> None:
        """`texts` first those of `vectors` (n, dimensions), then those of `questions` (m, dimensions)."""
        keys = np.array([_short_key(text) for text in texts], np.uint64)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._vectors = vectors
        self._questions = questions
        self.dimensions = int(vectors.shape[1])

    @classmethod
    def read(cls, folder: Path) -> TableEmbedder:
        """Over a prepared corpus."""
        made = read(folder)
        return cls([*made.texts.memories, *made.texts.saved, *made.texts.questions], made.vectors, made.questions)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, dimensions). Raises EmbeddingError for a text that is not in the corpus."""
        return np.stack([self._row(text) for text in texts])

    def windows(self, text: str) -> list[str]:
        """Every text is one window."""
        return [text]

    def _row(self, text: str) -> NDArray[np.float32]:
        key = np.uint64(_short_key(text))
        at = int(np.searchsorted(self._keys, key))
        if at == len(self._keys) or self._keys[at] != key:
            raise EmbeddingError(MODEL, "the corpus does not hold this text")
        row = int(self._order[at])
        rows = len(self._vectors)
        return np.asarray(self._vectors[row] if row < rows else self._questions[row - rows])


class TableSource:
    """Always ready; an `EmbedderSource`."""

    def __init__(self, embedder: TableEmbedder) -> None:
        self._embedder = embedder

    def current(self) -> TableEmbedder:
        return self._embedder

    def state(self) -> EmbedderState:
        return EmbedderState("ready", MODEL, self._embedder.dimensions, model_id=MODEL)

    def report_failure(self, error: Exception) -> None:
        raise error

    def report_success(self) -> None:
        """Nothing to note."""


class TableLoader:
    """Gives the server's slot the table."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self) -> Loaded:
        return Loaded(TableEmbedder.read(self._folder), MODEL)

    def close(self) -> None:
        """Nothing runs."""


def _short_key(text: str) -> int:
    return int.from_bytes(text_key(text)[:8], "little")
