"""The recall of a compressed scan is that of the same search, exact against compressed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.approximation import approximation


def _unit(rows: int, seed: int) -> NDArray[np.float32]:
    drawn: NDArray[np.float32] = np.random.default_rng(seed).standard_normal((rows, 32)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def test_all_candidates_reranked_miss_nothing_and_few_miss_some() -> None:
    documents, queries = _unit(600, 1), _unit(12, 2)
    assert approximation(documents, queries, 10, rerank=600).recall == pytest.approx(1.0)
    few = approximation(documents, queries, 10, rerank=10)
    assert 0.3 < few.least_recall <= few.recall < 1.0
