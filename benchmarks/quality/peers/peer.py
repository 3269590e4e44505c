"""What every peer promises."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from benchmarks.quality.dataset import Document

Search = Callable[[str, int], Sequence[int]]
"""(question, k) → places of documents, best first."""


class UnknownPeerError(ValueError):
    """No peer has this name, or its package is not installed (the message says what to install)."""


class Peer(Protocol):
    """A retriever over the documents of one haystack at a time."""

    @property
    def name(self) -> str:
        """As in tables and on the command line."""

    def index(self, documents: Sequence[Document]) -> Search:
        """Takes in a haystack; whatever the haystack before it left behind may go."""


def spoken(document: Document) -> str:
    """The text with who said it in front."""
    return f"{document.author}: {document.text}" if document.author else document.text


def package(peer: str, name: str) -> Any:
    """The module of this name. Raises UnknownPeerError, which says what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise UnknownPeerError(f"the peer {peer} needs its package: pip install {name}") from problem
