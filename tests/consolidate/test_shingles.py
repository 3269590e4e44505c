"""Trigram sets against a plain reading of the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consolidate.shingles import Shingles, sharing_pairs

TEXTS = st.text(alphabet="ab c*_", max_size=12) | st.text(max_size=12)


def trigrams(text: str) -> set[str]:
    for mark in "*_`#>":
        text = text.replace(mark, " ")
    folded = " ".join(text.lower().split())
    padded = f"  {folded} " if folded else ""
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=2, max_size=6))
def test_jaccard_is_that_of_the_trigram_sets(texts: list[str]) -> None:
    left = np.arange(len(texts) - 1)
    found = Shingles.of(texts).jaccard(left, left + 1)
    for at, value in enumerate(found):
        one, two = trigrams(texts[at]), trigrams(texts[at + 1])
        assert value == pytest.approx(len(one & two) / len(one | two) if one and two else 0.0)


def test_rows_of_many_batches_are_those_of_one() -> None:
    texts = [f"text number {at} of many" for at in range(9_000)]
    shingles = Shingles.of(texts)
    alone = Shingles.of([texts[8_500]])
    assert shingles.codes[shingles.starts[8_500] : shingles.starts[8_501]].tolist() == alone.codes.tolist()


def test_pairs_come_once_in_order_and_above_the_threshold() -> None:
    texts = [f"{word} pie with cream" for word in ("apple", "apples", "cherry", "plum")] + ["zzz"] * 2
    found = [
        (int(a), int(b), j)
        for left, right, jaccard in sharing_pairs(Shingles.of(texts), 96, 12, 0.35)
        for a, b, j in zip(left, right, jaccard, strict=True)
    ]
    pairs = [(a, b) for a, b, _ in found]
    assert len(set(pairs)) == len(pairs)
    assert {(0, 1), (4, 5)} <= set(pairs)
    assert all(a < b and j >= 0.35 for a, b, j in found)
