"""The parts of the load benchmark: bars, drifts, and short runs of what it measures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from benchmarks.latency.load import LoopResult, at_once
from benchmarks.latency.percentiles import Percentiles
from benchmarks.load.bars import AtLeast, AtMost, Bar, all_hold
from benchmarks.load.footprint import Footprint, FootprintWatch, drift, footprint
from benchmarks.load.group_commit import Ground, GroupPlan, Loop, in_process, measure, stood_on
from benchmarks.load.soak import Beside, bars_of, plan_for


@pytest.mark.parametrize(
    ("bar", "holds"),
    [(AtMost(1.0, 1.0), True), (AtMost(1.1, 1.0), False), (AtLeast(6.0, 6.0), True), (AtLeast(5.9, 6.0), False)],
)
def test_a_bar_holds_at_its_value(bar: Bar, holds: bool) -> None:
    assert bar.holds is holds
    assert all_hold({"fine": AtMost(0, 0), "this": bar}) is holds


def samples(rss: list[float]) -> list[Footprint]:
    return [Footprint(float(at), value, 10, 5) for at, value in enumerate(rss)]


def test_a_drift_leaves_out_what_is_not_settled_and_sees_a_peak() -> None:
    found = drift(samples([1, 50, 100, 100, 100, 180, 100, 110, 110, 110]), "rss_mib", settled_s=2, window_s=2)
    assert (found.early, found.late, found.highest, found.growth) == (100, 110, 180, 1.1)


def test_a_process_has_memory_descriptors_and_threads() -> None:
    mine = footprint(os.getpid())
    assert mine.rss_mib > 1
    assert mine.fds > 0
    assert mine.threads > 0
    with FootprintWatch(os.getpid(), every_s=0.01) as watch:
        at_once("", _idle, 1, 0.1, ValueError)
    assert watch.samples


@contextmanager
def _idle() -> Iterator[Callable[[int], object]]:
    yield lambda _number: None


def test_sharing_is_measured_on_real_banks() -> None:
    with in_process() as loop:
        found = measure(loop, GroupPlan(writers=4, rounds=1, round_s=0.1))
    assert found.failed == 0
    assert found.alone_per_s > 0
    assert found.quiet_per_s > 0
    assert found.ratio == pytest.approx(found.together_per_s / found.alone_per_s, rel=0.01)


def test_what_sharing_can_win_is_the_disk_over_the_processor() -> None:
    assert Ground(0.3, 1.0, 0.1).most == 4.0
    with in_process() as loop:
        found = stood_on(loop, GroupPlan(writers=1, rounds=1, round_s=0.05))
    assert found.fdatasync_p99_ms >= found.fdatasync_p50_ms > 0
    assert found.save_cpu_ms > 0


def test_the_figures_are_of_the_rounds_they_name() -> None:
    rates = {"alone": 100.0, "together": 900.0, "busy": 800.0, "quiet": 60.0, "warm": 1.0}

    def loop(name: str, bank: str, writers: int, seconds: float) -> LoopResult:
        assert (name == "quiet") == (bank == "quiet" and seconds == 1.0)
        return LoopResult(name, writers, 0.0, rates[name], 0, Percentiles.of([2.0]))

    stub: Loop = loop
    found = measure(stub, GroupPlan(writers=16, rounds=3, round_s=1.0))
    assert (found.ratio, found.quiet_per_s, found.busy_writer_per_s) == (9.0, 60.0, 50.0)


def test_a_failure_beside_the_load_misses_the_bar() -> None:
    loop = LoopResult("recall", 0, 1.0, 1.0, 0, Percentiles.of([1.0]))
    flat = drift(samples([100, 100]), "rss_mib", 0, 1)
    fine, failed = Beside(1, 1, 1), Beside(1, 1, 1, ["INTERNAL: "])
    assert all_hold(bars_of(loop, loop, fine, flat, flat, flat))
    assert not all_hold(bars_of(loop, loop, failed, flat, flat, flat))


def test_ten_minutes_settle_for_two() -> None:
    assert plan_for(600.0).settled_s == 120.0
    assert plan_for(30.0).settled_s == 6.0
