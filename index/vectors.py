"""Here is a query vector: which memories are nearest? Cosine over the bank's vectors, several windows a memory.

A row is one window; a memory scores as its best window (max-pooling). Rows only grow: an edited or removed memory
leaves dead rows behind a bitmap at once, and the matrix is rewritten when a share of it is dead. Readers take a
snapshot and never see half an apply. Up to some ten thousand rows every search is exact; above that a compressed
scan (FAISS PQ fast-scan) proposes rows and their exact cosines decide, and the answer says `exact=False`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from index.compressed import DIMENSIONS_PER_CODE, CompressedRows, CompressedSettings
from index.hits import EXHAUSTED, Hits
from index.row_blocks import RowBlocks, RowView

_REWRITE_ROWS = 4_096
_COPY_ROWS = 1_024
_LEAST_NORM = 1e-12
_SCORE_STEPS = 1 << 20  # scores are multiples of 2**-20: equal vectors tie whatever row, block or kernel they met


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """When a bank's vectors are scanned, compressed and rewritten."""

    dense_limit: int = 50_000
    """Rows up to which every search is exact and `dense` may be asked."""
    rerank: int = 400
    """Least number of rows whose exact cosine is computed after a compressed scan."""
    rebuild_growth: float = 0.25
    """Share of rows that may be newer than the compressed index before it is built anew."""
    train_rows: int = 20_000
    """Rows a codebook is trained on."""
    narrow_share: float = 0.1
    """Share of the rows below which a filter is scanned exactly instead of filtering a compressed scan."""
    dead_share: float = 0.1
    """Share of dead rows at which the matrix is rewritten."""
    least_dead: int = 256
    """Dead rows below which it is never rewritten."""
    sample_rows: int = 512
    """Rows that `sample_statistics` looks at."""


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """Rows 0…n-1 as one reader sees them."""

    rows: RowView
    ordinals: NDArray[np.int64]  # (n,)
    alive: NDArray[np.bool_]  # (n,)
    size: int  # one more than the greatest ordinal
    pooled: bool  # some ordinal has several rows
    compressed: CompressedRows | None


def _in_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="vectors-compress", daemon=True).start()


