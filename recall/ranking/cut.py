"""The order of results, and the cut: score, then updated_at (newest first), then id. A total order.

The cut sorts no more than it must: everything that ties with the last result, and what is above it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recall.memory.record import Record

_GROUPS_A_RESULT = 8
"""Groups that the scores are cut into, for each wanted result: the more, the fewer scores are left to sort."""
_LEAST_GROUP = 64
"""Scores in a group below which all are sorted at once."""


def top(
    scores: NDArray[np.float64],
    ordinals: NDArray[np.int64],
    updated_at: NDArray[np.int64],
    records: Sequence[Record],
    limit: int,
) -> NDArray[np.int64]:
    """Places in `scores` of the best `limit`, best first; `ordinals` go with `scores`, `updated_at` is by ordinal."""
    kept = _at_least_last(scores, limit)
    best, moments = scores[kept], updated_at[ordinals[kept]]
    order = _with_ties(np.lexsort((-moments, -best)), best, moments, limit)
    rows = zip(
        best[order].tolist(), moments[order].tolist(), ordinals[kept[order]].tolist(), order.tolist(), strict=True
    )
    keys = sorted((-score, -moment, records[ordinal].id, at) for score, moment, ordinal, at in rows)
    return kept[[at for *_, at in keys[:limit]]]


def _at_least_last(scores: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    if len(scores) <= limit:
        return np.arange(len(scores))
    near = _well_above(scores, limit)
    best = scores[near]
    kept: NDArray[np.int64] = near[best >= np.partition(best, len(best) - limit)[len(best) - limit]]
    return kept


def _well_above(scores: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Few places, all of the best `limit` and their ties among them: as many groups have a member this good."""
    groups = _GROUPS_A_RESULT * limit
    size = len(scores) // groups
    if size < _LEAST_GROUP:
        return np.arange(len(scores))
    greatest = scores[: groups * size].reshape(groups, size).max(axis=1)
    return np.flatnonzero(scores >= np.partition(greatest, groups - limit)[groups - limit])


def _with_ties(
    order: NDArray[np.int64], scores: NDArray[np.float64], updated_at: NDArray[np.int64], limit: int
) -> NDArray[np.int64]:
    """The first `limit` of `order`, and whatever only the id tells from the last of them."""
    if len(order) <= limit:
        return order
    last = order[limit - 1]
    tied = (scores[order] == scores[last]) & (updated_at[order] == updated_at[last])
    tied[:limit] = True
    kept: NDArray[np.int64] = order[tied]
    return kept
