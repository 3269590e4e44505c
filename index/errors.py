"""What can go wrong while texts become vectors.

    EmbeddingError                 this text, reply or model cannot be used; asking again changes nothing
    ├── EmbedderUnavailable        the embedder is down or not loaded yet; ask again later
    └── ModelUnusable              a model (folder, name, export) that cannot be served, with the reason

Damage on disk raises none of these: a derived structure that is damaged is dropped, counted and built anew.
"""

from __future__ import annotations


class EmbeddingError(Exception):
    """The embedder answered with something that is no vector of this text."""

    def __init__(self, backend: str, problem: str) -> None:
        super().__init__(f"{backend}: {problem}")
        self.backend = backend
        self.problem = problem


class EmbedderUnavailable(EmbeddingError):  # noqa: N818 - named for the state, as the caller reads it
    """The embedder gave no answer: not loaded, not reachable, too slow or refusing for now."""


class ModelUnusable(EmbeddingError):  # noqa: N818
    """The model named in the settings cannot be loaded; `problem` says what to change."""
