"""A table of word vectors, as model2vec distils it from a sentence encoder: no network, microseconds a text.

config.json           "model_type": "model2vec"
model.safetensors     embeddings (rows, dim) float; perhaps mapping (tokens,) → row, weights (tokens,)
tokenizer.json        text → token ids

A text is the mean of its tokens' (weighted) rows. The file is read here, since nothing else would need its package:
u64 length of the header · header, JSON: name → {dtype, shape, data_offsets} · the arrays.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.errors import EmbeddingError, ModelUnusable
from index.windows import encodable, split_windows

if TYPE_CHECKING:
    from index.embedding_settings import EmbeddingSettings

_BACKEND = "static"
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I8": "<i1", "I32": "<i4", "I64": "<i8"}
_LENGTH = struct.Struct("<Q")
_WINDOW_TOKENS = 512
_ID_HASH_DIGITS = 16


class _Config(msgspec.Struct, frozen=True):
    model_type: str = ""


class _Array(msgspec.Struct, frozen=True):
    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


def is_static_folder(path: Path) -> bool:
    """`config.json` says so."""
    try:
        return msgspec.json.decode((path / "config.json").read_bytes(), type=_Config).model_type == "model2vec"
    except (OSError, msgspec.MsgspecError):
        return False


class StaticEncoder:
    """An Embedder over one table; it keeps no state, so any thread may call."""

    def __init__(
        self, table: NDArray[np.float32], tokenizer: bytes, identity: str, settings: EmbeddingSettings
    ) -> None:
        """`table` has shape (tokens, dim). Raises ModelUnusable when the tokenizer does not load."""
        from tokenizers import Tokenizer  # noqa: PLC0415 - only a process that embeds pays for it

        self._table = table
        self._identity = identity
        self._settings = settings
        try:
            self._tokenizer: Any = Tokenizer.from_buffer(tokenizer)
        except Exception as error:  # tokenizers raises bare Exceptions
            raise ModelUnusable(_BACKEND, f"the tokenizer does not load: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @classmethod
    def read(cls, path: Path, settings: EmbeddingSettings) -> StaticEncoder:
        """Raises ModelUnusable when a file is missing or not what it should be."""
        try:
            content, tokenizer = (path / "model.safetensors").read_bytes(), (path / "tokenizer.json").read_bytes()
            table = _table(_arrays(content))
        except (OSError, KeyError, ValueError, struct.error, msgspec.MsgspecError) as error:
            raise ModelUnusable(_BACKEND, f"{path} holds no table of word vectors: {error!r}") from error
        digest = hashlib.sha256(content + tokenizer).hexdigest()[:_ID_HASH_DIGITS]
        return cls(table, tokenizer, f"{path.name}:{digest}", settings)

    @property
    def model_id(self) -> str:
        return f"{self._identity}/static/w{_WINDOW_TOKENS}o{self._settings.window_overlap}"

    @property
    def dimensions(self) -> int:
        return int(self._table.shape[1])

    @property
    def window_tokens(self) -> int:
        return _WINDOW_TOKENS

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[:] = self._encode_one(text)
        return vectors

    def windows(self, text: str) -> list[str]:
        prepared = encodable(text)
        found = self._tokenizer.encode(prepared, add_special_tokens=False)
        overlap, limit = self._settings.window_overlap, self._settings.max_windows
        pieces = split_windows(prepared, found.offsets, found.word_ids, _WINDOW_TOKENS, overlap, limit)
        return pieces if len(pieces) > 1 else [text]

    def _encode_one(self, text: str) -> NDArray[np.float32]:
        read = encodable(text[: self._settings.max_encode_characters])
        tokens = self._tokenizer.encode(read, add_special_tokens=False).ids[:_WINDOW_TOKENS]
        total = self._table[tokens].sum(axis=0) if tokens else self._unreadable()
        norm = float(np.linalg.norm(total))
        if not 0.0 < norm < np.inf:
            total = self._unreadable()
            norm = float(np.linalg.norm(total))
        unit: NDArray[np.float32] = total / np.float32(norm)
        return unit

    def _unreadable(self) -> NDArray[np.float32]:
        """A text without a known token is like none in particular: the mean of the table."""
        mean: NDArray[np.float32] = self._table.mean(axis=0)
        if not mean.any():
            raise EmbeddingError(_BACKEND, "the text has no token that the table knows")
        return mean


def _arrays(content: bytes) -> dict[str, NDArray[Any]]:
    (length,) = _LENGTH.unpack_from(content)
    start = _LENGTH.size + length
    header = msgspec.json.decode(content[_LENGTH.size : start], type=dict[str, msgspec.Raw])
    described = {name: msgspec.json.decode(raw, type=_Array) for name, raw in header.items() if name != "__metadata__"}
    return {name: _array(content, start, described[name]) for name in described}


def _array(content: bytes, start: int, described: _Array) -> NDArray[Any]:
    begin, end = described.data_offsets
    values = np.frombuffer(content[start + begin : start + end], _TYPES[described.dtype])
    return values.reshape(described.shape)


def _table(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    rows = np.asarray(arrays["embeddings"], np.float32)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"embeddings of shape {rows.shape}, or not finite")
    if "mapping" in arrays:
        rows = rows[arrays["mapping"]]
    if "weights" in arrays:
        rows = rows * np.asarray(arrays["weights"], np.float32)[:, np.newaxis]
    return np.ascontiguousarray(rows, np.float32)
