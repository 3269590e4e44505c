"""How a figure grows: the least-squares line through the logarithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

BARS: Mapping[str, float] = {"recall_ms": 0.6, "save_ms": 0.1, "start_words_s": 1.0, "start_hybrid_s": 1.0}
"""The most that a slope may be, over sizes from BAR_FROM to BAR_TO."""
BAR_FROM, BAR_TO = 10_000, 1_000_000


def slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    """d ln(value) / d ln(size). Raises ValueError without two sizes, or for what has no logarithm."""
    if len(set(sizes)) < 2:
        raise ValueError(f"a slope needs two sizes, not {list(sizes)}")
    if min(sizes) <= 0 or min(values) <= 0:
        raise ValueError(f"a slope needs positive figures, not {list(values)} at {list(sizes)}")
    return round(float(np.polyfit(np.log(sizes), np.log(values), 1)[0]), 3)


def judged(sizes: Sequence[int]) -> bool:
    """Whether the bars apply: both ends of their range were measured."""
    return BAR_FROM in sizes and BAR_TO in sizes


def measured_over(sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes that slopes are of: those of the bars' range where two are there, otherwise all."""
    within = tuple(size for size in sizes if size >= BAR_FROM)
    return within if len(within) > 1 else tuple(sizes)
