"""Serves an exported encoder with onnxruntime and tokenizers alone: no torch, no transformers.

Dynamic int8 takes its scales from the whole batch, so a vector would depend on its neighbours: one text per run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from index.errors import EmbeddingError, ModelUnusable
from index.windows import encodable, split_windows

if TYPE_CHECKING:
    from index.embedding_settings import EmbeddingSettings
    from index.onnx_cache import CachedEncoder

BACKEND = "onnx-int8"
_ERRORS_ONLY = 3


class OnnxEncoder:
    """An Embedder over one onnxruntime session; runs are independent, so any thread may call."""

    def __init__(self, cached: CachedEncoder, model_id: str, settings: EmbeddingSettings) -> None:
        """Raises ModelUnusable when the runtime refuses the (verified) files."""
        self._manifest = cached.manifest
        self._model_id = model_id
        self._settings = settings
        try:
            self._session = _session(cached.encoder, settings.threads)
            self._truncating, self._counting = _tokenizers(cached.tokenizer, cached.manifest.window_tokens)
        except Exception as error:  # onnxruntime and tokenizers raise bare Exceptions
            raise ModelUnusable(BACKEND, f"the exported encoder does not load: {error}") from error
        self._special_tokens = int(self._counting.num_special_tokens_to_add(is_pair=False))

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimensions(self) -> int:
        return self._manifest.dimensions

    @property
    def window_tokens(self) -> int:
        return self._manifest.window_tokens

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[:] = self._encode_one(text)
        return vectors

    def windows(self, text: str) -> list[str]:
        prepared = self._prepared(text)
        encoding = self._counting.encode(prepared, add_special_tokens=False)
        size = self.window_tokens - self._special_tokens
        overlap, limit = self._settings.window_overlap, self._settings.max_windows
        pieces = split_windows(prepared, encoding.offsets, encoding.word_ids, size, overlap, limit)
        return pieces if len(pieces) > 1 else [text]

    def _encode_one(self, text: str) -> NDArray[np.float32]:
        encoding = self._truncating.encode(self._prepared(text[: self._settings.max_encode_characters]))
        columns = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.array([columns[name]], dtype=np.int64) for name in self._manifest.inputs}
        vector = self._pooled(self._session.run(None, feed)[0][0])
        norm = float(np.linalg.norm(vector))
        if not 0.0 < norm < math.inf:  # NaN fails both
            raise EmbeddingError(BACKEND, "the model returned a vector that is zero or not finite")
        unit: NDArray[np.float32] = vector / np.float32(norm)
        return unit

    def _pooled(self, output: NDArray[np.float32]) -> NDArray[np.float32]:
        """Token states (tokens, dim) → (dim,); a sentence vector stays what it is."""
        if self._manifest.pooling == "none":
            return output
        pooled: NDArray[np.float32] = output[0] if self._manifest.pooling == "cls" else output.mean(axis=0)
        return pooled

    def _prepared(self, text: str) -> str:
        clean = encodable(text)
        return clean.lower() if self._manifest.lower_case else clean


def _session(encoder: bytes, threads: int) -> Any:
    import onnxruntime  # noqa: PLC0415 - only a process that embeds pays for it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    options.enable_cpu_mem_arena = False  # lengths differ from text to text: an arena only grows
    return onnxruntime.InferenceSession(encoder, options, providers=["CPUExecutionProvider"])


def _tokenizers(content: bytes, window: int) -> tuple[Any, Any]:
    """Two tokenizers, since their settings are not to be switched under a running thread: cut to window, uncut.

    The file's own padding and truncation (128 tokens in the bundled model) are not the model's: both are reset.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415 - only a process that embeds pays for it

    truncating, counting = Tokenizer.from_buffer(content), Tokenizer.from_buffer(content)
    truncating.no_padding()
    truncating.enable_truncation(max_length=window)
    counting.no_padding()
    counting.no_truncation()
    return truncating, counting
