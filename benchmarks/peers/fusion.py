"""Reciprocal rank fusion for the stores that leave it to their caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.peers.exact import RANK_CONSTANT

DEPTH = 100
"""Rows taken of each leg."""


def by_rank(legs: Iterable[Sequence[int]], k: int) -> list[int]:
    """The k best rows of several legs, each best first."""
    total: dict[int, float] = {}
    for leg in legs:
        for rank, row in enumerate(leg, 1):
            total[row] = total.get(row, 0.0) + 1.0 / (RANK_CONSTANT + rank)
    return sorted(total, key=lambda row: (-total[row], row))[:k]
