"""Character trigrams of many texts, and which texts share many of them.

A trigram set is taken over the lower-cased text with markdown marks and white space folded to one space, padded with
two leading and one trailing space (the similarity that review gates of this family use). Sets are kept in
compressed rows: the codes of text i, ascending, are `codes[starts[i]:starts[i + 1]]`.

Candidates come from an inverted index over the *rare* trigrams only: a trigram that stands in more than
`rare_document_frequency` texts says little and would make the join quadratic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_MARKS = re.compile(r"[*_`#>\s]+")
_SKETCH_WORDS = 16
_PAIR_BATCH = 20_000
_TEXT_BATCH = 4_096


@dataclass(frozen=True, slots=True)
class Shingles:
    """Trigram sets in compressed rows: starts (n + 1), codes (uint32, ascending within a row)."""

    starts: NDArray[np.int64]
    codes: NDArray[np.uint32]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Shingles:
        """The trigram sets of `texts`; a text without a visible character has an empty set."""
        parts = [_batch(texts[at : at + _TEXT_BATCH]) for at in range(0, len(texts), _TEXT_BATCH)]
        counts = np.concatenate([np.zeros(1, np.int64), *(counts for counts, _ in parts)])
        codes = np.concatenate([np.zeros(0, np.uint32), *(codes for _, codes in parts)])
        return cls(np.cumsum(counts), codes)

    def sizes(self) -> NDArray[np.int64]:
        """Number of distinct trigrams of each text."""
        return np.asarray(np.diff(self.starts), np.int64)

    def jaccard(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """Exact Jaccard of the texts left[i] and right[i]; 0 where a set is empty."""
        out = np.zeros(len(left))
        for at in range(0, len(left), _PAIR_BATCH):
            batch = slice(at, at + _PAIR_BATCH)
            out[batch] = self._jaccard(left[batch], right[batch])
        return out

    def _jaccard(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        keys = np.sort(np.concatenate([self._tagged(left), self._tagged(right)]))
        shared = keys[1:][keys[1:] == keys[:-1]] >> np.uint64(32)
        both = np.bincount(shared.astype(np.int64), minlength=len(left))
        sizes = self.sizes()
        union = sizes[left] + sizes[right] - both
        return np.asarray(both / np.maximum(union, 1), np.float64)

    def _tagged(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The codes of `rows`, each with its place in `rows` in the high half."""
        sizes = self.sizes()[rows]
        place = np.repeat(np.arange(len(rows), dtype=np.uint64), sizes)
        offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        codes = self.codes[np.repeat(self.starts[rows], sizes) + offsets]
        return np.asarray((place << np.uint64(32)) | codes.astype(np.uint64), np.uint64)

    def sketches(self) -> NDArray[np.uint64]:
        """A bitmap of 1,024 bits for each text, (n, 16): a cheap upper estimate of what two texts share."""
        bits = (self.codes * np.uint32(0x9E3779B1)) >> np.uint32(22)
        rows = np.repeat(np.arange(len(self.starts) - 1), self.sizes())
        sketch = np.zeros((len(self.starts) - 1, _SKETCH_WORDS), np.uint64)
        np.bitwise_or.at(sketch, (rows, bits >> 6), np.uint64(1) << (bits & 63).astype(np.uint64))
        return sketch


def sharing_pairs(
    shingles: Shingles, rare_document_frequency: int, probes: int, at_least: float
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """Batches of (left, right, jaccard) with left < right and jaccard >= at_least, found through rare trigrams.

    Each text looks up its `probes` rarest trigrams that another text has too; texts that share at least two of them
    are compared. Linear in the number of texts for a fixed `rare_document_frequency`.
    """
    postings = _Postings.of(shingles, rare_document_frequency)
    sketch = shingles.sketches()
    for rows in np.array_split(np.arange(len(shingles.starts) - 1), max(1, len(shingles.starts) // 2_000)):
        left, right = postings.meet(rows, probes)
        likely = _estimate(sketch, left, right) >= at_least * 0.8
        left, right = left[likely], right[likely]
        jaccard = shingles.jaccard(left, right)
        alike = jaccard >= at_least
        yield left[alike], right[alike], jaccard[alike]


@dataclass(frozen=True, slots=True)
class _Postings:
    """Rare trigrams: term t stands in texts docs[begin[t]:begin[t + 1]]; text i has terms terms[row[i]:row[i + 1]]."""

    begin: NDArray[np.int64]
    docs: NDArray[np.int64]
    row: NDArray[np.int64]
    terms: NDArray[np.int64]

    @classmethod
    def of(cls, shingles: Shingles, rare_document_frequency: int) -> _Postings:
        _, term, frequency = np.unique(shingles.codes, return_inverse=True, return_counts=True)
        rare = (frequency >= 2) & (frequency <= rare_document_frequency)
        doc = np.repeat(np.arange(len(shingles.starts) - 1), shingles.sizes())
        keep = rare[term]
        doc, term = doc[keep], (np.cumsum(rare) - 1)[term[keep]]
        frequency = frequency[rare]
        by_term = np.argsort(term, kind="stable")
        begin = np.concatenate([[0], np.cumsum(frequency)]).astype(np.int64)
        by_doc = np.lexsort((frequency[term], doc))
        row = np.searchsorted(doc[by_doc], np.arange(len(shingles.starts)))
        return cls(begin, doc[by_term], row, term[by_doc])

    def meet(self, rows: NDArray[np.int64], probes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs (left < right) in which one of `rows` shares at least two of its rarest trigrams with the other."""
        first, size = self.row[rows], np.minimum(self.row[rows + 1] - self.row[rows], probes)
        doc, term = np.repeat(rows, size), self.terms[_ranges(first, size)]
        width = self.begin[term + 1] - self.begin[term]
        other = self.docs[_ranges(self.begin[term], width)]
        doc = np.repeat(doc, width)
        apart = doc != other
        low, high = np.minimum(doc, other)[apart], np.maximum(doc, other)[apart]
        pairs, count = np.unique((low << 32) | high, return_counts=True)
        pairs = pairs[count >= 2]
        return pairs >> 32, pairs & 0xFFFFFFFF


def _ranges(first: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.int64]:
    """The concatenation of range(first[i], first[i] + size[i])."""
    total = int(size.sum())
    return np.asarray(np.arange(total) + np.repeat(first - (np.cumsum(size) - size), size), np.int64)


def _estimate(sketch: NDArray[np.uint64], left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
    both = np.bitwise_count(sketch[left] & sketch[right]).sum(axis=1, dtype=np.int64)
    union = np.bitwise_count(sketch[left] | sketch[right]).sum(axis=1, dtype=np.int64)
    return np.asarray(both / np.maximum(union, 1))


def _batch(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    padded = [_padded(text) for text in texts]
    points = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    lengths = np.array([len(text) for text in padded], np.int64)
    doc = np.repeat(np.arange(len(texts)), lengths)
    mixed = points[:-2] * np.uint64(0x9E3779B97F4A7C15) + points[1:-1] * np.uint64(0xC2B2AE3D27D4EB4F) + points[2:]
    codes = ((mixed * np.uint64(0x165667B19E3779F9)) >> np.uint64(32)) if len(points) > 2 else points[:0]
    inside = doc[:-2] == doc[2:]
    keys = np.unique((doc[:-2][inside].astype(np.uint64) << np.uint64(32)) | codes[inside])
    counts = np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=len(texts))
    return counts, (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def _padded(text: str) -> str:
    folded = _MARKS.sub(" ", text.lower()).strip()
    return f"  {folded} " if folded else ""
