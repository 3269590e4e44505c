"""Other people's retrievers, asked the same questions in the same run, when they are installed.

A peer sees documents and questions, no service. ``bm25s`` is BM25 (Lucene's variant, k1 1.2, b 0.75) over the terms of
our own analysis: what our lexical leg should equal when nothing but words is scored. It makes the figure that
degraded mode is held against.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from benchmarks.quality.dataset import Document
from index.analyzer import Analyzer

Search = Callable[[str, int], Sequence[int]]


class UnknownPeerError(ValueError):
    """No peer has this name, or its package is not installed (the message says what to install)."""


class Peer(Protocol):
    """``index`` gives a search over the documents: (question, k) → places of documents, best first."""

    @property
    def name(self) -> str: ...
    def index(self, documents: Sequence[Document]) -> Search: ...


class Bm25s:
    """The bm25s package."""

    name = "bm25s"

    def __init__(self) -> None:
        try:
            self._bm25s = importlib.import_module("bm25s")
        except ImportError as problem:
            raise UnknownPeerError("the peer bm25s needs its package: pip install bm25s") from problem

    def index(self, documents: Sequence[Document]) -> Search:
        analyzer = Analyzer()
        retriever = self._bm25s.BM25(k1=1.2, b=0.75, method="lucene")
        retriever.index([analyzer.tokens(document.text) for document in documents], show_progress=False)

        def search(question: str, k: int) -> Sequence[int]:
            scores = retriever.get_scores(analyzer.tokens(question))
            best = np.argsort(-scores, kind="stable")[:k]
            return [int(place) for place in best if scores[place] > 0]

        return search


PEERS: dict[str, Callable[[], Peer]] = {"bm25s": Bm25s}


def chosen(names: str) -> tuple[Peer, ...]:
    """The peers of a comma-separated list; none for an empty one. Raises UnknownPeerError."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in PEERS:
            raise UnknownPeerError(f"no peer is called {name!r}; there are {', '.join(PEERS)}")
    return tuple(PEERS[name]() for name in wanted)
