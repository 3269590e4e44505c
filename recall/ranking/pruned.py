"""A pass that scores few memories instead of all: those that can be among the best, and says down to which score.

    near        the nearest by their exact cosines; more of them if these prove nothing
    floor       the score of the last result that is wanted, among those; what is to beat
    nearly      of the next ones, whoever could reach the floor with the cosine that it has at the most
    hopeful     whoever could reach it with the words that it holds and a cosine of `rest`: no other memory is nearer
    boosted     whoever was saved again or pinned

Every other memory scores below the floor, so whoever is at or above it ranks as if all had been scored (dynamic
pruning, as WAND and MaxScore do with postings). A memory is scored by the same formula in the same arrays, only fewer:
`Part` stands for the bank.

Names, dates and sessions raise many memories at once, filters leave out the near ones, and a floor that the words alone
reach proves nothing: then None is the answer and all memories are scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from index.near import Near
from index.words import Words
from recall.memory.record import Record
from recall.ranking import signals
from recall.ranking.bank_index import BankIndex
from recall.ranking.embedded import Embedded
from recall.ranking.evidence import Context, Evidence, Meaning, Names, Rows
from recall.ranking.fuse import fuse
from recall.ranking.query import Mode, RecallQuery
from recall.ranking.question import Question
from recall.ranking.ranking import HYBRID, Ranking
from recall.ranking.scale import Scale, sampled_scale
from recall.ranking.settings import Fusion, RankingSettings

Ordinals = NDArray[np.int64]
Vector = NDArray[np.float32]

_NO_NAMES = Names(None, None, None)
_NO_SESSIONS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Pruned:
    """A ranking of some memories that is right for all as far down as `floor`."""

    ranking: Ranking
    floor: float
    """Whoever scores at least this is ranked as among all; a sum of signals."""
    exact: bool
    """As good as proven; else as near as the compressed vectors of a very large bank tell."""


def prunable(index: BankIndex, query: RecallQuery, question: Question, settings: RankingSettings) -> bool:
    """Whether nothing but words, meaning and boosts adds to a score, and nothing is to be counted."""
    plain = not (query.tags or query.kinds or query.created_after is not None or query.created_before is not None)
    counted = query.min_score is not None or query.why_not_id is not None or query.include_superseded
    return (
        plain
        and not counted
        and settings.fusion is Fusion.EVIDENCE
        and query.mode is not Mode.SEMANTIC
        and not (len(index.sessions) or question.authors or question.dates)
        and index.columns.boosted_count <= settings.pruned_boosted
    )


def pruned(
    index: BankIndex,
    embedded: Embedded,
    vector: Vector,
    words: Words,
    context: Context,
    wanted: int,
    settings: RankingSettings,
) -> Pruned | None:
    """The best `wanted` memories and some more; None where few memories prove nothing.

    The caller holds the index for reading, has asked `prunable` and knows that the query names nothing rare.
    """
    if embedded.coverage.share < 1.0 or wanted < 1:
        return None
    count = settings.pruned_near + settings.pruned_near_a_result * wanted
    listed = settings.pruned_listed * count + int(settings.pruned_listed_share * len(embedded.vectors))
    for deeper in (1, settings.pruned_deeper):
        near = embedded.vectors.near(vector, deeper * count, deeper * listed)
        if near is None:
            return None
        found = _among(near, index, embedded, vector, words, context, wanted, settings)
        if found is not None:
            return found
    return None


def _among(
    near: Near,
    index: BankIndex,
    embedded: Embedded,
    vector: Vector,
    words: Words,
    context: Context,
    wanted: int,
    settings: RankingSettings,
) -> Pruned | None:
    if len(near.ordinals) < wanted:
        return None
    scale = sampled_scale(near.mean, near.deviation, len(embedded.vectors), settings)
    rest = settings.semantic * (scale.standard_one(near.rest) + scale.zero)
    floor = _floor(near, words, context, scale, wanted, settings)
    if not rest < floor < np.inf:
        return None
    hopeful = _hopeful(words, context, floor - rest, settings)
    nearly = _nearly(near, words, context, scale, floor, settings)
    if len(hopeful) + len(nearly) > settings.pruned_most:
        return None
    part = _union(near.ordinals, nearly, hopeful, index.columns.boosted)
    evidence = _evidence(part, Meaning(_cosines(part, near, embedded, vector), scale, complete=True), words, context)
    fused = fuse(evidence, settings)
    records, updated_at = _Some(index.columns.records, part), index.columns.updated_at[part]
    ranking = Ranking(evidence, fused, HYBRID, evidence.context.lends, records, updated_at)
    return Pruned(ranking, floor, near.exact)


def _floor(near: Near, words: Words, context: Context, scale: Scale, wanted: int, settings: RankingSettings) -> float:
    """What the last of the best `wanted` of the nearest scores, at least: boosts come on top."""
    scores = signals.lexical_of(near.ordinals, *words.of(near.ordinals), context, settings, settings.bm25)
    scores += settings.semantic * (scale.standard(near.cosines.astype(np.float64)) + scale.zero)
    scores -= settings.bare_question * context.asks[near.ordinals]
    scores = scores[context.lends[near.ordinals] & (near.cosines >= settings.semantic_floor)]
    return float(np.partition(scores, len(scores) - wanted)[len(scores) - wanted]) if len(scores) >= wanted else np.inf


def _hopeful(words: Words, context: Context, least: float, settings: RankingSettings) -> Ordinals:
    """Whose words alone give them at least `least`."""
    bm25, cover = words.matching_bm25, words.matching_cover
    may = np.flatnonzero(signals.most_lexical(bm25, cover, context, settings) >= least)
    at = words.matching[may]
    hopeful: Ordinals = at[signals.lexical_of(at, bm25[may], cover[may], context, settings, settings.bm25) >= least]
    return hopeful


def _nearly(
    near: Near, words: Words, context: Context, scale: Scale, floor: float, settings: RankingSettings
) -> Ordinals:
    """Whoever of those that look near can reach the floor with the cosine that it has at the most."""
    scores = signals.lexical_of(near.others, *words.of(near.others), context, settings, settings.bm25)
    scores += settings.semantic * (scale.standard(near.bounds.astype(np.float64)) + scale.zero)
    nearly: Ordinals = near.others[scores >= floor]
    return nearly


def _union(near: Ordinals, nearly: Ordinals, hopeful: Ordinals, boosted: frozenset[int]) -> Ordinals:
    """Distinct; those of `near` first and in their order, and the others ascending."""
    more = np.concatenate((nearly, hopeful, np.fromiter(boosted, np.int64, len(boosted))))
    if not len(more):
        return near
    more.sort()
    first = np.empty(len(more), np.bool_)
    first[0] = True
    np.not_equal(more[1:], more[:-1], out=first[1:])
    known = np.sort(near)
    first &= known[np.minimum(known.searchsorted(more), len(known) - 1)] != more
    return np.concatenate((near, more[first]))


def _cosines(part: Ordinals, near: Near, embedded: Embedded, vector: Vector) -> Rows:
    """Of each of `part`, exact; `part` begins with the memories of `near`, and few follow."""
    found = np.empty(len(part))
    known = len(near.ordinals)
    found[:known] = near.cosines
    if known < len(part):
        found[known:] = embedded.vectors.scores(vector, part[known:])
    return found


def _evidence(part: Ordinals, meaning: Meaning, words: Words, context: Context) -> Evidence:
    bm25, cover = words.of(part)
    matching = np.flatnonzero(cover > 0.0)
    return Evidence(
        words=Words(matching, bm25[matching], cover[matching], len(part)),
        meaning=meaning,
        names=_NO_NAMES,
        context=replace(
            context,
            recency=context.recency[part],
            lends=context.lends[part],
            neighbours=(),
            distances=(),
            sessions=_NO_SESSIONS,
            short=context.short[part],
            root_short=context.root_short[part],
            asks=context.asks[part],
            corroboration=context.corroboration[part],
            pinned=context.pinned[part],
        ),
    )


class _Some(Sequence[Record]):
    """The records of `part`, looked up one at a time."""

    def __init__(self, records: Sequence[Record], part: Ordinals) -> None:
        self._records, self._part = records, part

    def __len__(self) -> int:
        return len(self._part)

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Record]: ...
    def __getitem__(self, at: int | slice) -> Record | Sequence[Record]:
        if isinstance(at, slice):
            return [self._records[ordinal] for ordinal in self._part[at].tolist()]
        record: Record = self._records[int(self._part[at])]
        return record
