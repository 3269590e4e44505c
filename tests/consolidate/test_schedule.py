"""When a bank is due, by the table."""

from __future__ import annotations

import pytest

from consolidate.schedule import HOUR, MICROS, Interval

MINUTE = 60 * MICROS
NOW = 1_800_000_000 * MICROS
DAY = Interval.of_hours(24)


@pytest.mark.parametrize(
    ("hours", "elapsed", "due"),
    [
        (24, 24 * HOUR, True),
        (24, 24 * HOUR - 5 * MINUTE, True),
        (24, 24 * HOUR - 5 * MINUTE - 1, False),
        (24, 23 * HOUR, False),
        (24, 0, False),
        (24, 1_000 * 24 * HOUR, True),  # the clock jumped ahead, or the machine slept
        (1, 55 * MINUTE, True),
        (1, 55 * MINUTE - 1, False),
        (0.5, 27 * MINUTE, True),
        (0.5, 27 * MINUTE - 1, False),
        (24, -1, False),  # a clock that was set back a little: no second run
        (24, -5 * MINUTE, False),
        (24, -5 * MINUTE - 1, True),  # a last run in the future must not silence the bank
        (24, -1_000 * 24 * HOUR, True),
    ],
)
def test_due(hours: float, elapsed: int, due: bool) -> None:
    assert Interval.of_hours(hours).due(NOW - elapsed, NOW) is due


def test_a_bank_that_was_never_tended_is_due() -> None:
    assert DAY.due(0, NOW)
    assert DAY.due(0, 0)


def test_what_is_told_as_the_next_time_is_when_it_is_due() -> None:
    for last in (NOW, NOW - HOUR, NOW - 25 * HOUR, NOW + 99 * HOUR, 0):
        following = DAY.next_at(last, NOW)
        assert DAY.due(last, following)
        assert following == NOW or not DAY.due(last, following - 1)


def test_a_clock_that_jumps_costs_one_extra_run_and_no_more() -> None:
    for jump in (400 * 24 * HOUR, -400 * 24 * HOUR):
        now = NOW + jump
        assert DAY.due(NOW, now)
        assert not DAY.due(now, now + HOUR)
