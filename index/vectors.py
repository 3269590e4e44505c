"""Here is a query vector: which memories are nearest? Cosine over the bank's vectors, several windows a memory.

A row is one window; a memory scores as its best window (max-pooling). Rows only grow: an edited or removed memory
leaves dead rows behind a bitmap at once, and the matrix is rewritten when a share of it is dead. Readers take a
snapshot and never see half an apply. From a few thousand rows on a compressed copy is kept: `near` scans it, computes
the exact cosines of what looks nearest, and says how near any other memory can be. `search` reads all rows up to some
ten thousand; above that the copy proposes, exact cosines decide, and the answer says `exact=False`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from index.compressed import CompressedRows
from index.hits import Hits
from index.kept_codes import KeptCodes, StoredCodes
from index.kept_rows import KeptRows
from index.moments import Moments
from index.near import Near
from index.row_blocks import MOVED_ROWS, RowBlocks
from index.row_checks import PIECE_ROWS, pieces, refuse_unusable, rows_of, spread
from index.row_sample import RowSample
from index.scan_recall import ScanState, scan_recall
from index.scanning import (
    Snapshot,
    compressed_search,
    dense_pooled,
    exact_search,
    fingerprints,
    kept_codes,
    near,
    rounded,
    statistics,
    usable_rows,
)
from index.sidecar import Mapped
from index.vector_settings import VectorSettings

__all__ = ["ScanState", "VectorSettings", "Vectors"]

_COPY_ROWS = 1_024
_LEAST_NORM = 1e-12
_NO_ROW = -1
_NOWHERE = (_NO_ROW, 0)


def _in_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="vectors-compress", daemon=True).start()


class Vectors:
    """The vectors of one bank under one model."""

    def __init__(
        self,
        dimensions: int,
        settings: VectorSettings | None = None,
        run: Callable[[Callable[[], None]], None] = _in_thread,
        stored: StoredCodes | None = None,
    ) -> None:
        """`run` executes a long build beside the caller; `stored` has the codes of an earlier process."""
        self._dimensions = dimensions
        self._settings = settings if settings is not None else VectorSettings()
        self._run = run
        self._stored = stored
        self._lock = threading.RLock()  # a `run` that works at once comes back into it
        self._rows = RowBlocks(dimensions)
        self._places: dict[int, tuple[int, int]] = {}  # ordinal → first row, windows
        self._row_of = np.full(1, _NO_ROW, dtype=np.int64)  # by ordinal
        self._dead = 0
        self._shared = 0  # live rows of memories of several windows
        self._epoch = 0  # moves when rows are renumbered: a compressed index of an older epoch is void
        self._building = False
        self._sample = RowSample(self._settings.sample_rows)
        nothing = np.empty(0, dtype=np.int64)
        self._snapshot = Snapshot(
            self._rows.view(), nothing, nothing.astype(np.bool_), 0, nothing.astype(np.bool_), False, 0, 0
        )

    def __len__(self) -> int:
        """Memories that have a vector."""
        return len(self._places)

    @property
    def compressed(self) -> bool:
        """True while searches start from a compressed scan."""
        return self._compressed(self._snapshot) is not None

    def _compressed(self, snapshot: Snapshot) -> CompressedRows | None:
        return snapshot.compressed if len(snapshot.alive) > self._settings.dense_limit else None

    @property
    def scan(self) -> ScanState:
        """How the rows are searched now."""
        compressed = self._snapshot.compressed
        if compressed is None:
            return ScanState(0, 0, None)
        return ScanState(compressed.rows, compressed.trained_of, compressed.recall)

    def codes(self) -> KeptCodes | None:
        """Those of the live rows of the compressed copy, for the next process; None without a copy, or where it was
        replaced just now. A text that changes meanwhile has buried its rows before its key is another.
        """
        before = self._snapshot
        if before.compressed is None or self._stored is None:
            return None
        known = fingerprints(before, self._stored)
        return kept_codes(self._snapshot, before.compressed, known)

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
        rows = [(ordinal, rows_of(vectors, self._dimensions)) for ordinal, vectors in added]
        for piece in pieces([vectors for _, vectors in rows]):
            refuse_unusable(piece)
        with self._lock:
            alive = self._snapshot.alive.copy()
            died = [self._bury(alive, ordinal) for ordinal in (*removed, *(ordinal for ordinal, _ in rows))]
            self._append(alive, dict(rows), self._moments_without(died))  # of an ordinal given twice, the last
            if self._dead >= max(self._settings.least_dead, self._settings.dead_share * len(self._snapshot.alive)):
                self._rewrite()
            self._compress_if_due()

    def adopt(self, mapped: Mapped, ordinals: NDArray[np.int64]) -> None:
        """The vectors of a bank as they lie in a file; `mapped` has each of `ordinals`. Nothing was applied before.

        Few rows, and rows of which many are nobody's, are copied.
        """
        first, windows = mapped.first, mapped.windows
        rows = spread(first, windows)
        with self._lock:
            if len(mapped.rows) < MOVED_ROWS or len(rows) < (1.0 - self._settings.dead_share) * len(mapped.rows):
                for start in range(0, len(rows), PIECE_ROWS):
                    self._rows.append(mapped.rows[rows[start : start + PIECE_ROWS]])
                first, rows = np.cumsum(windows) - windows, np.arange(len(rows))
            else:
                self._rows.adopt(mapped.rows)
            self._places = dict(zip(ordinals.tolist(), zip(first.tolist(), windows.tolist(), strict=True), strict=True))
            self._begin(ordinals, first, windows, rows)
            self._compress_if_due()

    def _begin(
        self, ordinals: NDArray[np.int64], first: NDArray[np.int64], windows: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> None:
        """Publishes the first snapshot: `rows` are those of the ordinals, one after the other; others are nobody's."""
        view, size = self._rows.view(), int(ordinals.max(initial=-1)) + 1
        owners, alive, shared = (
            np.zeros(view.rows, np.int64),
            np.zeros(view.rows, np.bool_),
            np.zeros(view.rows, np.bool_),
        )
        owners[rows], alive[rows], shared[rows] = np.repeat(ordinals, windows), True, np.repeat(windows > 1, windows)
        self._dead, self._shared = view.rows - len(rows), int(shared.sum())
        self._row_of = np.full(max(1, size), _NO_ROW, dtype=np.int64)
        self._row_of[ordinals] = first + windows - 1
        self._snapshot = Snapshot(view, owners, alive, size, shared, self._shared > 0, len(ordinals), self._shared)

    def search(self, query: NDArray[np.float32], k: int, allowed: NDArray[np.bool_] | None = None) -> Hits:
        """The k nearest memories by cosine; `allowed[ordinal]` filters before the cut; past its end is out."""
        snapshot = self._snapshot
        if k < 1 or not len(snapshot.alive):
            return Hits.none()
        usable = usable_rows(snapshot, allowed)
        compressed = self._compressed(snapshot)
        if compressed is not None and usable.mean() >= self._settings.narrow_share:
            return compressed_search(snapshot, compressed, query, k, usable, self._settings.rerank)
        return exact_search(snapshot, query, k, usable)

    def near(self, query: NDArray[np.float32], count: int, listed: int) -> Near | None:
        """About the `count` nearest memories, bounds for as many more as make `listed`, and how near any other can be;
        None where only another scan can tell.

        That is a small bank, and one of many texts of several windows.
        """
        snapshot, settings = self._snapshot, self._settings
        if snapshot.compressed is None or snapshot.shared_rows > settings.most_shared:
            return None
        fine = len(snapshot.alive) <= settings.fine_rows
        deviations = settings.error_deviations if fine else settings.coarse_deviations
        return near(snapshot, snapshot.compressed, query, count, listed, deviations, exact=fine)

    def scores(self, query: NDArray[np.float32], ordinals: NDArray[np.int64]) -> NDArray[np.float32]:
        """Cosine of each ordinal's best window, (n,); NaN where it has no vector."""
        with self._lock:  # the places move; a gather of some hundred rows is short
            best, rows = self._scores_of_one_window(query, ordinals)
            several = np.flatnonzero(self._snapshot.shared[rows] & (rows >= 0)) if self._snapshot.pooled else ()
            for at in several:
                first, windows = self._places[int(ordinals[at])]
                best[at] = rounded(self._snapshot.rows.gather(np.arange(first, first + windows)) @ query).max()
        return best

    def _scores_of_one_window(
        self, query: NDArray[np.float32], ordinals: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """By the last window of each, with its row."""
        known = self._row_of
        rows = np.where(ordinals < len(known), known[np.minimum(ordinals, len(known) - 1)], _NO_ROW)
        held = np.flatnonzero(rows >= 0)
        found = np.full(len(ordinals), np.nan, dtype=np.float32)
        found[held] = rounded(self._snapshot.rows.gather(rows[held]) @ query)
        return found, rows

    def _place_rows(self, ordinals: NDArray[np.int64], first: int) -> None:
        """Rows from `first` on belong to `ordinals`; of several windows the last."""
        if ordinals.size and int(ordinals.max()) >= len(self._row_of):
            grown = np.full(2 * int(ordinals.max()) + 1, _NO_ROW, dtype=np.int64)
            grown[: len(self._row_of)] = self._row_of
            self._row_of = grown
        self._row_of[ordinals] = np.arange(first, first + len(ordinals))

    def firsts_of(self, ordinals: Sequence[int]) -> NDArray[np.float32]:
        """The vectors (len(ordinals), dimensions) of the first windows of memories; NaN where one has none."""
        with self._lock:
            rows = np.array([self._places.get(ordinal, _NOWHERE)[0] for ordinal in ordinals], np.int64)
            held = (rows >= 0).nonzero()[0]
            if len(held) == len(rows):
                return self._snapshot.rows.gather(rows)
            found = np.full((len(rows), self._dimensions), np.nan, np.float32)
            found[held] = self._snapshot.rows.gather(rows[held])
        return found

    def dense(self, query: NDArray[np.float32], size: int) -> NDArray[np.float32]:
        """Cosine by ordinal, (size,); NaN where there is no vector. A full scan: for banks up to `dense_limit`."""
        snapshot = self._snapshot
        if snapshot.pooled or snapshot.size > size or not snapshot.alive.all():
            return dense_pooled(snapshot, query, size)
        result = np.full(size, np.nan, dtype=np.float32)
        result[snapshot.ordinals] = rounded(snapshot.rows.products(query))
        return result

    def statistics(self, query: NDArray[np.float32]) -> tuple[float, float]:
        """Mean and standard deviation of the query's cosines over all memories, as `near` tells them where it answers;
        elsewhere over a fixed sample of rows, and (0, 1) without any.
        """
        snapshot = self._snapshot
        if snapshot.compressed is not None and snapshot.shared_rows <= self._settings.most_shared:
            return statistics(snapshot, snapshot.compressed, query)
        sample = self._sample.of(snapshot.rows, snapshot.alive)
        if not len(sample):
            return 0.0, 1.0
        cosines = sample @ query
        return float(cosines.mean()), float(cosines.std())

    def _bury(self, alive: NDArray[np.bool_], ordinal: int) -> tuple[int, int]:
        """First row and windows of the memory, which is in no row from now on."""
        first, windows = self._places.pop(ordinal, (0, 0))
        alive[first : first + windows] = False
        if windows:
            self._row_of[ordinal] = _NO_ROW
        self._dead += windows
        self._shared -= windows if windows > 1 else 0
        return first, windows

    def _moments_without(self, died: Sequence[tuple[int, int]]) -> Moments | None:
        """Of the live rows that the compressed copy counts, without these (first row, windows)."""
        snapshot = self._snapshot
        compressed, moments = snapshot.compressed, snapshot.moments
        if compressed is None or moments is None:
            return moments
        rows = [row for row, windows in died if windows == 1 and row < compressed.rows and compressed.counted[row]]
        return moments - Moments.of(snapshot.rows.gather(np.array(rows, np.int64))) if rows else moments

    def _append(self, alive: NDArray[np.bool_], rows: dict[int, NDArray[np.float32]], moments: Moments | None) -> None:
        """Publishes a snapshot with `rows` behind the old ones."""
        old = self._snapshot
        start = len(alive)
        for ordinal, vectors in rows.items():
            self._places[ordinal] = (start, len(vectors))
            start += len(vectors)
        for piece in pieces(list(rows.values())):
            self._rows.append(piece)
        counts = np.array([len(each) for each in rows.values()], dtype=np.int64)
        owners = np.repeat(np.fromiter(rows, dtype=np.int64, count=len(rows)), counts)
        self._shared += int(counts[counts > 1].sum())
        self._place_rows(owners, len(alive))
        self._snapshot = replace(
            old,
            rows=self._rows.view(),
            ordinals=np.concatenate([old.ordinals, owners]),
            alive=np.concatenate([alive, np.ones(len(owners), dtype=np.bool_)]),
            shared=np.concatenate([old.shared, np.repeat(counts > 1, counts)]),
            size=max(old.size, max(rows, default=-1) + 1),
            pooled=len(self._places) != start - self._dead,
            memories=len(self._places),
            shared_rows=self._shared,
            moments=moments,
        )

    def _rewrite(self) -> None:
        """Live rows move together into a new matrix; the compressed index, numbered by row, is void."""
        old = self._snapshot
        live = np.flatnonzero(old.alive)
        rows = RowBlocks(self._dimensions)
        for start in range(0, len(live), PIECE_ROWS):
            rows.append(old.rows.gather(live[start : start + PIECE_ROWS]))
        ordinals = old.ordinals[live]
        places: dict[int, tuple[int, int]] = {}
        for row, ordinal in enumerate(ordinals.tolist()):
            first, windows = places.get(ordinal, (row, 0))
            places[ordinal] = (first, windows + 1)
        self._rows, self._places, self._dead = rows, places, 0
        self._sample = RowSample(self._settings.sample_rows)
        self._place_rows(ordinals, 0)
        self._epoch += 1
        self._snapshot = replace(
            old,
            rows=rows.view(),
            ordinals=ordinals,
            shared=old.shared[live],
            alive=np.ones(len(live), dtype=np.bool_),
            compressed=None,
            moments=None,
        )

    def _compress_if_due(self) -> None:
        snapshot, settings = self._snapshot, self._settings
        rows = len(snapshot.alive)
        held = snapshot.compressed.rows if snapshot.compressed is not None else 0
        if (
            self._building
            or self._dimensions % 2
            or rows < settings.compressed_from
            or rows - held <= settings.extend_after(rows)
        ):
            return
        self._building = True
        epoch = self._epoch
        self._run(lambda: self._compress(snapshot, epoch))

    def _compress(self, snapshot: Snapshot, epoch: int) -> None:
        try:
            counted = snapshot.alive & ~snapshot.shared
            codes, kept = self._settings.of_codes(), self._kept(snapshot)
            compressed = CompressedRows(snapshot.rows, counted, codes, snapshot.compressed, snapshot.moments, kept)
            with self._lock:
                if epoch == self._epoch:
                    self._publish(compressed)
            if compressed.recall is None:
                compressed.recall = scan_recall(snapshot.rows, snapshot.alive, compressed, self._settings.rerank)
        finally:
            self._building = False
        with self._lock:
            self._compress_if_due()  # the bank may have grown past a limit meanwhile

    def _kept(self, snapshot: Snapshot) -> KeptRows | None:
        """What an earlier process knew of these rows, unless there is a copy already."""
        if self._stored is None or snapshot.compressed is not None:
            return None
        codes = self._stored.load()
        return None if codes is None else KeptRows.of(codes, fingerprints(snapshot, self._stored))

    def _publish(self, compressed: CompressedRows) -> None:
        """The new copy, its moments without the rows that died while it was made."""
        snapshot = self._snapshot
        died = np.flatnonzero(compressed.counted & ~snapshot.alive[: compressed.rows])
        moments = compressed.moments
        if died.size:
            moments -= Moments.of(snapshot.rows.gather(died))
        self._snapshot = replace(snapshot, compressed=compressed, moments=moments)
