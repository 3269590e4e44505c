"""Counts are exact; percentiles are right within a bucket."""

from __future__ import annotations

import random

import pytest

from recall.telemetry import Histogram, Telemetry


@pytest.mark.parametrize("fraction", [0.5, 0.9, 0.99])
def test_a_percentile_is_right_within_twenty_percent(fraction: float) -> None:
    dice = random.Random(11)
    durations = sorted(dice.lognormvariate(0, 1.5) for _ in range(5_000))
    histogram = Histogram()
    for duration in durations:
        histogram.observe(duration)
    exact = durations[int(fraction * len(durations)) - 1]
    assert exact <= histogram.percentile(fraction) <= exact * 1.21


def test_an_empty_histogram_and_one_beyond_every_bucket_have_percentiles() -> None:
    histogram = Histogram()
    assert histogram.percentile(0.5) == 0.0
    histogram.observe(1e9)
    assert histogram.percentile(0.5) == 1e9


def test_figures_count_calls_and_failures_by_name() -> None:
    telemetry = Telemetry()
    telemetry.observe("B", 1.0)
    telemetry.observe("A", 2.0, "NOT_FOUND")
    telemetry.observe("A", 4.0)
    first, second = telemetry.figures()
    assert (first.name, first.count, first.failed, first.max_ms) == ("A", 2, (("NOT_FOUND", 1),), 4.0)
    assert (second.name, second.count, second.failed) == ("B", 1, ())
