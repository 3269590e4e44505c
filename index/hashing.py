"""A deterministic embedder without a model: hashed words and their trigrams. For tests and dry runs.

Texts that share words are close, texts that share none are nearly orthogonal; it knows no meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from index.windows import split_windows

_WORD = re.compile(r"\w+")
_TRIGRAM_WEIGHT = 0.25  # a shared stem pulls, but far less than a shared word


class HashingEmbedder:
    """Signed feature hashing into `dimensions` buckets; a token is a word."""

    def __init__(self, dimensions: int, window_tokens: int = 256, overlap: int = 32, max_windows: int = 64) -> None:
        if dimensions < 1:
            raise ValueError(f"dimensions must be at least 1, got {dimensions}")
        self._dimensions = dimensions
        self._window = window_tokens
        self._overlap = overlap
        self._max_windows = max_windows

    @property
    def model_id(self) -> str:
        return f"hashing:{self._dimensions}:w{self._window}o{self._overlap}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def window_tokens(self) -> int:
        return self._window

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            self._encode_into(row, text)
        return rows

    def windows(self, text: str) -> list[str]:
        spans = [match.span() for match in _WORD.finditer(text)]
        return split_windows(text, spans, range(len(spans)), self._window, self._overlap, self._max_windows)

    def _encode_into(self, row: NDArray[np.float32], text: str) -> None:
        words = _WORD.findall(text.casefold())[: self._window]
        for word in words:
            for feature, weight in _features(word):
                row[feature % self._dimensions] += weight if feature & 1 << 63 else -weight
        norm = float(np.linalg.norm(row))
        if norm > 0.0:
            row /= norm
        else:  # no word, or features that cancel: any fixed direction is better than a zero vector
            row[:] = 0.0
            row[_hash(text) % self._dimensions] = 1.0


@lru_cache(maxsize=65_536)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    padded = f"^{word}$"
    trigrams = (padded[start : start + 3] for start in range(len(padded) - 2))
    return ((_hash(word), 1.0), *((_hash(f"3:{trigram}"), _TRIGRAM_WEIGHT) for trigram in trigrams))


def _hash(feature: str) -> int:
    return int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
