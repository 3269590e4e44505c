"""An immutable part of a bank: a Tantivy index that proposes, and columns that score.

Tantivy finds the best candidates of millions of documents (block-max WAND) but scores them by its own statistics: of
one index, of all documents ever put in. The columns of the same documents hold what the exact score needs, so what a
segment answers depends on the live documents of the bank alone, and moving documents from the tail into a segment
changes no score. Nothing is ever deleted from the Tantivy index: the dead are marked here with the version at which
they died, so that a search which began before still sees the whole of what it began with.

    segment folder:  tantivy/…   fields ``terms`` (white space, with frequencies) and ``row`` (position in the columns)
                     columns/…   see ``index.columns``
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tantivy
from numpy.typing import NDArray

from index.bm25 import K1, LENGTHS, B, Statistics, Weighted, contributions, norms_of
from index.columns import Columns, Document, spans
from index.postings import PostingsView

_ALIVE = np.iinfo(np.int64).max
_ROUNDING = 1e-5
"""Tantivy adds in single precision: its scores are right to about six digits."""


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("row", fast=True)
    return builder.build()


_SCHEMA = _schema()


@dataclass(frozen=True, slots=True)
class SegmentSettings:
    """How segments are written and searched."""

    writer_heap_bytes: int = 64_000_000
    dense_postings: int = 40_000
    """Queries whose terms have no more postings than this are scored in full here, without asking Tantivy."""
    dense_rows: int = 250_000
    """Segments with more rows than this always ask Tantivy."""
    overfetch: float = 1.25
    """Candidates asked of Tantivy, in multiples of k, before the dead and the filtered are left out."""
    spare: int = 16
    """Candidates beyond that."""
    deepen: int = 4
    """By how much each further round asks for more."""
    rounds: int = 6
    """Then the answer is given with the bound it has."""
    scan_ratio: int = 4
    """When only so many times the wanted candidates pass the filter, they are scored one and all instead."""


@dataclass(frozen=True, slots=True)
class Found:
    """Matches of one segment: ordinals and exact scores side by side, unsorted; the rest scores at most ``rest``."""

    ordinals: NDArray[np.int64]
    scores: NDArray[np.float64]
    rest: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as one segment reads it."""

    weighted: Weighted
    ids: NDArray[np.int64]
    """Of each term; -1 where the segment does not hold it."""
    statistics: Statistics
    version: int


@dataclass(frozen=True, slots=True)
class _Search:
    """What the rounds of one search share."""

    asked: Asked
    proposal: tantivy.Query
    k: int
    allowed: NDArray[np.bool_] | None


