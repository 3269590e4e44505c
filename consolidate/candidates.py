"""Pairs worth looking at, from four sources, none of which compares everything with everything.

Equal wording and equal word multisets come from hashing; cosine pairs from the nearest neighbours of each vector
(exact below `exact_limit` texts, a clustered FAISS index above); trigram pairs from an inverted index over rare
shingles. A memory brings at most its `pairs_each` most alike pairs (and
those of equal wording), so a bank of near-equal texts stays linear.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consolidate.canonical import synonym_form
from consolidate.judgement import Likeness
from consolidate.memo import Memo
from consolidate.plan import Pair, winner_order
from consolidate.settings import ConsolidateSettings
from consolidate.shingles import Shingles, sharing_pairs
from consolidate.words import normal_text


@dataclass(frozen=True, slots=True)
class CandidateSettings:
    """How far the search for pairs goes."""

    exact_limit: int = 8_192
    """Texts up to which every vector is compared with every other."""
    neighbours: int = 24
    """Nearest neighbours looked at for each memory."""
    probed_lists: int = 8
    """Clusters of the vector index that each memory looks into."""
    rare_document_frequency: int = 96
    """Texts a trigram may stand in to count as rare."""
    shingle_probes: int = 12
    """Rarest trigrams that each memory looks up."""
    pairs_each: int = 8
    """Most alike pairs that a memory may bring; a pair stays when either of its two wants it."""
    group_limit: int = 16
    """Size up to which every pair of an equal-wording group is looked at; above it each is compared to the winner."""


def find_candidates(
    memos: Sequence[Memo],
    vectors: NDArray[np.float32] | None,
    settings: ConsolidateSettings,
    search: CandidateSettings = CandidateSettings(),
) -> dict[Pair, Likeness]:
    """Candidate pairs (ids ascending) with their likeness.

    `vectors` is (len(memos), dimensions), L2-normalised, row i for memos[i]; a row of NaN has no vector; None when
    the bank has none. The result does not depend on the order of `memos` up to ties among exact-equal cosines.
    """
    order = sorted(range(len(memos)), key=lambda at: memos[at].id)
    memos = [memos[at] for at in order]
    vectors = None if vectors is None else np.ascontiguousarray(vectors[order])
    shingles = Shingles.of([memo.text for memo in memos])
    alike = _equal_codes(memos, search)
    codes = np.unique(np.concatenate([alike, *_code_batches(vectors, shingles, settings, search)]))
    left, right = codes >> 32, codes & 0xFFFFFFFF
    cosine = _cosines(vectors, left, right)
    jaccard = shingles.jaccard(left, right)
    wanted = _most_alike(left, right, np.fmax(cosine, jaccard), len(memos), search.pairs_each)
    wanted |= np.isin(codes, alike)
    left, right, cosine, jaccard = left[wanted], right[wanted], cosine[wanted], jaccard[wanted]
    return {
        (memos[a].id, memos[b].id): Likeness(c, j)
        for a, b, c, j in zip(left.tolist(), right.tolist(), cosine.tolist(), jaccard.tolist(), strict=True)
    }


def _most_alike(
    left: NDArray[np.int64], right: NDArray[np.int64], alike: NDArray[np.float64], memos: int, each: int
) -> NDArray[np.bool_]:
    """Which pairs are among the `each` most alike of one of their memories; equal likeness counts by place."""
    wanted = np.zeros(len(left), np.bool_)
    memo = np.concatenate([left, right])
    pair = np.tile(np.arange(len(left)), 2)
    order = np.lexsort((pair, -alike[pair], memo))
    first = np.searchsorted(memo[order], np.arange(memos))
    rank = np.arange(len(order)) - first[memo[order]]
    wanted[pair[order[rank < each]]] = True
    return wanted


def _equal_codes(memos: Sequence[Memo], search: CandidateSettings) -> NDArray[np.int64]:
    """Pairs (low << 32 | high, places in `memos`) of equal normal text, or of equal words in any order."""
    normal = _equal(memos, lambda memo: normal_text(memo.text), search.group_limit)
    return np.concatenate([normal, _equal(memos, _reordered, search.group_limit)])


def _code_batches(
    vectors: NDArray[np.float32] | None,
    shingles: Shingles,
    settings: ConsolidateSettings,
    search: CandidateSettings,
) -> Iterator[NDArray[np.int64]]:
    """Pairs as low << 32 | high, low < high, places of memories."""
    for low, high, _ in sharing_pairs(
        shingles, search.rare_document_frequency, search.shingle_probes, settings.related_jaccard
    ):
        yield (low << 32) | high
    if vectors is not None:
        yield from _near(vectors, settings.propose_cosine, search)


def _reordered(memo: Memo) -> Hashable:
    return tuple(sorted(synonym_form(memo.text)))


def _equal(memos: Sequence[Memo], key: Callable[[Memo], Hashable], limit: int) -> NDArray[np.int64]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for at, memo in enumerate(memos):
        if value := key(memo):
            groups[value].append(at)
    pairs = [pair for group in groups.values() if len(group) > 1 for pair in _pairs(memos, group, limit)]
    return np.array([(min(pair) << 32) | max(pair) for pair in pairs], np.int64)


def _pairs(memos: Sequence[Memo], group: list[int], limit: int) -> Iterator[tuple[int, int]]:
    if len(group) <= limit:
        yield from combinations(group, 2)
        return
    best = min(group, key=lambda at: winner_order(memos[at]))
    yield from ((best, at) for at in group if at != best)


def _near(vectors: NDArray[np.float32], threshold: float, search: CandidateSettings) -> Iterator[NDArray[np.int64]]:
    have = np.flatnonzero(np.isfinite(vectors).all(axis=1))
    rows = np.ascontiguousarray(vectors[have])
    if len(rows) < 2:
        return
    index = _index(rows, search)
    for at in range(0, len(rows), 1_024):
        cosine, near = index.search(rows[at : at + 1_024], min(search.neighbours + 1, len(rows)))
        place = np.repeat(np.arange(at, at + len(near)), near.shape[1]).reshape(near.shape)
        alike = (cosine >= threshold) & (near != place) & (near >= 0)
        a, b = have[place[alike]], have[near[alike]]
        yield (np.minimum(a, b) << 32) | np.maximum(a, b)


def _index(rows: NDArray[np.float32], search: CandidateSettings) -> Any:
    import faiss  # noqa: PLC0415 - native and slow to load; not needed to read a report

    dimensions = rows.shape[1]
    flat = faiss.IndexFlatIP(dimensions)
    if len(rows) <= search.exact_limit:
        flat.add(rows)
        return flat
    lists = int(min(4 * len(rows) ** 0.5, len(rows) / 39))
    index = faiss.IndexIVFFlat(flat, dimensions, lists, faiss.METRIC_INNER_PRODUCT)
    sample = rows[np.random.default_rng(0).permutation(len(rows))[: 64 * lists]]
    index.train(sample)
    index.add(rows)
    index.nprobe = search.probed_lists
    return index


def _cosines(
    vectors: NDArray[np.float32] | None, left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.float64]:
    if vectors is None:
        return np.full(len(left), np.nan)
    out = np.empty(len(left))
    for at in range(0, len(left), 65_536):
        batch = slice(at, at + 65_536)
        out[batch] = np.einsum("ij,ij->i", vectors[left[batch]], vectors[right[batch]])
    return np.clip(out, -1.0, 1.0)
