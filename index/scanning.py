"""One reader's look at the rows of a bank, and the scans over it. Nothing here changes anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.compressed import CompressedRows
from index.hits import EXHAUSTED, Hits
from index.near import Near
from index.quantised import QuantisedRows
from index.row_blocks import RowView

_SCORE_STEPS = 1 << 20  # scores are multiples of 2**-20: equal vectors tie whatever row, block or kernel they met


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Rows 0…n-1 as one reader sees them."""

    rows: RowView
    ordinals: NDArray[np.int64]  # (n,)
    alive: NDArray[np.bool_]  # (n,)
    size: int  # one more than the greatest ordinal
    shared: NDArray[np.bool_]  # (n,) True for the rows of a memory of several windows
    pooled: bool  # some ordinal has several rows
    compressed: CompressedRows | None
    quantised: QuantisedRows | None = None


def usable_rows(snapshot: Snapshot, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if allowed is None:
        return snapshot.alive
    mask = np.zeros(max(snapshot.size, len(allowed)), dtype=np.bool_)
    mask[: len(allowed)] = allowed
    return snapshot.alive & mask[snapshot.ordinals]


def near(snapshot: Snapshot, quantised: QuantisedRows, query: NDArray[np.float32], count: int) -> Near:
    """By exact cosines: the rows that a scan of the copy proposes, those it does not hold yet, and all shared ones."""
    proposed = quantised.nearest(query, count)
    rows = np.concatenate([proposed.rows, np.arange(quantised.rows, len(snapshot.alive))])
    rows = rows[snapshot.alive[rows] & ~snapshot.shared[rows]]
    cosines = rounded(snapshot.rows.gather(rows) @ query)
    owners, best = _several(snapshot, query)
    total, squares = _sums(snapshot, quantised, query, np.concatenate([cosines[rows >= quantised.rows], best]))
    memories = max(1, int(np.count_nonzero(snapshot.alive & ~snapshot.shared)) + len(owners))
    mean = total / memories
    deviation = max(0.0, squares / memories - mean * mean) ** 0.5
    ordinals = np.concatenate([snapshot.ordinals[rows], owners])
    order = np.argsort(ordinals)
    found = np.concatenate([cosines, best])[order]
    return Near(ordinals[order], found, proposed.rest, mean, deviation)


def _several(snapshot: Snapshot, query: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Ordinals of all memories of several windows, and the cosine of the best window of each."""
    if not snapshot.pooled:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    rows = np.flatnonzero(snapshot.shared & snapshot.alive)
    return pool_rows(snapshot.ordinals[rows], rounded(snapshot.rows.gather(rows) @ query))


def _sums(
    snapshot: Snapshot, quantised: QuantisedRows, query: NDArray[np.float32], come: NDArray[np.float32]
) -> tuple[float, float]:
    """Of the cosines of all memories, and of their squares: the moments, less who died, and what has `come`."""
    total, squares = quantised.moments.sums(query)
    died = np.flatnonzero(quantised.counted & ~snapshot.alive[: quantised.rows])
    if died.size:
        gone = (snapshot.rows.gather(died) @ query).astype(np.float64)
        total, squares = total - float(gone.sum()), squares - float(gone @ gone)
    more = come.astype(np.float64)
    return total + float(more.sum()), squares + float(more @ more)


def exact_search(snapshot: Snapshot, query: NDArray[np.float32], k: int, usable: NDArray[np.bool_]) -> Hits:
    pooled = pooled_cosines(snapshot, query, usable)
    found = np.flatnonzero(~np.isneginf(pooled))
    return best_of(found, pooled[found], k)


def pooled_cosines(snapshot: Snapshot, query: NDArray[np.float32], usable: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Best cosine by ordinal over usable rows, (size,); -inf where there is none."""
    pooled = np.full(snapshot.size, -np.inf, dtype=np.float32)
    cosines = rounded(snapshot.rows.products(query))
    ordinals = snapshot.ordinals
    if not usable.all():
        cosines, ordinals = cosines[usable], ordinals[usable]
    if snapshot.pooled:
        np.maximum.at(pooled, ordinals, cosines)
    else:
        pooled[ordinals] = cosines
    return pooled


def dense_pooled(snapshot: Snapshot, query: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    pooled = pooled_cosines(snapshot, query, snapshot.alive)[:size]
    pooled[np.isneginf(pooled)] = np.nan
    result = np.full(size, np.nan, dtype=np.float32)
    result[: len(pooled)] = pooled
    return result


def pool_rows(
    ordinals: NDArray[np.int64], scores: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    distinct, places = np.unique(ordinals, return_inverse=True)
    best = np.full(len(distinct), -np.inf, dtype=np.float32)
    np.maximum.at(best, places, scores)
    return distinct, best


def best_of(ordinals: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> Hits:
    """The k best, equal scores by ordinal; the bound is the best score that was cut."""
    if len(scores) > k:
        least = np.partition(scores, len(scores) - k - 1)[len(scores) - k - 1]
        near = np.flatnonzero(scores >= least)
        ordinals, scores = ordinals[near], scores[near]
    order = np.lexsort((ordinals, -scores))
    bound = float(scores[order[k]]) if len(order) > k else EXHAUSTED
    return Hits(ordinals[order[:k]].astype(np.int64), scores[order[:k]], bound)


def rounded(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    """In place, to multiples of 2**-20."""
    cosines *= np.float32(_SCORE_STEPS)
    np.rint(cosines, out=cosines)
    cosines *= np.float32(1.0 / _SCORE_STEPS)  # a power of two: exact
    return cosines