class Segment:
    """Documents that no longer change, except that they die. The caller serialises ``bury``."""

    def __init__(self, columns: Columns, index: tantivy.Index, settings: SegmentSettings, folder: Path | None) -> None:
        self.columns = columns
        self.folder = folder
        self._settings = settings
        self._searcher = index.searcher()
        self._norms = norms_of(columns.lengths)
        self._died_at = np.full(len(columns), _ALIVE, np.int64)
        self._everyone = np.ones(len(columns), np.bool_)
        self._dead_frequency: dict[int, int] = {}
        self._frequency = np.diff(columns.firsts)
        self._total = Statistics(len(columns), int(columns.lengths.sum()))
        self._longest = float(LENGTHS[self._norms.max()]) if len(columns) else 0.0
        self.tokens = self._total.tokens
        """The lengths of all live documents together."""
        self.dead = 0

    def __len__(self) -> int:
        return len(self.columns) - self.dead

    @property
    def name(self) -> str:
        """The name of its folder; empty for one in RAM."""
        return self.folder.name if self.folder else ""

    def alive(self, version: int = _ALIVE - 1) -> NDArray[np.bool_]:
        """By row: who had not died at that version."""
        return self._died_at > version

    def dead_ordinals(self) -> NDArray[np.int64]:
        """Who died, ascending."""
        return self.columns.ordinals[~self.alive()]

    def document_frequencies(self, ids: NDArray[np.int64]) -> list[int]:
        """Live documents with each term of ``columns.ids_of``."""
        dead = self._dead_frequency
        return [int(self._frequency[term]) - dead.get(term, 0) if term >= 0 else 0 for term in ids.tolist()]

    def bury(self, ordinal: int, version: int) -> bool:
        """Mark a document dead from that version on; False where no live one has the ordinal."""
        row = int(np.searchsorted(self.columns.ordinals, ordinal))
        if row == len(self.columns) or self.columns.ordinals[row] != ordinal or self._died_at[row] != _ALIVE:
            return False
        self._died_at[row] = version
        self.dead += 1
        self.tokens -= int(self.columns.lengths[row])
        for number in self.columns.ids[self.columns.starts[row] : self.columns.starts[row + 1]].tolist():
            self._dead_frequency[number] = self._dead_frequency.get(number, 0) + 1
        return True

    def bury_all(self, ordinals: Iterable[int], version: int) -> None:
        """Mark many dead; those who are no live documents of this segment are left out."""
        for ordinal in ordinals:
            self.bury(ordinal, version)

    def rows_of(self, ordinals: NDArray[np.int64], version: int) -> NDArray[np.int64]:
        """The row of each ordinal that was alive at that version, -1 for none."""
        if not len(self.columns):
            return np.full(len(ordinals), -1, np.int64)
        rows = np.searchsorted(self.columns.ordinals, ordinals)
        rows[rows == len(self.columns)] = 0
        here = (self.columns.ordinals[rows] == ordinals) & (self._died_at[rows] > version)
        return np.where(here, rows, -1)

    def scores(self, asked: Asked, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Exact BM25 of these rows, shape (rows,); 0.0 where nothing matches."""
        columns = self.columns
        first = columns.starts[rows]
        sizes = columns.starts[rows + 1] - first
        taken = spans(first, sizes)
        places = self._places(asked.ids)[columns.ids[taken]]
        matching = np.flatnonzero(places)
        matching = matching[np.argsort(places[matching], kind="stable")]
        documents = np.repeat(np.arange(len(rows)), sizes)[matching]
        weights = asked.weighted.weights[places[matching] - 1]
        frequencies = columns.frequencies[taken[matching]].astype(np.float64)
        saturation = asked.statistics.saturation()[self._norms[rows[documents]]]
        added = contributions(weights, frequencies, saturation)
        scores: NDArray[np.float64] = np.bincount(documents, added, len(rows)).astype(np.float64, copy=False)
        return scores

    def view(self, asked: Asked) -> PostingsView:
        """The postings of all rows for these terms."""
        firsts, postings = self.columns.firsts, self.columns.inverted
        found = [
            postings[firsts[term] : firsts[term + 1]] if term >= 0 else postings[:0] for term in asked.ids.tolist()
        ]
        return PostingsView(
            weighted=asked.weighted,
            postings=np.concatenate((postings[:0], *found)),
            sizes=list(map(len, found)),
            ordinals=self.columns.ordinals,
            norms=self._norms,
            alive=self.alive(asked.version) if self.dead else self._everyone,
        )

    def _places(self, ids: NDArray[np.int64]) -> NDArray[np.uint16]:
        """By term id: its place in the query counted from 1, 0 for terms that are not asked for."""
        places = np.zeros(len(self.columns.fingerprints), np.uint16)
        held = np.flatnonzero(ids >= 0)
        places[ids[held]] = held + 1
        return places

    def search(self, asked: Asked, k: int, allowed: NDArray[np.bool_] | None) -> Found:
        """At least the ``k`` best live and allowed documents where there are as many."""
        if not (asked.ids >= 0).any():
            return self._found(np.empty(0, np.int64), np.empty(0), 0.0)
        if len(self.columns) <= self._settings.dense_rows and self._postings(asked) <= self._settings.dense_postings:
            return self._all(asked, allowed)
        return self._best(_Search(asked, self._proposal(asked), max(k, 1), allowed))

    def _postings(self, asked: Asked) -> int:
        return int(self._frequency[asked.ids[asked.ids >= 0]].sum())

    def _all(self, asked: Asked, allowed: NDArray[np.bool_] | None) -> Found:
        view = self.view(asked)
        scores = view.bm25(asked.statistics)
        rows = np.flatnonzero((scores > 0.0) & view.alive)
        if allowed is not None:
            rows = rows[passes(allowed, self.columns.ordinals[rows])]
        return self._found(rows, scores[rows], 0.0)

    def _best(self, search: _Search) -> Found:
        k = search.k
        limit, passing = int(k * self._settings.overfetch) + self._settings.spare, len(self.columns)
        for _ in range(self._settings.rounds):
            if passing <= limit:
                return self._scan(search)
            found = self._propose(search, limit)
            if not found.rest or _kth(found.scores, k) >= found.rest * (1.0 - 2 * _ROUNDING):
                break
            limit *= self._settings.deepen
            passing = self._count_passing(search) // self._settings.scan_ratio
        return found

    def _propose(self, search: _Search, limit: int) -> Found:
        hits = self._searcher.search(search.proposal, limit, count=False).hits
        rows = np.array(self._searcher.fast_field_values("row", [address for _, address in hits]), np.int64)
        rows = rows[self._passes(search, rows)]
        exhausted = len(hits) < limit
        rest = 0.0 if exhausted else hits[-1][0] * self._drift(search.asked.statistics) * (1.0 + _ROUNDING)
        return self._found(rows, self.scores(search.asked, rows), rest)

    def _scan(self, search: _Search) -> Found:
        rows = np.flatnonzero(self._passes(search, np.arange(len(self.columns))))
        scores = self.scores(search.asked, rows)
        matching = scores > 0.0
        return self._found(rows[matching], scores[matching], 0.0)

    def _passes(self, search: _Search, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        keep = self._died_at[rows] > search.asked.version
        if search.allowed is not None:
            keep &= passes(search.allowed, self.columns.ordinals[rows])
        return keep

    def _count_passing(self, search: _Search) -> int:
        return int(self._passes(search, np.arange(len(self.columns))).sum())

    def _found(self, rows: NDArray[np.int64], scores: NDArray[np.float64], rest: float) -> Found:
        return Found(self.columns.ordinals[rows], scores, rest)

    def _proposal(self, asked: Asked) -> tantivy.Query:
        """A disjunction whose boosts turn Tantivy's idf into ours."""
        clauses = []
        for term, weight, number in zip(asked.weighted.terms, asked.weighted.weights, asked.ids, strict=True):
            if number >= 0:
                boost = float(weight) / self._total.idf(int(self._frequency[number]))
                clause = tantivy.Query.term_query(_SCHEMA, "terms", term, "freq")
                clauses.append((tantivy.Occur.Should, tantivy.Query.boost_query(clause, boost)))
        return tantivy.Query.boolean_query(clauses)

    def _drift(self, statistics: Statistics) -> float:
        """How much higher than Tantivy's a score may be because the bank's mean length is not this segment's."""
        ours, theirs = (K1 * (1.0 - B + B * self._longest / mean.average_length) for mean in (statistics, self._total))
        return max(1.0, (1.0 + theirs) / (1.0 + ours))


def passes(allowed: NDArray[np.bool_], ordinals: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Who of ``ordinals`` the mask lets through; what is younger than the mask is not let through."""
    if not len(ordinals) or not len(allowed):
        return np.zeros(len(ordinals), np.bool_)
    return allowed[np.minimum(ordinals, len(allowed) - 1)] & (ordinals < len(allowed))


def build(columns: Columns, settings: SegmentSettings, folder: Path | None) -> Segment:
    """Write a segment; into RAM where there is no ``folder``, else into that existing, empty folder."""
    if folder is None:
        index = tantivy.Index(_SCHEMA)
    else:
        (folder / "tantivy").mkdir()
        index = tantivy.Index(_SCHEMA, str(folder / "tantivy"))
    _write(index, columns.documents(), settings)
    if folder is not None:
        (folder / "columns").mkdir()
        columns.save(folder / "columns")
        return open_segment(folder, settings)
    return Segment(columns, _readable(index), settings, None)


def open_segment(folder: Path, settings: SegmentSettings) -> Segment:
    """Open a segment whose files have been verified: Tantivy trusts what it reads."""
    columns = Columns.mapped(folder / "columns")
    return Segment(columns, _readable(tantivy.Index.open(str(folder / "tantivy"))), settings, folder)


def _kth(scores: NDArray[np.float64], k: int) -> float:
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else 0.0


def _readable(index: tantivy.Index) -> tantivy.Index:
    index.config_reader("manual")
    index.reload()
    return index


def _write(index: tantivy.Index, documents: Iterable[Document], settings: SegmentSettings) -> None:
    writer = index.writer(heap_size=settings.writer_heap_bytes, num_threads=1)
    for row, document in enumerate(documents):
        written = tantivy.Document()
        written.add_text("terms", _text(document))
        written.add_unsigned("row", row)
        writer.add_document(written)
    writer.commit()
    writer.wait_merging_threads()


def _text(document: Document) -> str:
    said = zip(document.terms, document.frequencies, strict=True)
    return " ".join([term if times == 1 else " ".join([term] * times) for term, times in said])
