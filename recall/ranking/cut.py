"""The order of results, and the cut: score, then updated_at (newest first), then id. A total order.

The cut sorts no more than it must: everything that ties with the last result, and what is above it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recall.memory.record import Record


def top(
    scores: NDArray[np.float64],
    ordinals: NDArray[np.int64],
    updated_at: NDArray[np.int64],
    records: Sequence[Record],
    limit: int,
) -> NDArray[np.int64]:
    """Places in `scores` of the best `limit`, best first; `updated_at` and `ordinals` go with `scores`."""
    kept = _at_least_last(scores, limit)
    order = kept[np.lexsort((-updated_at[kept], -scores[kept]))]
    order = _with_ties(order, scores, updated_at, limit)
    keyed = sorted(order.tolist(), key=lambda at: (-scores[at], -int(updated_at[at]), records[int(ordinals[at])].id))
    return np.array(keyed[:limit], np.int64)


def _at_least_last(scores: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    if len(scores) <= limit:
        return np.arange(len(scores))
    last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= last)


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
