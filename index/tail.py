"""The youngest documents, exact and in RAM: visible the moment they are added.

A term's postings are one growing array, so adding a document is one append a term, and a search copies the arrays of
its terms and scores all rows at once (see ``index.postings``). Rows are never reused: a replaced or removed document
leaves a dead row behind.

A tail that was read from disk takes its columns over as they are: postings become growing arrays when their term is
asked for, documents when one is removed or all are written again. Most of either is never looked at.

The caller serialises changes and ``view``; a view is computed on without any lock, for nothing it holds changes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from index.bm25 import Weighted, norms_of
from index.columns import Columns, Document
from index.postings import ROW_SHIFT, PostingsView

_FIRST_CAPACITY = 256
_NO_POSTINGS: array[int] = array("q")
_POSTING_BYTES = _NO_POSTINGS.itemsize


class Tail:
    """An inverted index of some ten thousand documents at the most."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._postings: dict[str, array[int]] = {}
        self._dead_postings: dict[str, int] = {}
        self._row_of: dict[int, int] = {}
        self._documents: list[Document] = []
        self._read: Columns | None = None  # whose documents are the first rows and are not in `_documents` yet
        self._term_ids: dict[str, int] = {}  # of the columns that were read, those that have no postings here yet
        self._firsts: list[int] = []
        self._inverted = b""
        self._ordinals = np.empty(_FIRST_CAPACITY, np.int64)
        self._norms = np.empty(_FIRST_CAPACITY, np.uint8)
        self._alive = np.empty(_FIRST_CAPACITY, np.bool_)
        self.tokens = 0
        """The lengths of all live documents together."""
        for document in documents:
            self.add(document)

    @classmethod
    def of(cls, columns: Columns) -> Tail:
        """A tail of all documents of some columns, which are taken over as they are."""
        tail = cls()
        if not len(columns):
            return tail
        tail._read = columns
        tail._row_of = {ordinal: row for row, ordinal in enumerate(columns.ordinals.tolist())}
        tail._ordinals = columns.ordinals.copy()
        tail._norms = norms_of(columns.lengths)
        tail._alive = np.ones(len(columns), np.bool_)
        tail.tokens = int(columns.lengths.sum())
        words = columns.vocabulary()
        tail._term_ids = dict(zip(words, range(len(words)), strict=True))
        tail._firsts, tail._inverted = columns.firsts.tolist(), columns.inverted.tobytes()
        return tail

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def rows(self) -> int:
        """Live and dead rows; the number the next document gets."""
        return len(self._documents) if self._read is None else len(self._read)

    def add(self, document: Document) -> None:
        """Add a document, or replace the one of that ordinal."""
        self.remove(document.ordinal)
        documents = self._all_documents()
        row, length = len(documents), document.length
        documents.append(document)
        self._set_row(row, document.ordinal, length)
        self._row_of[document.ordinal] = row
        self.tokens += length
        packed_row = row << ROW_SHIFT
        for term, frequency in zip(document.terms, document.frequencies, strict=True):
            posting = packed_row | frequency
            known = self._postings_of(term)
            if known is None:
                self._postings[term] = array("q", (posting,))
            else:
                known.append(posting)

    def remove(self, ordinal: int) -> bool:
        """Bury a document; False where the tail holds none of that ordinal."""
        row = self._row_of.pop(ordinal, None)
        if row is None:
            return False
        self._alive[row] = False
        document = self._all_documents()[row]
        self.tokens -= document.length
        for term in document.terms:
            self._dead_postings[term] = self._dead_postings.get(term, 0) + 1
        return True

    def is_current(self, document: Document) -> bool:
        """Whether this very document lives here: neither removed nor replaced."""
        row = self._row_of.get(document.ordinal)
        return row is not None and self._all_documents()[row] is document

    def document_frequency(self, term: str) -> int:
        """Live documents with the term."""
        known = self._postings_of(term)
        return len(known) - self._dead_postings.get(term, 0) if known is not None else 0

    def view(self, weighted: Weighted) -> PostingsView:
        """What a search for these terms needs, frozen."""
        found = [self._postings_of(term) or _NO_POSTINGS for term in weighted.terms]
        rows = self.rows
        return PostingsView(
            weighted=weighted,
            postings=np.frombuffer(b"".join(found), np.int64),
            sizes=list(map(len, found)),
            ordinals=self._ordinals[:rows],
            norms=self._norms[:rows],
            alive=self._alive[:rows].copy(),
        )

    def rows_of(self, ordinals: Iterable[int]) -> NDArray[np.int64]:
        """The live row of each ordinal, -1 for none."""
        known: Mapping[int, int] = self._row_of
        return np.array([known.get(ordinal, -1) for ordinal in ordinals], np.int64)

    def live(self, first_row: int = 0) -> list[Document]:
        """The live documents from a row on, in the order they were added."""
        alive = self._alive[first_row : self.rows].tolist()
        documents = self._all_documents()[first_row:]
        return [document for document, lives in zip(documents, alive, strict=True) if lives]

    def _all_documents(self) -> list[Document]:
        if self._read is not None:
            self._documents = list(self._read.documents())
            self._read = None
        return self._documents

    def _postings_of(self, term: str) -> array[int] | None:
        known = self._postings.get(term)
        if known is None and (read := self._term_ids.pop(term, None)) is not None:
            first, last = self._firsts[read], self._firsts[read + 1]
            known = self._postings[term] = array("q", self._inverted[first * _POSTING_BYTES : last * _POSTING_BYTES])
        return known

    def _set_row(self, row: int, ordinal: int, length: int) -> None:
        if row == len(self._ordinals):
            self._ordinals = np.concatenate((self._ordinals, np.empty_like(self._ordinals)))
            self._norms = np.concatenate((self._norms, np.empty_like(self._norms)))
            self._alive = np.concatenate((self._alive, np.empty_like(self._alive)))
        self._ordinals[row] = ordinal
        self._norms[row] = _norm(length)
        self._alive[row] = True


def _norm(length: int) -> int:
    return _SHORT_NORMS[length] if length < len(_SHORT_NORMS) else int(norms_of(np.array([length], np.uint32))[0])


_SHORT_NORMS: list[int] = norms_of(np.arange(4096, dtype=np.uint32)).tolist()
