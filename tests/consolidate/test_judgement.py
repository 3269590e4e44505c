"""Likeness proposes, wording merges, guards decide."""

from __future__ import annotations

import math

import pytest

from consolidate.guards import Verdict
from consolidate.judgement import Likeness, judge
from consolidate.memo import Memo
from consolidate.settings import ConsolidateSettings

SETTINGS = ConsolidateSettings()


@pytest.mark.parametrize(
    ("a", "b", "cosine", "jaccard", "verdict"),
    [
        ("Tea is on", "tea is on!", 0.10, 0.10, Verdict.MERGE),
        ("Tea is on", "tea is on!", math.nan, 1.0, Verdict.MERGE),
        ("The user prefers tea", "The user likes tea", 0.93, 0.6, Verdict.MERGE),
        ("The user prefers tea", "The user likes tea", 0.92, 0.6, Verdict.PROPOSE),
        ("The user prefers tea", "The user likes tea", math.nan, 0.6, Verdict.PROPOSE),
        ("The user stays up", "The user is awake", 0.80, 0.1, Verdict.PROPOSE),
        ("The user stays up", "The user is awake", 0.79, 0.35, Verdict.PROPOSE),
        ("The user stays up", "The user is awake", 0.79, 0.34, Verdict.KEEP),
        ("The user stays up", "The user is awake", 1.00, 1.0, Verdict.PROPOSE),
    ],
)
def test_likeness_and_wording_together(a: str, b: str, cosine: float, jaccard: float, verdict: Verdict) -> None:
    assert judge(Memo("1", a), Memo("2", b), Likeness(cosine, jaccard), SETTINGS).verdict is verdict


def test_a_pair_that_is_not_alike_has_nothing_to_tell() -> None:
    judged = judge(Memo("1", "3 cats"), Memo("2", "4 dogs"), Likeness(0.1, 0.1), SETTINGS)
    assert (judged.verdict, judged.findings) == (Verdict.KEEP, ())
