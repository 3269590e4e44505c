"""From a ranking of memories to the ranks of a question's evidence."""

from __future__ import annotations

from benchmarks.quality.dataset import DocumentId, Evidence, Question
from benchmarks.quality.judgement import Judgement, judge
from benchmarks.quality.loading import Loaded

A, B, C = DocumentId("a"), DocumentId("b"), DocumentId("c")


def _question(*evidence: Evidence) -> Question:
    return Question("q", "?", evidence, "1")


def test_a_rank_counts_from_one_and_is_none_when_it_did_not_come_up() -> None:
    judged = judge(_question(Evidence(A), Evidence(B)), [7, 0], {A: 0, B: 1})
    assert judged == Judgement("q", "1", (2, None), (1, 1))


def test_evidence_said_twice_in_the_same_words_is_one_piece() -> None:
    judged = judge(_question(Evidence(A), Evidence(B), Evidence(C)), [3, 5], {A: 5, B: 5, C: 9})
    assert judged.ranks == (2, None)


def test_the_higher_grade_stands_when_two_documents_share_a_memory() -> None:
    assert judge(_question(Evidence(A, 1), Evidence(B, 3)), [5], {A: 5, B: 5}).gains == (3,)


def test_a_document_in_parts_ranks_at_its_best_part_and_takes_one_place() -> None:
    loaded = Loaded("bank", {A: 0, B: 1}, {"m1": (0,), "m2": (0,), "m3": (1,)}, memories=3, parted=1)
    assert list(loaded.ranked_units(["m2", "m1", "m3"])) == [0, 1]


def test_a_memory_nobody_loaded_takes_no_place() -> None:
    loaded = Loaded("bank", {A: 0}, {"m1": (0,)}, memories=1, parted=0)
    assert list(loaded.ranked_units(["stranger", "m1"])) == [0]
