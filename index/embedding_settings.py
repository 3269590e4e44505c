"""Which model embeds, and how. Apart from the embedder, so that reading settings imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, field


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
