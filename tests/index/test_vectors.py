import threading
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from index.vectors import Vectors, VectorSettings

DIMENSIONS = 16
Floats = NDArray[np.float32]


def unit(rows: NDArray[np.float64]) -> Floats:
    result: Floats = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return result


def random_units(seed: int, count: int, dimensions: int = DIMENSIONS) -> Floats:
    return unit(np.random.default_rng(seed).normal(size=(count, dimensions)))


def at_once(work: Callable[[], None]) -> None:
    work()


class Oracle:
    """A dict and a loop."""

    def __init__(self) -> None:
        self.vectors: dict[int, Floats] = {}

    def apply(self, added: list[tuple[int, Floats]], removed: list[int]) -> None:
        for ordinal in removed:
            self.vectors.pop(ordinal, None)
        self.vectors.update(added)

    def ranked(self, query: Floats, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        scored = [
            (ordinal, float((rows @ query).max()))
            for ordinal, rows in self.vectors.items()
            if allowed is None or (ordinal < len(allowed) and allowed[ordinal])
        ]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def check(vectors: Vectors, oracle: Oracle, query: Floats, k: int, allowed: NDArray[np.bool_] | None = None) -> None:
    hits = vectors.search(query, k, allowed)
    expected = oracle.ranked(query, allowed)
    assert hits.exact
    assert hits.ordinals.tolist() == [ordinal for ordinal, _ in expected[:k]]
    np.testing.assert_allclose(hits.scores, [score for _, score in expected[:k]], atol=2e-6)
    assert hits.bound == pytest.approx(expected[k][1] if len(expected) > k else -np.inf, abs=2e-6)


def test_random_histories_agree_with_brute_force() -> None:
    rng = np.random.default_rng(7)
    vectors, oracle = Vectors(DIMENSIONS, VectorSettings(least_dead=8)), Oracle()
    for step in range(60):
        added = [
            (int(rng.integers(0, 400)), random_units(1_000 * step + at, int(rng.integers(1, 4)))) for at in range(12)
        ]
        removed = rng.integers(0, 400, size=4).tolist()
        vectors.apply(added, removed)
        oracle.apply(added, removed)
        allowed = rng.random(int(rng.integers(1, 500))) < rng.random()
        query = random_units(step, 1)[0]
        for k in (1, 5, 50, 1_000):
            check(vectors, oracle, query, k)
            check(vectors, oracle, query, k, allowed)
        assert len(vectors) == len(oracle.vectors)


def test_dense_scores_and_search_tell_the_same() -> None:
    vectors = Vectors(DIMENSIONS)
    vectors.apply([(2 * ordinal, random_units(ordinal, 2)) for ordinal in range(50)], [])
    query = random_units(99, 1)[0]
    hits = vectors.search(query, 50)
    dense = vectors.dense(query, 120)
    assert dense[hits.ordinals].tolist() == hits.scores.tolist()
    assert np.isnan(dense[1::2]).all()
    assert np.isnan(dense[100:]).all()
    assert len(vectors.dense(query, 3)) == 3
    np.testing.assert_array_equal(vectors.scores(query, np.arange(110)), dense[:110])


def test_the_filter_comes_before_the_cut() -> None:
    query = random_units(1, 1)[0]
    vectors = Vectors(DIMENSIONS)
    near = [(ordinal, query) for ordinal in range(100)]
    vectors.apply([*near, (100, unit(-query.astype(np.float64)))], [])
    allowed = np.zeros(101, dtype=np.bool_)
    allowed[100] = True
    assert vectors.search(query, 1, allowed).ordinals.tolist() == [100]


def test_equal_scores_are_ordered_by_ordinal_and_the_top_is_a_prefix() -> None:
    vectors = Vectors(DIMENSIONS)
    same = random_units(5, 1)
    order = np.random.default_rng(2).permutation(300).tolist()
    vectors.apply([(ordinal, same) for ordinal in order], [])
    query = random_units(6, 1)[0]
    assert vectors.search(query, 40).ordinals.tolist() == list(range(40))
    assert vectors.search(query, 41).ordinals.tolist() == list(range(41))


def test_interleaved_ties_are_ordered_by_score_then_ordinal() -> None:
    kinds = random_units(8, 5)
    query = random_units(9, 1)[0]
    vectors = Vectors(DIMENSIONS)
    vectors.apply([(ordinal, kinds[ordinal * 7 % 5]) for ordinal in range(2_000)], [])
    better = np.argsort(-(kinds @ query)).tolist()
    expected = [ordinal for kind in better for ordinal in range(2_000) if ordinal * 7 % 5 == kind]
    assert vectors.search(query, 1_500).ordinals.tolist() == expected[:1_500]


def test_a_memory_scores_as_its_best_window() -> None:
    query = random_units(1, 1)[0]
    away = unit(-query.astype(np.float64))
    vectors = Vectors(DIMENSIONS)
    vectors.apply([(0, np.stack([away, away, query])), (1, away)], [])
    hits = vectors.search(query, 5)
    assert hits.ordinals.tolist() == [0, 1]
    assert hits.scores[0] == pytest.approx(1.0, abs=1e-5)
    assert vectors.scores(query, np.array([1, 0]))[1] == pytest.approx(1.0, abs=1e-5)


def test_a_removed_memory_leaves_every_answer_at_once() -> None:
    vectors = Vectors(DIMENSIONS)
    vectors.apply([(0, random_units(0, 2)), (1, random_units(1, 1))], [])
    vectors.apply([], [0, 77])
    query = random_units(0, 1)[0]
    assert vectors.search(query, 9).ordinals.tolist() == [1]
    assert np.isnan(vectors.scores(query, np.array([0]))).all()
    assert np.isnan(vectors.dense(query, 1)).all()
    assert (vectors.covered(0), vectors.covered(1), len(vectors)) == (False, True, 1)


def test_replacing_a_vector_drops_the_old_one() -> None:
    old, new = random_units(0, 1)[0], random_units(1, 1)[0]
    vectors = Vectors(DIMENSIONS)
    vectors.apply([(3, old)], [])
    vectors.apply([(3, new)], [])
    assert vectors.search(old, 9).scores.tolist() == [pytest.approx(float(old @ new), abs=2e-6)]


def test_an_empty_bank_answers_nothing() -> None:
    vectors = Vectors(DIMENSIONS)
    query = random_units(0, 1)[0]
    assert len(vectors.search(query, 5)) == 0
    assert np.isnan(vectors.scores(query, np.array([0]))).all()
    assert vectors.statistics(query) == (0.0, 1.0)
    vectors.apply([(0, query)], [])
    vectors.apply([], [0])
    assert len(vectors.search(query, 5)) == 0


@pytest.mark.parametrize(
    "bad",
    [np.zeros(DIMENSIONS), np.full(DIMENSIONS, np.nan), np.full(DIMENSIONS, np.inf), np.ones(DIMENSIONS + 1)],
)
def test_what_is_no_vector_is_refused_and_nothing_is_applied(bad: NDArray[np.float64]) -> None:
    vectors = Vectors(DIMENSIONS)
    vectors.apply([(0, random_units(0, 1))], [])
    with pytest.raises(ValueError, match="vector"):
        vectors.apply([(1, random_units(1, 1)), (2, bad.astype(np.float32))], [0])
    assert (len(vectors), vectors.covered(0)) == (1, True)


def test_dead_rows_are_rewritten_away_and_nothing_changes() -> None:
    vectors = Vectors(DIMENSIONS, VectorSettings(least_dead=10, dead_share=0.1))
    oracle = Oracle()
    added = [(ordinal, random_units(ordinal, 2)) for ordinal in range(200)]
    vectors.apply(added, [])
    oracle.apply(added, [])
    for start in range(0, 150, 10):
        vectors.apply([], list(range(start, start + 10)))
        oracle.apply([], list(range(start, start + 10)))
        check(vectors, oracle, random_units(start, 1)[0], 20)
    assert vectors.row_count < 2 * 50 + 50


def test_a_search_never_sees_half_an_apply() -> None:
    """Two memories always move together; a reader that saw one of them alone would say so."""
    vectors = Vectors(DIMENSIONS, VectorSettings(least_dead=4))
    query = random_units(0, 1)[0]
    vectors.apply([(0, query), (1, query)], [])
    halves: list[list[int]] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            found = vectors.search(query, 9).ordinals.tolist()
            if len(found) != 2 or found[1] != found[0] + 1:
                halves.append(found)

    reader = threading.Thread(target=read)
    reader.start()
    for pair in range(0, 1_000, 2):
        vectors.apply([(pair + 2, query), (pair + 3, query)], [pair, pair + 1])
    stop.set()
    reader.join()
    assert not halves


def test_statistics_come_from_a_fixed_sample() -> None:
    vectors = Vectors(DIMENSIONS, VectorSettings(sample_rows=100))
    rows = random_units(3, 4_000)
    vectors.apply(list(enumerate(rows)), [])
    query = random_units(4, 1)[0]
    mean, deviation = vectors.statistics(query)
    cosines = rows @ query
    assert vectors.statistics(query) == (mean, deviation)
    assert mean == pytest.approx(cosines.mean(), abs=0.1)
    assert deviation == pytest.approx(cosines.std(), abs=0.08)


def clustered(count: int) -> Floats:
    rng = np.random.default_rng(11)
    centres = rng.normal(size=(40, 64))
    return unit(centres[rng.integers(0, 40, count)] * 0.7 + rng.normal(size=(count, 64)))


COMPRESSING = VectorSettings(dense_limit=2_000, compressed_from=2_000, train_rows=1_000, rerank=200, least_dead=100_000)


def test_a_compressed_scan_finds_what_the_exact_one_finds_and_says_so() -> None:
    rows = clustered(4_000)
    vectors, exact = Vectors(64, COMPRESSING, run=at_once), Vectors(64)
    vectors.apply(list(enumerate(rows)), [])
    exact.apply(list(enumerate(rows)), [])
    assert vectors.compressed
    overlap = []
    for query in rows[:50]:
        found, truth = vectors.search(query, 10), exact.search(query, 10)
        assert not found.exact
        overlap.append(len(set(found.ordinals.tolist()) & set(truth.ordinals.tolist())) / 10)
        shared = np.isin(found.ordinals, truth.ordinals)
        np.testing.assert_array_equal(found.scores[shared], truth.scores[np.isin(truth.ordinals, found.ordinals)])
    assert np.mean(overlap) > 0.98


def test_a_compressed_bank_obeys_removals_filters_and_news() -> None:
    rows = clustered(4_000)
    vectors = Vectors(64, COMPRESSING, run=at_once)
    vectors.apply(list(enumerate(rows)), [])
    query = rows[17]
    vectors.apply([(9_000, query)], [17])
    assert vectors.search(query, 1).ordinals.tolist() == [9_000]
    half = np.zeros(9_001, dtype=np.bool_)
    half[1:9_000:2] = True
    found = vectors.search(query, 100, half)
    assert len(found) == 100
    assert half[found.ordinals].all()
    few = np.zeros(9_001, dtype=np.bool_)
    few[[3, 5, 8]] = True
    narrow = vectors.search(query, 10, few)
    assert sorted(narrow.ordinals.tolist()) == [3, 5, 8]
    assert narrow.exact


def test_searches_are_exact_until_the_compressed_index_is_built() -> None:
    waiting: list[Callable[[], None]] = []
    rows = clustered(3_000)
    vectors = Vectors(64, COMPRESSING, run=waiting.append)
    vectors.apply(list(enumerate(rows)), [])
    assert vectors.search(rows[0], 5).exact
    vectors.apply([], [1, 2])
    assert len(waiting) == 1
    waiting.pop()()
    assert not vectors.search(rows[0], 5).exact


def test_an_index_built_of_renumbered_rows_is_thrown_away() -> None:
    waiting: list[Callable[[], None]] = []
    rows = clustered(3_000)
    settings = VectorSettings(
        dense_limit=2_000, compressed_from=2_000, train_rows=1_000, least_dead=100, dead_share=0.1
    )
    vectors, oracle = Vectors(64, settings, run=waiting.append), Oracle()
    vectors.apply(list(enumerate(rows)), [])
    oracle.apply([(ordinal, row[np.newaxis]) for ordinal, row in enumerate(rows)], [])
    gone = list(range(500))
    vectors.apply([], gone)
    oracle.apply([], gone)
    waiting.pop()()
    assert not vectors.compressed
    check(vectors, oracle, rows[700], 10)


def test_near_tells_how_near_any_memory_is_and_the_moments_of_all() -> None:
    rng = np.random.default_rng(12)
    rows = clustered(6_000)
    settings = VectorSettings(compressed_from=1_000, least_dead=100_000, most_newer=40)
    vectors, oracle = Vectors(64, settings, run=at_once), Oracle()
    told, nearer = 0, 0
    for start in range(0, 6_000, 150):  # copied, extended, copied anew; some wait, some die, some have two windows
        added = [(ordinal, rows[ordinal : ordinal + 1 + (ordinal % 97 == 0)]) for ordinal in range(start, start + 150)]
        gone = rng.integers(0, start + 1, 9).tolist()
        vectors.apply(added, gone)
        oracle.apply(added, gone)
        query = unit(rows[rng.integers(len(rows))] + 0.1 * rng.normal(size=64))
        near = vectors.near(query, 60, 240)
        assert (near is None) == (start + 150 < 1_000)
        if near is not None:
            everybody = dict(oracle.ranked(query))
            cosines = np.array(list(everybody.values()))
            assert (near.mean, near.deviation) == pytest.approx((cosines.mean(), cosines.std()), abs=1e-5)
            assert vectors.statistics(query) == (near.mean, near.deviation)
            assert near.cosines == pytest.approx([everybody.pop(at) for at in near.ordinals.tolist()], abs=2e-6)
            bounds = dict(zip(near.others.tolist(), near.bounds.tolist(), strict=True))
            told += len(everybody)
            nearer += sum(cosine > bounds.get(at, near.rest) for at, cosine in everybody.items())
    assert nearer < told / 10_000
