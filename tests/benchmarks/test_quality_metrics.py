"""Every metric against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from benchmarks.quality import metrics
from benchmarks.quality.judgement import Judgement

_TWO_OF_THREE = Judgement("q", "1", (1, 4, None), (1, 1, 1))
_LATE = Judgement("q", "1", (12,), (1,))
_NOWHERE = Judgement("q", "1", (None, None), (1, 1))
_PERFECT = Judgement("q", "1", (2, 1), (1, 1))
_GRADED = Judgement("q", "1", (2, 1), (3, 1))

_LOG2_5 = math.log2(5)
_IDEAL_3 = 1 + 1 / math.log2(3) + 1 / math.log2(4)


@pytest.mark.parametrize(
    ("name", "judgement", "by_hand"),
    [
        ("fraction@1", _TWO_OF_THREE, 1 / 3),
        ("fraction@3", _TWO_OF_THREE, 1 / 3),
        ("fraction@5", _TWO_OF_THREE, 2 / 3),
        ("fraction@10", _LATE, 0.0),
        ("fraction@50", _LATE, 1.0),
        ("fraction@50", _NOWHERE, 0.0),
        ("any@5", _TWO_OF_THREE, 1.0),
        ("any@10", _LATE, 0.0),
        ("any@50", _LATE, 1.0),
        ("any@5", _NOWHERE, 0.0),
        ("all@10", _TWO_OF_THREE, 0.0),
        ("all@10", _PERFECT, 1.0),
        ("all@1", _PERFECT, 0.0),
        ("all@10", _LATE, 0.0),
        ("all@50", _LATE, 1.0),
        ("MRR", _TWO_OF_THREE, 1.0),
        ("MRR", _LATE, 1 / 12),
        ("MRR", _NOWHERE, 0.0),
        ("nDCG@10", _PERFECT, 1.0),
        ("nDCG@10", _NOWHERE, 0.0),
        ("nDCG@10", _LATE, 0.0),
        ("nDCG@10", _TWO_OF_THREE, (1 + 1 / _LOG2_5) / _IDEAL_3),
        ("nDCG@10", _GRADED, (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))),
        ("longmemeval_ndcg@10", _PERFECT, 1.0),
        ("longmemeval_ndcg@10", _TWO_OF_THREE, (1 + 1 / 2) / (1 + 1 + 1 / math.log2(3))),
        ("longmemeval_ndcg@10", _LATE, 0.0),
    ],
)
def test_a_metric_has_the_value_worked_out_by_hand(name: str, judgement: Judgement, by_hand: float) -> None:
    assert metrics.values(name, [judgement])[0] == pytest.approx(by_hand, abs=1e-9)


def test_a_question_that_found_nothing_counts_as_zero_and_is_not_left_out() -> None:
    assert metrics.mean("fraction@5", [_PERFECT, _NOWHERE, _NOWHERE, _NOWHERE]) == pytest.approx(0.25)


def test_values_stand_in_the_order_of_the_questions() -> None:
    many = [_NOWHERE if number % 3 else _PERFECT for number in range(25)]
    expected = [0.0 if number % 3 else 1.0 for number in range(25)]
    for name in ("fraction@10", "MRR", "all@10"):
        assert metrics.values(name, many).tolist() == expected


def test_a_metric_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(metrics.UnknownMetricError, match="recall@10"):
        metrics.values("recall@10", [_PERFECT])
