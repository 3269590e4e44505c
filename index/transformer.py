"""Serves the original model through sentence-transformers, in this process: the slow, sure way."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from index.errors import EmbeddingError, ModelUnusable
from index.model_folder import DEFAULT_WINDOW_TOKENS
from index.windows import encodable, split_windows

if TYPE_CHECKING:
    from index.embedding_settings import EmbeddingSettings

BACKEND = "sentence-transformers"
_BATCH = 16


class TransformerEncoder:
    """An Embedder over SentenceTransformer; calls take turns, since torch runs on one thread anyway."""

    def __init__(self, name: str, identity: str, settings: EmbeddingSettings) -> None:
        """`name` is a folder or a hub name; raises ModelUnusable when it does not load."""
        self._settings = settings
        self._turn = threading.Lock()
        self._model = _load(name, settings.threads)
        self._window = int(self._model.max_seq_length or DEFAULT_WINDOW_TOKENS)
        self._dimensions = len(self._model.encode(["size"], show_progress_bar=False)[0])
        self._model_id = f"{identity}/f32/w{self._window}o{settings.window_overlap}"

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def window_tokens(self) -> int:
        return self._window

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        cut = [encodable(text[: self._settings.max_encode_characters]) for text in texts]
        if not cut:
            return np.empty((0, self._dimensions), dtype=np.float32)
        with self._turn:
            vectors = self._model.encode(cut, batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)
        rows = np.asarray(vectors, dtype=np.float32)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(norms).all() and (norms > 0.0).all()):
            raise EmbeddingError(BACKEND, "the model returned a vector that is zero or not finite")
        unit: NDArray[np.float32] = rows / norms
        return unit

    def windows(self, text: str) -> list[str]:
        clean = encodable(text)
        with self._turn:
            spans, words = _tokens(self._model.tokenizer, clean)
        size = self._window - int(self._model.tokenizer.num_special_tokens_to_add(pair=False))
        overlap, limit = self._settings.window_overlap, self._settings.max_windows
        pieces = split_windows(clean, spans, words, size, overlap, limit)
        return pieces if len(pieces) > 1 else [text]


def _load(name: str, threads: int) -> Any:
    try:
        import torch  # noqa: PLC0415 - seconds of import: only when this backend serves
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415

        torch.set_num_threads(threads)
        return SentenceTransformer(name, device="cpu", local_files_only=os.environ.get("HF_HUB_OFFLINE") == "1")
    except Exception as error:  # the libraries below raise whatever they like
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelUnusable(BACKEND, f"{name} does not load: {reason[0]}") from error


def _tokens(tokenizer: Any, text: str) -> tuple[list[tuple[int, int]], list[int | None]]:
    """Character spans and word numbers; none where the tokenizer has no fast form (the text is then not split)."""
    if not getattr(tokenizer, "is_fast", False):
        return [], []
    encoding = tokenizer(text, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False)
    return encoding["offset_mapping"], encoding.word_ids(0)
