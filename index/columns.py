"""Analysed documents as columns: what the tail and the segments exchange, and how both lie on disk.

    ordinals     int64  [n]      ascending, distinct
    lengths      uint32 [n]      terms in the document, repeats counted
    starts       int64  [n + 1]  document i holds the postings starts[i] : starts[i + 1]
    ids          uint32 [p]      term of the posting, a position in the vocabulary
    frequencies  uint16 [p]      how often the document says it
    fingerprints uint64 [v]      of the vocabulary, ascending: a term is found by bisection in a mapped file
    spellings    uint8  [.]      the vocabulary in the same order, UTF-8, joined by line feeds
    firsts       int64  [v + 1]  term t stands in inverted[firsts[t] : firsts[t + 1]]
    inverted     int64  [p]      the same postings by term, ``row << 16 | frequency``, rows ascending

On disk each column is one ``.npy`` file. Terms never hold white space. Two terms of one vocabulary share a
fingerprint with a chance of 3 in 10⁹ at 300,000 terms; a document would then be scored for the wrong one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.postings import ROW_SHIFT

MAX_FREQUENCY = 0xFFFF


class Document(msgspec.Struct, frozen=True, gc=False):
    """One analysed document: distinct terms and how often each occurs, side by side."""

    ordinal: int
    terms: tuple[str, ...]
    frequencies: array[int]

    @staticmethod
    def of(ordinal: int, tokens: Iterable[str]) -> Document:
        """Count ``tokens``; frequencies end at ``MAX_FREQUENCY``."""
        counts: dict[str, int] = {}
        for token in tokens:
            counts[token] = counts.get(token, 0) + 1
        return Document(ordinal, tuple(counts), _frequencies(counts))

    @property
    def length(self) -> int:
        """Terms, repeats counted."""
        return sum(self.frequencies)


@dataclass(frozen=True, slots=True)
class Columns:
    """See the module; every array is read-only by agreement."""

    ordinals: NDArray[np.int64]
    lengths: NDArray[np.uint32]
    starts: NDArray[np.int64]
    ids: NDArray[np.uint32]
    frequencies: NDArray[np.uint16]
    fingerprints: NDArray[np.uint64]
    spellings: NDArray[np.uint8]
    firsts: NDArray[np.int64]
    inverted: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ordinals)

    def vocabulary(self) -> list[str]:
        """All terms, by id."""
        return self.spellings.tobytes().decode().split("\n") if len(self.fingerprints) else []

    def ids_of(self, fingerprints: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The ids of the terms with these fingerprints, shape (terms,); -1 where no document holds the term."""
        known = self.fingerprints
        if not len(known):
            return np.full(len(fingerprints), -1, np.int64)
        positions = np.minimum(known.searchsorted(fingerprints), len(known) - 1)
        return np.where(known[positions] == fingerprints, positions, -1)

    def documents(self) -> Iterator[Document]:
        """Each document again, in order."""
        words = self.vocabulary()
        ids, frequencies, starts = self.ids.tolist(), self.frequencies.tolist(), self.starts.tolist()
        for row, ordinal in enumerate(self.ordinals.tolist()):
            span = slice(starts[row], starts[row + 1])
            yield Document(ordinal, tuple([words[term] for term in ids[span]]), array("H", frequencies[span]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Each column by its name."""
        return {column.name: getattr(self, column.name) for column in fields(self)}

    def save(self, folder: Path) -> None:
        """Write one file a column into an existing folder."""
        for name, column in self.arrays().items():
            np.save(folder / f"{name}.npy", column, allow_pickle=False)

    @staticmethod
    def mapped(folder: Path) -> Columns:
        """What ``save`` wrote, mapped into memory."""
        names = (column.name for column in fields(Columns))
        return Columns(*(np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in names))

    @staticmethod
    def of(arrays: Mapping[str, NDArray[Any]]) -> Columns:
        """The columns out of ``arrays``, which may hold others too."""
        return Columns(*(arrays[column.name] for column in fields(Columns)))


@lru_cache(maxsize=65_536)
def fingerprint(term: str) -> int:
    """The first 64 bits of the term's BLAKE2b."""
    return _digest(term)


def gather(documents: Sequence[Document]) -> Columns:
    """The columns of documents with distinct ordinals, in any order."""
    documents = sorted(documents, key=lambda document: document.ordinal)
    ids = array("I")
    frequencies = array("H")
    known: dict[str, int] = {}
    for document in documents:
        ids.extend([known.setdefault(term, len(known)) for term in document.terms])
        frequencies.extend(document.frequencies)
    return _with_vocabulary(
        ordinals=np.array([document.ordinal for document in documents], np.int64),
        lengths=np.array([document.length for document in documents], np.uint32),
        starts=np.array([0, *accumulate(len(document.terms) for document in documents)], np.int64),
        ids=np.frombuffer(ids, np.uint32) if ids else np.empty(0, np.uint32),
        frequencies=np.frombuffer(frequencies, np.uint16) if ids else np.empty(0, np.uint16),
        words=list(known),
    )


def merge(parts: Sequence[tuple[Columns, NDArray[np.bool_]]]) -> Columns:
    """One set of columns out of the documents of several that each mask (bool by row) keeps."""
    known: dict[str, int] = {}
    pieces = [_renumbered(columns, keep, known) for columns, keep in parts]
    ordinals, lengths, sizes = (np.concatenate([piece[i] for piece in pieces]) for i in range(3))
    ids, frequencies = (np.concatenate([piece[i] for piece in pieces]) for i in (3, 4))
    order = np.argsort(ordinals, kind="stable")
    taken = spans((np.cumsum(sizes) - sizes)[order], sizes[order])
    words = list(known)
    used, compact = np.unique(ids, return_inverse=True)
    return _with_vocabulary(
        ordinals=ordinals[order],
        lengths=lengths[order],
        starts=np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes[order]))),
        ids=compact.astype(np.uint32)[taken],
        frequencies=frequencies[taken],
        words=[words[term] for term in used.tolist()],
    )


