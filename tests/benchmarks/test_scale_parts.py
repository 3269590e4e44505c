"""The parts of benchmarks.scale that need no server."""

from __future__ import annotations

import pytest

from benchmarks.scale import page
from benchmarks.scale.__main__ import parsed, slopes
from benchmarks.scale.measure import SizeFigures
from benchmarks.scale.slopes import judged, measured_over, slope


@pytest.mark.parametrize(("power", "expected"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_the_slope_of_a_power_law_is_its_power(power: float, expected: float) -> None:
    sizes = (1_000, 10_000, 100_000)
    assert slope(sizes, [3.0 * size**power for size in sizes]) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(("sizes", "values"), [((10,), (1.0,)), ((10, 10), (1.0, 2.0)), ((1, 10), (0.0, 1.0))])
def test_figures_without_a_slope_are_refused(sizes: tuple[int, ...], values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="a slope needs"):
        slope(sizes, values)


def test_sizes_are_read_in_ascending_order() -> None:
    assert parsed("10000, 1000,1000") == (1_000, 10_000)


@pytest.mark.parametrize("told", ["", "ten", "0", "5,-1", "5,,6"])
def test_other_sizes_are_refused(told: str) -> None:
    with pytest.raises(ValueError, match="positive numbers"):
        parsed(told)


def test_bars_apply_only_where_both_their_ends_were_measured() -> None:
    assert judged((1_000, 10_000, 1_000_000))
    assert not judged((500, 2_000))
    assert not judged((10_000, 100_000))


def test_slopes_leave_out_what_is_below_the_range_of_the_bars() -> None:
    assert measured_over((1_000, 10_000, 100_000)) == (10_000, 100_000)
    assert measured_over((500, 2_000)) == (500, 2_000)


def test_each_figure_has_a_slope_and_a_single_size_has_none() -> None:
    each = tuple(SizeFigures(n, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, n, 1.0) for n in (1_000, 10_000, 100_000))
    assert slopes(each)["disk_bytes"] == pytest.approx(1.0)
    assert slopes(each)["recall_ms"] == pytest.approx(0.0)
    assert slopes(each[:1]) == {}


def test_the_page_draws_every_size_of_every_figure_and_fetches_nothing() -> None:
    each = tuple(SizeFigures(n, 3.5, 1.0, 1.0, 1.0, 1.0, 90.0, 60.0, n * 1_000, 1.0) for n in (1_000, 10_000))
    made = page.render(each)
    assert made.count("<circle") == 2 * sum(len(figures) for _, figures in page.PLOTS.values())
    assert "recall at 10000: 3.5 ms" in made
    assert "http" not in made
