"""The bm25s package: words alone, analysed as the service under measurement analyses them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.quality.dataset import Document
from benchmarks.quality.peers.peer import Search, package
from index.analyzer import Analyzer

_K1, _B = 1.2, 0.75


class Bm25s:
    """Lucene's BM25. Documents that hold no word of the question are no results."""

    name = "bm25s"

    def __init__(self, analyzer: Analyzer) -> None:
        self._bm25s = package(self.name, "bm25s")
        self._analyzer = analyzer

    def index(self, documents: Sequence[Document]) -> Search:
        retriever = self._bm25s.BM25(k1=_K1, b=_B, method="lucene")
        retriever.index([self._analyzer.tokens(document.text) for document in documents], show_progress=False)

        def search(question: str, k: int) -> Sequence[int]:
            scores = retriever.get_scores(self._analyzer.tokens(question))
            best = np.argsort(-scores, kind="stable")[:k]
            return [int(place) for place in best if scores[place] > 0]

        return search