def spans(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """All positions of the half-open spans, one after the other; both arguments of shape (n,)."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(total, dtype=np.int64)


_Piece = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16]]


def _renumbered(columns: Columns, keep: NDArray[np.bool_], known: dict[str, int]) -> _Piece:
    numbers = np.array([known.setdefault(word, len(known)) for word in columns.vocabulary()], np.int64)
    sizes = np.diff(columns.starts)[keep]
    taken = spans(columns.starts[:-1][keep], sizes)
    ids = numbers[columns.ids[taken]] if len(taken) else np.empty(0, np.int64)
    return columns.ordinals[keep], columns.lengths[keep], sizes, ids, columns.frequencies[taken]


def _with_vocabulary(
    ordinals: NDArray[np.int64],
    lengths: NDArray[np.uint32],
    starts: NDArray[np.int64],
    ids: NDArray[np.uint32],
    frequencies: NDArray[np.uint16],
    words: list[str],
) -> Columns:
    """Bring the vocabulary in the order of its fingerprints, and the ids with it."""
    fingerprints = np.array([_digest(word) for word in words], np.uint64)
    order = np.argsort(fingerprints, kind="stable")
    numbers = np.empty(len(words), np.uint32)
    numbers[order] = np.arange(len(words), dtype=np.uint32)
    spelled = "\n".join([words[position] for position in order.tolist()]).encode()
    ids = numbers[ids] if len(ids) else ids
    by_term = np.argsort(ids, kind="stable")
    rows = np.repeat(np.arange(len(ordinals), dtype=np.int64), np.diff(starts))
    return Columns(
        ordinals,
        lengths,
        starts,
        ids,
        frequencies,
        fingerprints[order],
        np.frombuffer(spelled, np.uint8),
        np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(ids, minlength=len(words))))),
        (rows << ROW_SHIFT | frequencies)[by_term],
    )


def _frequencies(counts: dict[str, int]) -> array[int]:
    try:
        return array("H", counts.values())
    except OverflowError:
        return array("H", [min(count, MAX_FREQUENCY) for count in counts.values()])


def _digest(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
