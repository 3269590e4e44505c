"""Intervals and p: known cases, and the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality.significance import ResamplingSettings, difference, interval

_FEW = ResamplingSettings(samples=2_000)


def test_equal_values_show_no_difference() -> None:
    values = np.linspace(0, 1, 50)
    found = difference(values, values, _FEW)
    assert (found.mean, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)
    assert not found.is_significant


def test_a_constant_gain_is_significant_and_its_interval_is_a_point() -> None:
    found = difference(np.zeros(40), np.full(40, 0.25), _FEW)
    assert (found.mean, found.low, found.high) == (0.25, 0.25, 0.25)
    assert found.p == pytest.approx(1 / 2_001)
    assert found.is_significant


def test_p_of_three_wins_in_three_is_that_of_all_sign_flips() -> None:
    found = difference(np.zeros(3), np.ones(3), ResamplingSettings(samples=20_000))
    assert found.p == pytest.approx(2 / 8, abs=0.02)


def test_the_interval_of_a_share_is_near_the_normal_one() -> None:
    values = np.array([1.0] * 60 + [0.0] * 40)
    low, high = interval(values, ResamplingSettings(samples=20_000))
    half = 1.96 * np.sqrt(0.6 * 0.4 / 100)
    assert low == pytest.approx(0.6 - half, abs=0.015)
    assert high == pytest.approx(0.6 + half, abs=0.015)


def test_the_same_values_give_the_same_figures_twice() -> None:
    rng = np.random.default_rng(1)
    left, right = rng.random(200), rng.random(200)
    assert difference(left, right, _FEW) == difference(left, right, _FEW)


def test_pairing_sees_what_the_spread_hides() -> None:
    spread = np.random.default_rng(2).random(300)
    assert difference(spread, spread + 0.01, _FEW).is_significant


def test_unpaired_values_are_refused() -> None:
    with pytest.raises(ValueError, match="same questions"):
        difference(np.zeros(3), np.zeros(4), _FEW)
