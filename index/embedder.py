"""Text → vector: what every embedder promises, and the slot in which the service holds the one it was given.

Invariants: vectors are float32, L2-normalised, finite and never zero; `model_id` names everything a vector depends
on (weights, quantisation, windows), so vectors of two ids are never compared. The slot loads in the background and
never blocks a caller: whoever finds no embedder goes on without vectors and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors; safe to call from several threads."""

    @property
    def model_id(self) -> str:
        """Names model, weights hash, quantisation and windows; the key of everything derived from the vectors."""

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    @property
    def window_tokens(self) -> int:
        """Tokens that one vector can read, special tokens included; 0 when the embedder does not know."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, dimensions), L2-normalised; what lies past the window of a text is not read.

        Raises EmbedderUnavailable when asking again later may help, EmbeddingError when it will not.
        """

    def windows(self, text: str) -> list[str]:
        """`[text]` when it fits the window, else overlapping pieces that together cover it (index/windows.py)."""


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Which model embeds, and how."""

    model: str = "default"
    """`default` (bundled all-MiniLM-L6-v2), a folder, a hub name, `openai:BASE_URL#MODEL`, `hashing:DIM` or `none`."""
    api_key: str = field(default="", repr=False)
    """Bearer key of an `openai:` endpoint; empty sends none."""
    threads: int = 1
    """Threads inside one encode; more than one makes server threads fight over the cores."""
    window_overlap: int = 32
    """Tokens that neighbouring windows of a long text share."""
    max_windows: int = 64
    """Windows of one text; what lies behind the last is not embedded."""
    max_encode_characters: int = 16_384
    """Characters of one text that are tokenised by an encode; a window never reads that far."""
    probe_cosine: float = 0.985
    """Least cosine between the exported and the original model on every probe sentence."""
    export_timeout_s: float = 600.0
    """Longest one-time export to ONNX; past it the original model serves."""
    request_timeout_s: float = 10.0
    """Longest wait for one reply of an `openai:` endpoint."""
    request_batch: int = 64
    """Texts sent to an `openai:` endpoint in one request."""
    retry_first_s: float = 1.0
    """Wait after the first failed load of an endpoint; doubles up to `retry_longest_s`."""
    retry_longest_s: float = 60.0
    """Longest wait between two tries to load."""


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """What status, doctor and degraded reasons tell about the embedder."""

    state: Literal["off", "loading", "ready", "down"]
    backend: str = ""
    """`onnx-int8`, `sentence-transformers`, `openai`, `hashing`; empty while nothing is loaded."""
    dimensions: int = 0
    detail: str = ""
    """Why it is down, or why a slower backend serves; empty when all is well."""
    model_id: str = ""
