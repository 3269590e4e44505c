"""Vectors that are taken in as they lie in a file answer as those that were applied one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from index.sidecar import Mapped, Sidecar, text_key
from index.vectors import Vectors, VectorSettings

DIMENSIONS = 16
Floats = NDArray[np.float32]
EXACT = VectorSettings(compressed_from=10**9)


def unit(rng: np.random.Generator, count: int) -> Floats:
    rows = rng.standard_normal((count, DIMENSIONS)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def written(path: Path, count: int, nobodys: int, several: int = 9) -> tuple[Sidecar, dict[int, Floats]]:
    """A file of `count` memories, one of `several` of three windows, and texts that no memory has between them."""
    rng = np.random.default_rng(3)
    texts = {ordinal: unit(rng, 1 + 2 * (ordinal % several == 0)) for ordinal in rng.permutation(count).tolist()}
    sidecar = Sidecar.open(path, "model", DIMENSIONS)
    items = [(text_key(str(ordinal)), rows) for ordinal, rows in texts.items()]
    others = [(text_key(f"gone {number}"), unit(rng, 1)) for number in range(nobodys)]
    mixed = [*items, *others]
    sidecar.put([mixed[place] for place in rng.permutation(len(mixed)).tolist()])
    sidecar.close()
    return Sidecar.open(path, "model", DIMENSIONS), texts


def assert_alike(one: Vectors, other: Vectors, size: int) -> None:
    rng = np.random.default_rng(5)
    ordinals = np.arange(size)
    assert len(one) == len(other)
    np.testing.assert_allclose(one.of(ordinals.tolist()), other.of(ordinals.tolist()), atol=1e-6)
    for query in unit(rng, 3):
        first, second = one.search(query, 10), other.search(query, 10)
        assert first.ordinals.tolist() == second.ordinals.tolist()
        np.testing.assert_allclose(one.dense(query, size), other.dense(query, size), atol=1e-6)
        np.testing.assert_allclose(one.scores(query, ordinals), other.scores(query, ordinals), atol=1e-6)


@pytest.mark.parametrize(("count", "nobodys"), [(0, 0), (1, 0), (300, 40), (6_000, 0), (6_000, 500), (6_000, 9_000)])
def test_adopted_vectors_answer_as_applied_ones_and_change_as_they_do(tmp_path: Path, count: int, nobodys: int) -> None:
    sidecar, texts = written(tmp_path / "v", count, nobodys)
    ordinals = np.arange(count)
    adopted, applied = Vectors(DIMENSIONS, EXACT), Vectors(DIMENSIONS, EXACT)
    adopted.adopt(sidecar.mapped([text_key(str(ordinal)) for ordinal in ordinals]), ordinals)
    applied.apply(list(texts.items()))
    assert_alike(adopted, applied, count + 2)
    news = [(count, unit(np.random.default_rng(8), 2)), (count // 2, unit(np.random.default_rng(9), 1))]
    for vectors in (adopted, applied):
        vectors.apply(news, [0, 1, 9])
    assert_alike(adopted, applied, count + 2)


def test_many_rows_are_not_copied_and_a_compressed_scan_is_built_over_them(tmp_path: Path) -> None:
    sidecar, _ = written(tmp_path / "v", 6_000, 100, several=1_000)
    ordinals = np.arange(6_000)
    mapped = sidecar.mapped([text_key(str(ordinal)) for ordinal in ordinals])
    vectors = Vectors(DIMENSIONS, VectorSettings(), lambda work: work())
    vectors.adopt(mapped, ordinals)
    assert np.shares_memory(vectors._snapshot.rows.blocks[0], mapped.rows)
    query = unit(np.random.default_rng(5), 1)[0]
    near = vectors.near(query, 50, 50)
    assert near is not None
    cosines = vectors.dense(query, 6_000)
    np.testing.assert_allclose(near.cosines, cosines[near.ordinals], atol=1e-6)
    np.testing.assert_array_less(cosines[near.others], near.bounds)
    cosines[[*near.ordinals, *near.others]] = -1.0
    assert cosines.max() <= near.rest


def test_a_mapping_of_nothing_is_an_empty_bank() -> None:
    nothing = np.empty(0, np.int64)
    vectors = Vectors(DIMENSIONS)
    vectors.adopt(Mapped(np.empty((0, DIMENSIONS), np.float32), nothing, nothing), nothing)
    assert len(vectors) == 0
    assert vectors.search(unit(np.random.default_rng(1), 1)[0], 5).ordinals.size == 0
