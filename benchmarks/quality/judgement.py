"""Where one question's evidence came up. Every metric is a function of this, so two runs can be compared later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from benchmarks.quality.dataset import DocumentId, Question


class Judgement(msgspec.Struct, frozen=True, array_like=True):
    """In JSON [question, category, ranks, gains].

    ``ranks`` holds, for each piece of evidence, its rank from 1, or None when it is not among the results.

    ``gains`` are the graded relevances in the same order. Evidence that shares one memory (the same words said
    twice) is one piece: whoever finds the memory has found both.
    """

    question: str
    category: str
    ranks: tuple[int | None, ...]
    gains: tuple[int, ...]


def judge(question: Question, ranked: Iterable[int], units: Mapping[DocumentId, int]) -> Judgement:
    """Judges a ranking of units. ``units`` says which unit each document of the haystack is."""
    rank_of = {unit: rank for rank, unit in reversed(list(enumerate(ranked, start=1)))}
    gains: dict[int, int] = {}
    for evidence in question.evidence:
        unit = units[evidence.document]
        gains[unit] = max(evidence.gain, gains.get(unit, 0))
    return Judgement(question.id, question.category, tuple(map(rank_of.get, gains)), tuple(gains.values()))
