"""The lexical leg of one bank: BM25 over a tail in RAM and a snapshot of immutable segments.

Fresh documents are in the tail, exact and visible at once. A flush moves a tail that has grown large into a segment,
merges segments of one size and those with many dead, and leaves a checkpoint on disk. Scores depend on the live
documents alone: not on what was deleted, nor on where a document lies.

Locks: ``_flushing`` (one flush or rebuild at a time) before ``_changing`` (one change at a time) before ``_lock`` (held
for microseconds, to change what searches see or to take a view of it). A search computes on its view without a lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.analyzer import Analyzer
from index.bm25 import Statistics, weigh
from index.columns import Document, fingerprint, gather
from index.hits import Hits, best
from index.lexical_settings import LexicalSettings
from index.postings import Matches, PostingsView
from index.segments import Asked, Segment, SegmentSettings, passes
from index.snapshot import Snapshot
from index.tail import Tail
from index.words import Words

__all__ = ["Lexical", "LexicalSettings"]

_NO_ORDINALS, _NO_SCORES = np.empty(0, np.int64), np.empty(0)
_SPARSE_ROWS = 256
"""Dead rows that are not worth compacting a tail for."""


@dataclass(frozen=True, slots=True)
class _View:
    """What one search sees: a moment between two changes."""

    statistics: Statistics
    tail: PostingsView
    segments: tuple[tuple[Segment, Asked], ...]


class Lexical:
    """Many searchers, one applier, a flush in the background. See the module."""

    def __init__(
        self,
        analyzer: Analyzer,
        settings: LexicalSettings | None = None,
        folder: Path | None = None,
        segments: SegmentSettings | None = None,
    ) -> None:
        """Without a ``folder`` nothing is written: segments live in RAM and every start is a rebuild."""
        self._analyzer = analyzer
        self._settings = settings or LexicalSettings()
        self._snapshot = Snapshot(folder, analyzer.identity, segments or SegmentSettings())
        self._flushing, self._changing, self._lock = threading.Lock(), threading.Lock(), threading.Lock()
        self._tail = Tail()
        self._segments: tuple[Segment, ...] = ()
        self._version = 0
        self._moving = False
        self.applied_seq = 0
        self.unflushed = 0
        """Documents added or removed since the last checkpoint: what a restart has to apply again."""

    def __len__(self) -> int:
        with self._lock:
            return self._statistics().documents

    def open(self) -> int:
        """Load the snapshot; the sequence number it holds, 0 when there is none that can be trusted."""
        loaded = self._snapshot.load()
        with self._lock:
            self._tail, self._segments = loaded.tail, loaded.segments
            self.applied_seq, self.unflushed = loaded.applied_seq, 0
        return self.applied_seq

    def apply(self, seq: int, added: Sequence[tuple[int, str]], removed: Sequence[int]) -> None:
        """Remove, then add documents (ordinal, text) at once; an ordinal that is known is replaced. Idempotent."""
        documents = [Document.of(ordinal, self._analyzer.tokens(text)) for ordinal, text in added]
        with self._changing, self._lock:
            self._version += 1
            for ordinal in removed:
                self._bury(ordinal)
            for document in documents:
                self._bury(document.ordinal)
                self._tail.add(document)
            self.applied_seq = max(self.applied_seq, seq)
            self.unflushed += len(documents) + len(removed)
            self._compact_tail()

    def search(self, terms: Mapping[str, int], k: int, allowed: NDArray[np.bool_] | None = None) -> Hits:
        """The ``k`` best documents among those ``allowed`` by ordinal; an ordinal beyond the mask is not allowed."""
        with self._lock:
            view = self._view(terms)
        found = [_search_tail(view, allowed)]
        for segment, asked in view.segments:
            part = segment.search(asked, k, allowed)
            found.append(Hits(part.ordinals, part.scores.astype(np.float32), part.rest))
        if len(found) == 1:
            return best(found[0].ordinals, found[0].scores, k, 0.0)
        ordinals = np.concatenate([hits.ordinals for hits in found])
        return best(ordinals, np.concatenate([hits.scores for hits in found]), k, max(hits.bound for hits in found))

    def scores(self, terms: Mapping[str, int], ordinals: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """Exact BM25 of these documents, shape (len(ordinals),); 0.0 for no match or no such document."""
        wanted = np.asarray(ordinals, np.int64)
        with self._lock:
            view = self._view(terms)
            rows = self._tail.rows_of(wanted.tolist())
        result = np.zeros(len(wanted))
        here = rows >= 0
        result[here] = view.tail.bm25(view.statistics)[rows[here]]
        for segment, asked in view.segments:
            rows = segment.rows_of(wanted, asked.version)
            here = rows >= 0
            result[here] = segment.scores(asked, rows[here])
        return result.astype(np.float32)

    def dense(self, terms: Mapping[str, int], size: int) -> Words:
        """Every document with an ordinal below ``size``. Takes time in proportion to the postings of the terms."""
        with self._lock:
            view = self._view(terms)
        parts = (view.tail, *(segment.view(asked) for segment, asked in view.segments))
        return _words([_below(size, part.matches(view.statistics)) for part in parts if len(part.postings)], size)

    def document_frequency(self, term: str) -> int:
        """Live documents with an analysed term."""
        with self._lock:
            return self._document_frequencies((term,), self._ids((term,)))[0]

    def flush(self) -> None:
        """Move, merge and checkpoint as the settings say. Searches and changes go on meanwhile.

        Raises ``OSError`` or ``ValueError`` when the disk refuses; what is searched stays whole, the old checkpoint
        stays in force, and the next flush tries again.
        """
        with self._flushing:
            if len(self._tail) > self._settings.tail_documents:
                self._move_tail()
            self._merge()
            self._checkpoint()

    def rebuild(self, documents: Iterable[tuple[int, str]], seq: int) -> None:
        """Forget everything and index ``documents`` instead. Searches see the old until the new is whole."""
        with self._flushing, self._changing:
            segments: list[Segment] = []
            rest: dict[int, Document] = {}
            for ordinal, text in documents:
                rest[ordinal] = Document.of(ordinal, self._analyzer.tokens(text))
                if len(rest) >= self._settings.fan_out * self._settings.tail_documents:
                    self._grow(segments, rest)
            if len(rest) > self._settings.tail_documents:
                self._grow(segments, rest)
            tail = Tail(rest.values())
            with self._lock:
                self._version += 1
                for segment in segments:
                    segment.bury_all(rest, self._version)
                self._tail, self._segments = tail, tuple(segments)
                self.applied_seq, self.unflushed = seq, self._statistics().documents

    def close(self) -> None:
        """Wait for a running flush and let go of everything. What was not flushed is applied again after ``open``."""
        with self._flushing, self._changing, self._lock:
            self._tail, self._segments = Tail(), ()

    def _view(self, counts: Mapping[str, int]) -> _View:
        terms, statistics = tuple(sorted(counts)), self._statistics()
        ids = self._ids(terms)
        frequencies = self._document_frequencies(terms, ids)
        weighted = weigh(counts, terms, frequencies, statistics)
        asked = [Asked(weighted, one, statistics, self._version) for one in ids]
        return _View(statistics, self._tail.view(weighted), tuple(zip(self._segments, asked, strict=True)))

    def _ids(self, terms: Sequence[str]) -> list[NDArray[np.int64]]:
        """The ids of the terms in each segment."""
        if not self._segments:
            return []
        fingerprints = np.array([fingerprint(term) for term in terms], np.uint64)
        return [segment.columns.ids_of(fingerprints) for segment in self._segments]

    def _document_frequencies(self, terms: Sequence[str], ids: list[NDArray[np.int64]]) -> list[int]:
        in_tail = map(self._tail.document_frequency, terms)
        in_segments = [segment.document_frequencies(known) for segment, known in zip(self._segments, ids, strict=True)]
        return [sum(parts) for parts in zip(in_tail, *in_segments, strict=True)]

    def _statistics(self) -> Statistics:
        documents = len(self._tail) + sum(map(len, self._segments))
        return Statistics(documents, self._tail.tokens + sum(segment.tokens for segment in self._segments))

    def _bury(self, ordinal: int) -> None:
        if not self._tail.remove(ordinal):
            for segment in self._segments:
                if segment.bury(ordinal, self._version):
                    return

    def _compact_tail(self) -> None:
        dead = self._tail.rows - len(self._tail)
        if dead > max(_SPARSE_ROWS, len(self._tail)) and not self._moving:
            self._tail = Tail(self._tail.live())

    def _grow(self, segments: list[Segment], documents: dict[int, Document]) -> None:
        for segment in segments:
            segment.bury_all(documents, self._version)
        segments.append(self._snapshot.build(gather(list(documents.values()))))
        documents.clear()

    def _move_tail(self) -> None:
        with self._lock:
            tail, rows, documents = self._tail, self._tail.rows, self._tail.live()
            self._moving = True
        try:
            segment = self._snapshot.build(gather(documents))
            with self._lock:
                self._version += 1
                for document in documents:
                    if not tail.is_current(document):
                        segment.bury(document.ordinal, self._version)
                self._tail, self._segments = Tail(tail.live(rows)), (*self._segments, segment)
        finally:
            self._moving = False

    def _merge(self) -> None:
        while group := self._lost() or due(self._segments, self._settings):
            with self._lock:
                alive = [segment.alive() for segment in group]
            successors = self._snapshot.merge(group, alive)
            with self._lock:
                self._version += 1
                for segment, lived in zip(group, alive, strict=True):
                    died = segment.columns.ordinals[lived & ~segment.alive()]
                    for successor in successors:
                        successor.bury_all(died.tolist(), self._version)
                self._segments = (*(s for s in self._segments if s not in group), *successors)

    def _lost(self) -> list[Segment]:
        """A segment whose files were deleted under us: its mapped columns are still whole, so it is written anew."""
        return [segment for segment in self._segments if not self._snapshot.holds(segment)][:1]

    def _checkpoint(self) -> None:
        if not self._snapshot.kept:
            return
        with self._lock:
            documents, seq, unflushed = self._tail.live(), self.applied_seq, self.unflushed
            dead = [segment.dead_ordinals() for segment in self._segments]
        self._snapshot.save(gather(documents), self._segments, dead, seq)
        with self._lock:
            self.unflushed -= unflushed


def due(segments: Sequence[Segment], settings: LexicalSettings) -> list[Segment]:
    """The segments to merge next: one with many dead, or ``fan_out`` of about one size; none when all is well."""
    tiers: dict[int, list[Segment]] = {}
    for segment in segments:
        if segment.dead > settings.dead_share * len(segment.columns):
            return [segment]
        tiers.setdefault(_tier(len(segment), settings), []).append(segment)
    return next((tier for _, tier in sorted(tiers.items()) if len(tier) >= settings.fan_out), [])


def _tier(documents: int, settings: LexicalSettings) -> int:
    tier, limit = 0, settings.tail_documents * settings.fan_out
    while documents > limit:
        tier, limit = tier + 1, limit * settings.fan_out
    return tier


def _words(found: Sequence[Matches], size: int) -> Words:
    """In the order of the ordinals: that of a segment's rows, and mostly that of the tail's."""
    if len(found) == 1:
        ordinals, bm25, cover = found[0].ordinals, found[0].bm25, found[0].cover
    else:
        ordinals = np.concatenate([_NO_ORDINALS, *(part.ordinals for part in found)])
        bm25 = np.concatenate([_NO_SCORES, *(part.bm25 for part in found)])
        cover = np.concatenate([_NO_SCORES, *(part.cover for part in found)])
    if (ordinals[1:] < ordinals[:-1]).any():
        order = ordinals.argsort(kind="stable")  # runs that ascend are merged fast
        return Words(ordinals[order], bm25[order], cover[order], size)
    return Words(ordinals, bm25, cover, size)


def _below(size: int, found: Matches) -> Matches:
    here = found.ordinals < size
    return found if here.all() else Matches(found.ordinals[here], found.bm25[here], found.cover[here])


def _search_tail(view: _View, allowed: NDArray[np.bool_] | None) -> Hits:
    scores = view.tail.bm25(view.statistics).astype(np.float32)
    rows = np.flatnonzero((scores > 0.0) & view.tail.alive)
    if allowed is not None:
        rows = rows[passes(allowed, view.tail.ordinals[rows])]
    return Hits(view.tail.ordinals[rows], scores[rows], 0.0)
