"""One reader's look at the rows of a bank, and the scans over it. Nothing here changes anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.compressed import CompressedRows
from index.hits import EXHAUSTED, Hits
from index.kept_codes import KeptCodes, StoredCodes, row_fingerprints
from index.moments import Moments
from index.near import Near
from index.row_blocks import RowView

_SCORE_STEPS = 1 << 20  # scores are multiples of 2**-20: equal vectors tie whatever row, block or kernel they met
_NOTHING = np.empty(0, np.int64), np.empty(0, np.float32)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Rows 0…n-1 as one reader sees them."""

    rows: RowView
    ordinals: NDArray[np.int64]  # (n,)
    alive: NDArray[np.bool_]  # (n,)
    size: int  # one more than the greatest ordinal
    shared: NDArray[np.bool_]  # (n,) True for the rows of a memory of several windows
    pooled: bool  # some ordinal has several rows
    memories: int
    """That have a live row."""
    shared_rows: int
    """Live rows of memories of several windows."""
    compressed: CompressedRows | None = None
    moments: Moments | None = None
    """Of the live rows of the copy whose memories have but one; beside a copy there is always one."""


def usable_rows(snapshot: Snapshot, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if allowed is None:
        return snapshot.alive
    mask = np.zeros(max(snapshot.size, len(allowed)), dtype=np.bool_)
    mask[: len(allowed)] = allowed
    return snapshot.alive & mask[snapshot.ordinals]


def near(
    snapshot: Snapshot,
    compressed: CompressedRows,
    query: NDArray[np.float32],
    count: int,
    listed: int,
    deviations: float,
    exact: bool,
) -> Near:
    """Exact cosines of the first `count` that a scan of the copy proposes, of the rows it does not hold yet, and of all
    shared ones; bounds of the others of the first `listed`. `deviations`: see `Proposed.bounds`.
    """
    proposed = compressed.nearest(query, listed)
    rows, others = proposed.rows[:count], proposed.rows[count:]
    cosines = rounded(snapshot.rows.gather(rows) @ query)
    bounds = proposed.bounds(cosines, deviations)
    rest = -np.inf if proposed.all_rows else float(bounds[-1]) if len(bounds) else 1.0
    newer, their_cosines = _newer(snapshot, compressed, query)
    several, their_best = _several(snapshot, query)
    more = np.concatenate((their_cosines, their_best))
    mean, deviation = _statistics(snapshot, query, more)
    rows, cosines = _usable(snapshot, rows, cosines)
    others, bounds = _usable(snapshot, others, bounds)
    ordinals, found = snapshot.ordinals[rows], cosines
    if len(more):
        ordinals = np.concatenate((ordinals, snapshot.ordinals[newer], several))
        found = np.concatenate((cosines, more))
    return Near(ordinals, found, snapshot.ordinals[others], bounds, rest, mean, deviation, exact)


def _usable(
    snapshot: Snapshot, rows: NDArray[np.int64], values: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Those of live memories of one window."""
    if not snapshot.shared_rows and len(snapshot.alive) == snapshot.memories:
        return rows, values
    usable = snapshot.alive[rows] & ~snapshot.shared[rows]
    return rows[usable], values[usable]


def statistics(snapshot: Snapshot, compressed: CompressedRows, query: NDArray[np.float32]) -> tuple[float, float]:
    """Mean and deviation of the cosines of all memories, each by its best window."""
    _, newer = _newer(snapshot, compressed, query)
    _, several = _several(snapshot, query)
    return _statistics(snapshot, query, np.concatenate((newer, several)))


def _newer(
    snapshot: Snapshot, compressed: CompressedRows, query: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Live rows that the copy does not hold, of memories of one window, with their cosines."""
    first = compressed.rows
    if first == len(snapshot.alive):
        return _NOTHING
    cosines = rounded(snapshot.rows.products(query, first))
    usable = np.flatnonzero(snapshot.alive[first:] & ~snapshot.shared[first:])
    return usable + first, cosines[usable]


def _several(snapshot: Snapshot, query: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Ordinals of all memories of several windows, and the cosine of the best window of each."""
    if not snapshot.shared_rows:
        return _NOTHING
    rows = np.flatnonzero(snapshot.shared & snapshot.alive)
    return pool_rows(snapshot.ordinals[rows], rounded(snapshot.rows.gather(rows) @ query))


def _statistics(snapshot: Snapshot, query: NDArray[np.float32], others: NDArray[np.float32]) -> tuple[float, float]:
    """Mean and deviation of the cosines of all memories; `others` are those that the moments do not count."""
    assert snapshot.moments is not None
    total, squares = snapshot.moments.sums(query)
    more = others.astype(np.float64)
    mean = (total + float(more.sum())) / snapshot.memories
    return mean, max(0.0, (squares + float(more @ more)) / snapshot.memories - mean * mean) ** 0.5


def exact_search(snapshot: Snapshot, query: NDArray[np.float32], k: int, usable: NDArray[np.bool_]) -> Hits:
    pooled = pooled_cosines(snapshot, query, usable)
    found = np.flatnonzero(~np.isneginf(pooled))
    return best_of(found, pooled[found], k)


def compressed_search(
    snapshot: Snapshot,
    compressed: CompressedRows,
    query: NDArray[np.float32],
    k: int,
    usable: NDArray[np.bool_],
    rerank: int,
) -> Hits:
    """Fetches more by what the filter takes away; too few left over are an exact scan's business."""
    wanted = max(rerank, 4 * k)
    fetched = int(wanted / usable.mean()) + 1
    rows = compressed.nearest(query, fetched).rows
    newer = np.arange(compressed.rows, len(snapshot.alive))
    rows = np.concatenate([rows, newer])
    rows = rows[usable[rows]]
    ordinals, best = pool_rows(snapshot.ordinals[rows], rounded(snapshot.rows.gather(rows) @ query))
    if len(ordinals) <= k and fetched < compressed.rows:
        return exact_search(snapshot, query, k, usable)
    hits = best_of(ordinals, best, k)
    return Hits(hits.ordinals, hits.scores, hits.bound, exact=False)


def fingerprints(snapshot: Snapshot, stored: StoredCodes) -> NDArray[np.uint64]:
    """Of all rows; 0 for dead ones. The live rows of a memory follow each other, window by window."""
    live = np.flatnonzero(snapshot.alive)
    owners, at = snapshot.ordinals[live], np.arange(len(live))
    first = np.ones(len(live), np.bool_)
    first[1:] = owners[1:] != owners[:-1]
    windows = at - np.maximum.accumulate(np.where(first, at, 0))
    result = np.zeros(len(snapshot.alive), np.uint64)
    result[live] = row_fingerprints(stored.keys(owners), windows)
    return result


def kept_codes(snapshot: Snapshot, copy: CompressedRows, known: NDArray[np.uint64]) -> KeptCodes | None:
    """The codes of the live rows with these fingerprints; None where `copy` is not the snapshot's."""
    compressed, moments = snapshot.compressed, snapshot.moments
    if compressed is not copy or moments is None:
        return None
    live = np.flatnonzero(snapshot.alive[: copy.rows])
    return KeptCodes(copy.codebook, known[live], copy.counted[live], copy.codes()[live], moments)


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
