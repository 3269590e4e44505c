"""How alike the two texts of each pair are: cosine by the model of the service, Jaccard over character trigrams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.compaction.pairs import LabelledPair
from consolidate.judgement import Likeness
from consolidate.shingles import Shingles
from index.embedder import Embedder, EmbeddingSettings
from index.loader import Loader


def load_model(model: str, cache: Path) -> Embedder:
    """The embedder of this name; its export is kept in `cache`. Raises ModelUnusable, EmbedderUnavailable."""
    return Loader(EmbeddingSettings(model=model), cache).load().embedder


def likeness(
    pairs: Sequence[LabelledPair], embedder: Embedder, batch: int, advance: Callable[[int], None]
) -> list[Likeness]:
    """One likeness a pair. An empty text has no vector, hence cosine NaN."""
    texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
    place = {text: at for at, text in enumerate(texts)}
    vectors = np.full((len(texts), embedder.dimensions), np.nan, np.float32)
    spoken = [at for at, text in enumerate(texts) if text.strip()]
    for at in range(0, len(spoken), batch):
        rows = spoken[at : at + batch]
        vectors[rows] = embedder.encode([texts[row] for row in rows])
        advance(len(rows))
    left = np.array([place[pair.a] for pair in pairs], np.int64)
    right = np.array([place[pair.b] for pair in pairs], np.int64)
    cosine = np.clip(np.einsum("ij,ij->i", vectors[left], vectors[right]), -1.0, 1.0)
    jaccard = Shingles.of(texts).jaccard(left, right)
    return [Likeness(c, j) for c, j in zip(cosine.tolist(), jaccard.tolist(), strict=True)]