class Vectors:
    """The vectors of one bank under one model."""

    def __init__(
        self,
        dimensions: int,
        settings: VectorSettings | None = None,
        run: Callable[[Callable[[], None]], None] = _in_thread,
    ) -> None:
        """`run` executes a long build beside the caller."""
        self._dimensions = dimensions
        self._settings = settings if settings is not None else VectorSettings()
        self._run = run
        self._lock = threading.RLock()  # a `run` that works at once comes back into it
        self._rows = RowBlocks(dimensions)
        self._places: dict[int, tuple[int, int]] = {}  # ordinal → first row, windows
        self._dead = 0
        self._epoch = 0  # moves when rows are renumbered: a compressed index of an older epoch is void
        self._building = False
        self._sample: NDArray[np.float32] | None = None
        self._sampled_at = 0
        nothing = np.empty(0, dtype=np.int64)
        self._snapshot = _Snapshot(self._rows.view(), nothing, nothing.astype(np.bool_), 0, False, None)

    def __len__(self) -> int:
        """Memories that have a vector."""
        return len(self._places)

    @property
    def compressed(self) -> bool:
        """True while searches start from a compressed scan."""
        return self._snapshot.compressed is not None

    @property
    def row_count(self) -> int:
        """Rows held, dead ones included."""
        return len(self._snapshot.alive)

    def of(self, ordinals: Sequence[int]) -> NDArray[np.float32]:
        """The vectors of memories, (len(ordinals), dimensions), unit length; NaN where there is none.

        A memory of several windows is their mean. Copied in pieces, so that no writer waits long.
        """
        found = np.full((len(ordinals), self._dimensions), np.nan, dtype=np.float32)
        for start in range(0, len(ordinals), _COPY_ROWS):
            with self._lock:
                self._copy(ordinals[start : start + _COPY_ROWS], found[start : start + _COPY_ROWS])
        return found

    def _copy(self, ordinals: Sequence[int], target: NDArray[np.float32]) -> None:
        rows = self._rows.view()
        places = [(at, self._places[ordinal]) for at, ordinal in enumerate(ordinals) if ordinal in self._places]
        if not places:
            return
        target[[at for at, _ in places]] = rows.gather(np.array([first for _, (first, _) in places], dtype=np.int64))
        for at, (first, windows) in places:
            if windows > 1:
                mean = rows.gather(np.arange(first, first + windows)).mean(axis=0)
                target[at] = mean / max(float(np.linalg.norm(mean)), _LEAST_NORM)

    def covered(self, ordinal: int) -> bool:
        """True when the memory has a vector."""
        return ordinal in self._places

    def apply(self, added: Sequence[tuple[int, NDArray[np.float32]]], removed: Sequence[int] = ()) -> None:
        """Takes memories out, then puts (ordinal, unit vectors (windows, dimensions) or (dimensions,)) in.

        A known ordinal is replaced. Raises ValueError for a wrong shape or a vector that is zero or not finite; then
        nothing is applied.
        """
        rows = [(ordinal, self._rows_of(vectors)) for ordinal, vectors in added]
        for piece in _pieces([vectors for _, vectors in rows]):
            _refuse_unusable(piece)
        with self._lock:
            alive = self._snapshot.alive.copy()
            for ordinal in (*removed, *(ordinal for ordinal, _ in rows)):
                self._bury(alive, ordinal)
            self._append(alive, dict(rows))  # of an ordinal given twice, the last
            if self._dead >= max(self._settings.least_dead, self._settings.dead_share * len(self._snapshot.alive)):
                self._rewrite()
            self._compress_if_due()

    def search(self, query: NDArray[np.float32], k: int, allowed: NDArray[np.bool_] | None = None) -> Hits:
        """The k nearest memories by cosine; `allowed[ordinal]` filters before the cut; past its end is out."""
        snapshot = self._snapshot
        if k < 1 or not len(snapshot.alive):
            return Hits.none()
        usable = _usable_rows(snapshot, allowed)
        if snapshot.compressed is not None and usable.mean() >= self._settings.narrow_share:
            return self._compressed_search(snapshot, snapshot.compressed, query, k, usable)
        return _exact_search(snapshot, query, k, usable)

    def scores(self, query: NDArray[np.float32], ordinals: NDArray[np.int64]) -> NDArray[np.float32]:
        """Cosine of each ordinal's best window, (n,); NaN where it has no vector."""
        with self._lock:  # the places move; a gather of some hundred rows is short
            places = [self._places.get(int(ordinal), (0, 0)) for ordinal in ordinals]
            owners = np.repeat(np.arange(len(places)), [windows for _, windows in places])
            rows = np.array([first + window for first, windows in places for window in range(windows)], dtype=np.int64)
            gathered = self._snapshot.rows.gather(rows)
        best = np.full(len(places), -np.inf, dtype=np.float32)
        np.maximum.at(best, owners, _rounded(gathered @ query))
        best[np.isneginf(best)] = np.nan
        return best

    def first_of(self, ordinal: int) -> NDArray[np.float32] | None:
        """The vector (dimensions,) of a memory's first window; None where it has none."""
        with self._lock:
            place = self._places.get(ordinal)
            if place is None:
                return None
            return self._snapshot.rows.row(place[0])

    def dense(self, query: NDArray[np.float32], size: int) -> NDArray[np.float32]:
        """Cosine by ordinal, (size,); NaN where there is no vector. A full scan: for banks up to `dense_limit`."""
        snapshot = self._snapshot
        if snapshot.pooled or snapshot.size > size or not snapshot.alive.all():
            return _dense_pooled(snapshot, query, size)
        result = np.full(size, np.nan, dtype=np.float32)
        result[snapshot.ordinals] = _rounded(snapshot.rows.products(query))
        return result

    def sample_statistics(self, query: NDArray[np.float32]) -> tuple[float, float]:
        """Mean and standard deviation of the query's cosines over a fixed sample of rows; (0, 1) without rows."""
        sample = self._sampled()
        if not len(sample):
            return 0.0, 1.0
        cosines = sample @ query
        return float(cosines.mean()), float(cosines.std())

    def _rows_of(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        rows = np.asarray(vectors, dtype=np.float32)
        rows = rows[np.newaxis] if rows.ndim == 1 else rows
        if rows.ndim != 2 or rows.shape[1] != self._dimensions or not len(rows):
            raise ValueError(f"vectors of shape {np.shape(vectors)}, expected (windows, {self._dimensions})")
        return rows

    def _bury(self, alive: NDArray[np.bool_], ordinal: int) -> None:
        first, windows = self._places.pop(ordinal, (0, 0))
        alive[first : first + windows] = False
        self._dead += windows

    def _append(self, alive: NDArray[np.bool_], rows: dict[int, NDArray[np.float32]]) -> None:
        """Publishes a snapshot with `rows` behind the old ones."""
        old = self._snapshot
        start = len(alive)
        for ordinal, vectors in rows.items():
            self._places[ordinal] = (start, len(vectors))
            start += len(vectors)
        for piece in _pieces(list(rows.values())):
            self._rows.append(piece)
        owners = np.repeat(np.fromiter(rows, dtype=np.int64, count=len(rows)), [len(each) for each in rows.values()])
        self._snapshot = replace(
            old,
            rows=self._rows.view(),
            ordinals=np.concatenate([old.ordinals, owners]),
            alive=np.concatenate([alive, np.ones(len(owners), dtype=np.bool_)]),
            size=max(old.size, max(rows, default=-1) + 1),
            pooled=len(self._places) != start - self._dead,
        )

    def _rewrite(self) -> None:
        """Live rows move together into a new matrix; the compressed index, numbered by row, is void."""
        old = self._snapshot
        live = np.flatnonzero(old.alive)
        rows = RowBlocks(self._dimensions)
        for start in range(0, len(live), _REWRITE_ROWS):
            rows.append(old.rows.gather(live[start : start + _REWRITE_ROWS]))
        ordinals = old.ordinals[live]
        places: dict[int, tuple[int, int]] = {}
        for row, ordinal in enumerate(ordinals.tolist()):
            first, windows = places.get(ordinal, (row, 0))
            places[ordinal] = (first, windows + 1)
        self._rows, self._places, self._dead, self._sample = rows, places, 0, None
        self._epoch += 1
        self._snapshot = replace(
            old, rows=rows.view(), ordinals=ordinals, alive=np.ones(len(live), dtype=np.bool_), compressed=None
        )

    def _compress_if_due(self) -> None:
        snapshot = self._snapshot
        rows = len(snapshot.alive)
        built = snapshot.compressed.rows if snapshot.compressed is not None else 0
        if (
            self._building
            or self._dimensions % DIMENSIONS_PER_CODE
            or rows <= self._settings.dense_limit
            or rows - built <= self._settings.rebuild_growth * rows
        ):
            return
        self._building = True
        epoch = self._epoch
        self._run(lambda: self._compress(snapshot.rows, epoch))

    def _compress(self, rows: RowView, epoch: int) -> None:
        try:
            compressed = CompressedRows(rows, CompressedSettings(self._settings.train_rows))
            with self._lock:
                if epoch == self._epoch:
                    self._snapshot = replace(self._snapshot, compressed=compressed)
        finally:
            self._building = False

    def _compressed_search(
        self,
        snapshot: _Snapshot,
        compressed: CompressedRows,
        query: NDArray[np.float32],
        k: int,
        usable: NDArray[np.bool_],
    ) -> Hits:
        """Fetches more by what the filter takes away; too few left over are an exact scan's business."""
        wanted = max(self._settings.rerank, 4 * k)
        fetched = int(wanted / usable.mean()) + 1
        rows = compressed.nearest(query, fetched)
        newer = np.arange(compressed.rows, len(snapshot.alive))
        rows = np.concatenate([rows, newer])
        rows = rows[usable[rows]]
        ordinals, best = _pool(snapshot.ordinals[rows], _rounded(snapshot.rows.gather(rows) @ query))
        if len(ordinals) <= k and fetched < compressed.rows:
            return _exact_search(snapshot, query, k, usable)
        hits = _best(ordinals, best, k)
        return Hits(hits.ordinals, hits.scores, hits.bound, exact=False)

    def _sampled(self) -> NDArray[np.float32]:
        """Evenly spaced live rows, drawn anew when the bank grew or shrank by a quarter."""
        snapshot, sample = self._snapshot, self._sample
        rows = len(snapshot.alive)
        if sample is None or abs(rows - self._sampled_at) > self._sampled_at // 4:
            live = np.flatnonzero(snapshot.alive)
            step = max(1, len(live) // self._settings.sample_rows)
            sample = snapshot.rows.gather(live[::step])
            self._sample, self._sampled_at = sample, rows
        return sample


def _pieces(rows: Sequence[NDArray[np.float32]]) -> Iterator[NDArray[np.float32]]:
    """(n, dimensions) matrices of some thousand texts: one by one is slow for a whole bank, all at once copies it."""
    for start in range(0, len(rows), _REWRITE_ROWS):
        yield np.concatenate(rows[start : start + _REWRITE_ROWS])


def _refuse_unusable(rows: NDArray[np.float32]) -> None:
    if not np.isfinite(rows).all() or not rows.any(axis=1).all():
        raise ValueError("a vector that is zero or not finite is never scored")


def _usable_rows(snapshot: _Snapshot, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if allowed is None:
        return snapshot.alive
    mask = np.zeros(max(snapshot.size, len(allowed)), dtype=np.bool_)
    mask[: len(allowed)] = allowed
    return snapshot.alive & mask[snapshot.ordinals]


def _exact_search(snapshot: _Snapshot, query: NDArray[np.float32], k: int, usable: NDArray[np.bool_]) -> Hits:
    pooled = _pooled(snapshot, query, usable)
    found = np.flatnonzero(~np.isneginf(pooled))
    return _best(found, pooled[found], k)


def _pooled(snapshot: _Snapshot, query: NDArray[np.float32], usable: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Best cosine by ordinal over usable rows, (size,); -inf where there is none."""
    pooled = np.full(snapshot.size, -np.inf, dtype=np.float32)
    cosines = _rounded(snapshot.rows.products(query))
    ordinals = snapshot.ordinals
    if not usable.all():
        cosines, ordinals = cosines[usable], ordinals[usable]
    if snapshot.pooled:
        np.maximum.at(pooled, ordinals, cosines)
    else:
        pooled[ordinals] = cosines
    return pooled


def _dense_pooled(snapshot: _Snapshot, query: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    pooled = _pooled(snapshot, query, snapshot.alive)[:size]
    pooled[np.isneginf(pooled)] = np.nan
    result = np.full(size, np.nan, dtype=np.float32)
    result[: len(pooled)] = pooled
    return result


def _pool(ordinals: NDArray[np.int64], scores: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    distinct, places = np.unique(ordinals, return_inverse=True)
    best = np.full(len(distinct), -np.inf, dtype=np.float32)
    np.maximum.at(best, places, scores)
    return distinct, best


def _best(ordinals: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> Hits:
    """The k best, equal scores by ordinal; the bound is the best score that was cut."""
    if len(scores) > k:
        least = np.partition(scores, len(scores) - k - 1)[len(scores) - k - 1]
        near = np.flatnonzero(scores >= least)
        ordinals, scores = ordinals[near], scores[near]
    order = np.lexsort((ordinals, -scores))
    bound = float(scores[order[k]]) if len(order) > k else EXHAUSTED
    return Hits(ordinals[order[:k]].astype(np.int64), scores[order[:k]], bound)


def _rounded(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    """In place, to multiples of 2**-20."""
    cosines *= np.float32(_SCORE_STEPS)
    np.rint(cosines, out=cosines)
    cosines *= np.float32(1.0 / _SCORE_STEPS)  # a power of two: exact
    return cosines
