"""The parts of benchmarks.regress that start no process."""

from __future__ import annotations

import pytest

from benchmarks.regress.__main__ import compared
from benchmarks.regress.intervals import interval
from benchmarks.regress.pure import instructions


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "alike"), (1.5, "slower"), (0.5, "faster")])
def test_a_steady_factor_is_seen(factor: float, verdict: str) -> None:
    a = [1.0, 1.2, 0.9, 3.0]
    found = interval(a, [one * factor for one in a])
    assert found.ratio == pytest.approx(factor)
    assert found.verdict == verdict


def test_noise_around_one_is_no_verdict() -> None:
    assert interval([1.0] * 6, [0.8, 1.2, 0.9, 1.1, 0.7, 1.3]).verdict == "alike"


@pytest.mark.parametrize(("a", "b"), [((), ()), ((1.0,), (1.0, 2.0)), ((0.0,), (1.0,))])
def test_rounds_that_make_no_pairs_are_refused(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="pairs"):
        interval(a, b)


def test_each_part_is_compared_with_itself() -> None:
    found = compared([({"x": (1.0, 5), "y": (2.0, 9)}, {"x": (2.0, 6), "y": (2.0, 9)})])
    assert (found["x"].time.ratio, found["x"].instructions_a, found["x"].instructions_b) == (2.0, 5, 6)
    assert found["y"].time.ratio == 1.0


def test_instructions_are_counted_the_same_each_time_and_more_for_more_work() -> None:
    def work(times: int) -> int:
        total = 0
        for number in range(times):
            total += number
        return total

    few, again, many = (instructions(lambda n=n: work(n)) for n in (3, 3, 30))  # type: ignore[misc]
    assert few == again < many
