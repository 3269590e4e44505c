"""The vectors that peers are given: of the encoder that the service under measurement uses."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.service import ServiceError
from index.embedder import Embedder, EmbedderSlot, EmbeddingSettings


class Vectors:
    """Text → vector, each text encoded once in a run. The encoder is loaded when the first is asked for."""

    def __init__(self, settings: EmbeddingSettings, load_timeout_s: float = 900.0) -> None:
        self._settings = settings
        self._load_timeout_s = load_timeout_s
        self._encoder: Embedder | None = None
        self._known: dict[str, NDArray[np.float32]] = {}

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimensions), of length 1. A text beyond the model's window: the mean of its windows."""
        for text in texts:
            if text not in self._known:
                self._known[text] = self._encode(text)
        return np.stack([self._known[text] for text in texts])

    def _encode(self, text: str) -> NDArray[np.float32]:
        encoder = self._encoder = self._encoder or self._load()
        mean = encoder.encode(encoder.windows(text)).mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    def _load(self) -> Embedder:
        with tempfile.TemporaryDirectory(prefix="recall-bench-encoder-") as folder:
            slot = EmbedderSlot(self._settings, Path(folder))
            slot.start()
            slot.wait(self._load_timeout_s)
            encoder, state = slot.current(), slot.state()
            slot.close()
        if encoder is None:
            raise ServiceError(f"peers need an encoder, which is {state.state}: {state.detail}")
        return encoder
