"""Which pairs are looked at, whatever the order of the bank."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from consolidate.candidates import CandidateSettings, find_candidates
from consolidate.judgement import Likeness
from consolidate.memo import Memo
from consolidate.plan import make_plan
from consolidate.settings import ConsolidateSettings

SETTINGS = ConsolidateSettings()


def memos(*texts: str) -> list[Memo]:
    return [Memo(f"{at:04d}", text, created_at=at) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ("Tea, please!", "tea please", True),
        ("Alice manages Bob", "Bob manages Alice", True),
        ("The user enjoys tea", "The user likes tea", True),
        ("Use four spaces of indent", "Use four spaces for indent", True),
        ("Tea", "The quarterly figures are late", False),
        ("", "", False),
    ],
)
def test_wording_makes_candidates_without_vectors(a: str, b: str, found: bool) -> None:
    assert (("0000", "0001") in find_candidates(memos(a, b), None, SETTINGS)) is found


def test_cosine_makes_candidates_and_a_memory_without_a_vector_brings_none() -> None:
    bank = memos("feline", "cat", "truck", "lorry")
    vectors = np.array([[1, 0, 0], [0.9, np.sqrt(0.19), 0], [0, 0, 1], [np.nan] * 3], np.float32)
    found = find_candidates(bank, vectors, SETTINGS)
    assert found.keys() == {("0000", "0001")}
    assert found["0000", "0001"].cosine == pytest.approx(0.9, abs=1e-5)


def test_nothing_comes_of_nothing() -> None:
    assert find_candidates([], None, SETTINGS) == {}
    assert find_candidates(memos("one"), np.ones((1, 3), np.float32), SETTINGS) == {}


def bank_of(rng: np.random.Generator, size: int) -> tuple[list[Memo], NDArray[np.float32]]:
    words = "red green blue tea milk oslo lyon ann bob likes hates the user deploys daily".split()
    texts = [" ".join(rng.choice(words, rng.integers(1, 7))) for _ in range(size)]
    vectors = rng.standard_normal((size, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return memos(*texts), vectors


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 4))
def test_the_order_of_the_bank_changes_nothing(seed: int, size: int, each: int) -> None:
    bank, vectors = bank_of(np.random.default_rng(seed), size)
    search = CandidateSettings(pairs_each=each, neighbours=6, group_limit=3)
    order = random.Random(seed).sample(range(size), size)
    shuffled = [bank[at] for at in order]
    one = find_candidates(bank, vectors, SETTINGS, search)
    other = find_candidates(shuffled, vectors[order], SETTINGS, search)
    assert one.keys() == other.keys()
    assert make_plan(bank, one, SETTINGS).merges == make_plan(shuffled, other, SETTINGS).merges


def test_a_memory_brings_at_most_its_share_of_pairs() -> None:
    bank = memos(*(f"note {at} about the very same thing as ever, in words" for at in range(60)))
    found = find_candidates(bank, np.full((60, 4), 0.5, np.float32), SETTINGS, CandidateSettings(pairs_each=3))
    assert 0 < len(found) <= 3 * 60


def test_restatements_are_never_lost_to_the_share() -> None:
    """Far more equal texts than pairs a memory may bring: one pass still leaves one."""
    bank = memos(*("Tea is ready" + "!" * (at % 5) for at in range(200)))
    found = find_candidates(bank, np.full((200, 4), 0.5, np.float32), SETTINGS, CandidateSettings(pairs_each=2))
    plan = make_plan(bank, found, SETTINGS)
    assert [len(group.losers) for group in plan.merges] == [199]


def test_clustered_search_finds_what_exact_search_finds() -> None:
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((2_000, 16)).astype(np.float32)
    vectors[1_000:] = vectors[:1_000] + 0.05 * rng.standard_normal((1_000, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    bank = memos(*(f"{at}" for at in range(2_000)))
    twins = {(f"{at:04d}", f"{at + 1_000:04d}") for at in range(1_000)}
    exact = find_candidates(bank, vectors, SETTINGS)
    clustered = find_candidates(bank, vectors, SETTINGS, CandidateSettings(exact_limit=100))
    assert twins <= exact.keys()
    assert len(twins & clustered.keys()) >= 990


def test_both_likenesses_are_told() -> None:
    found = find_candidates(memos("Tea", "tea"), None, SETTINGS)
    likeness = found["0000", "0001"]
    assert isinstance(likeness, Likeness)
    assert np.isnan(likeness.cosine)
    assert likeness.jaccard == 1.0
