"""A pass that scores few memories instead of all: those that can be among the best, and says down to which score.

    near        the nearest by their exact cosines; more of them if these prove nothing
    floor       the score of the last result that is wanted, among those; what is to beat
    least       the content without which nobody reaches it, whatever sessions lend and names, dates and boosts add
    part        whoever may have that much, by what bounds its cosine and by its words; where there are sessions, all
                members of theirs, for these lend to each other

Every other memory scores below the floor, so whoever is at or above it ranks as if all had been scored (dynamic
pruning, as WAND and MaxScore do with postings). A memory is scored by the same formula in the same arrays, only fewer.

A memory whose own content, and that of all its session, is below `least` gets at most `least` times 1 + the share that
its best neighbour lends (or that share and that of the session together, if greater), and what names, dates and boosts
add to anybody.

Filters leave out the near ones, and a floor that the words alone reach proves nothing: then None is the answer and all
memories are scored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.near import Near
from index.words import Words
from recall.ranking import legs
from recall.ranking.bank_index import BankIndex
from recall.ranking.embedded import Embedded
from recall.ranking.evidence import Context, Evidence, Meaning, Names
from recall.ranking.fuse import fuse
from recall.ranking.part import RecordsOf, closed, context_of, distinct, places_in, words_of
from recall.ranking.query import Mode, RecallQuery
from recall.ranking.question import Question
from recall.ranking.ranking import HYBRID, Ranking
from recall.ranking.reach import Reach
from recall.ranking.scale import Scale, sampled_scale
from recall.ranking.sessions import NONE
from recall.ranking.settings import Fusion, RankingSettings

Ordinals = NDArray[np.int64]
Vector = NDArray[np.float32]

_NO_NAMES = Names(None, None, None)


@dataclass(frozen=True, slots=True)
class Pruned:
    """A ranking of some memories that is right for all as far down as `floor`."""

    ranking: Ranking
    floor: float
    """Whoever scores at least this is ranked as among all; a sum of signals."""
    exact: bool
    """As good as proven; else as near as the compressed vectors of a very large bank tell."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One query over one state of a bank, which the caller holds for reading."""

    index: BankIndex
    embedded: Embedded
    vector: Vector
    words: Words
    question: Question
    context: Context
    settings: RankingSettings
    named: bool
    """It names a date, or somebody who tells memories apart."""

    @property
    def plain(self) -> bool:
        """Nothing but words, meaning and boosts adds to a score."""
        return not (self.named or self.context.any_session)

    def names(self, part: Ordinals) -> Names:
        """Who said the memories of a part, whom they are about, and when it was."""
        return legs.names(self.index, self.question, self.settings, part) if self.named else _NO_NAMES


def prunable(index: BankIndex, query: RecallQuery, settings: RankingSettings) -> bool:
    """Whether nothing is left out or counted, and scores can be bounded."""
    plain = not (query.tags or query.kinds or query.created_after is not None or query.created_before is not None)
    counted = query.min_score is not None or query.why_not_id is not None or query.include_superseded
    return (
        plain
        and not counted
        and settings.fusion is Fusion.EVIDENCE
        and query.mode is not Mode.SEMANTIC
        and index.columns.boosted_count <= settings.pruned_boosted
    )


def pruned(one: Asked, wanted: int) -> Pruned | None:
    """The best `wanted` memories and some more, of a query that is `prunable`; None where few prove nothing."""
    settings, vectors = one.settings, one.embedded.vectors
    if one.embedded.coverage.share < 1.0 or wanted < 1:
        return None
    count = settings.pruned_near + settings.pruned_near_a_result * wanted
    listed = settings.pruned_listed * count + int(settings.pruned_listed_share * len(vectors))
    for deeper in (1, settings.pruned_deeper):
        near = vectors.near(one.vector, deeper * count, deeper * listed)
        if near is None:
            return None
        found = _among(one, near, wanted)
        if found is not None:
            return found
    return None


def _among(one: Asked, near: Near, wanted: int) -> Pruned | None:
    settings, context = one.settings, one.context
    scale = sampled_scale(near.mean, near.deviation, len(one.embedded.vectors), settings)
    reach = Reach(near, one.words, context, scale, settings)
    content = reach.content(near.ordinals, near.cosines)
    may = context.lends[near.ordinals] & (near.cosines >= settings.semantic_floor)
    if one.plain:
        floor = least = _last((content - settings.bare_question * context.asks[near.ordinals])[may], wanted)
    else:
        best = np.sort(_best(near.ordinals[may], content[may], settings.pruned_lenders * wanted))
        floor = _last_of(_ranked(one, scale, best, near.ordinals, near.cosines), wanted)
        floor -= settings.semantic * scale.zero
        least = (floor - _added(one)) / _lent(context, settings)
    if not max(reach.rest, 0.0) < least < np.inf:
        return None
    others = reach.others(least)
    most = max(settings.pruned_most, int(settings.pruned_most_share * one.words.size))
    if len(others) > most:
        return None
    if one.plain:
        boosted = one.index.columns.boosted
        part = distinct(np.concatenate((near.ordinals, others, np.fromiter(boosted, np.int64, len(boosted)))))
        known = near.ordinals, near.cosines
    else:
        known = _with(reach, others, one)
        part = closed(known[0][reach.content(*known) >= least], one.index.sessions, one.words.size)
    if len(part) > settings.pruned_most_in_sessions * most:
        return None
    return Pruned(_ranked(one, scale, part, *known), floor + settings.semantic * scale.zero, near.exact)


def _with(reach: Reach, others: Ordinals, one: Asked) -> tuple[Ordinals, Vector]:
    """The nearest and others, each once, with their cosines."""
    near = reach.near
    others = distinct(others)
    others = others[places_in(np.sort(near.ordinals), others) == NONE]
    cosines = one.embedded.vectors.scores(one.vector, others)
    return np.concatenate((near.ordinals, others)), np.concatenate((near.cosines, cosines))


def _ranked(one: Asked, scale: Scale, part: Ordinals, known: Ordinals, their_cosines: Vector) -> Ranking:
    """The memories of a part, which ascends, scored as among all; some cosines are known already."""
    cosines = _cosines(one, part, known, their_cosines)
    evidence = Evidence(
        words=words_of(part, one.words),
        meaning=Meaning(cosines, scale, complete=not np.isnan(cosines).any()),
        names=one.names(part),
        context=context_of(part, one.context),
    )
    columns = one.index.columns
    return Ranking(
        evidence,
        fuse(evidence, one.settings),
        HYBRID,
        evidence.context.lends,
        RecordsOf(columns.records, part),
        columns.updated_at[part],
    )


def _cosines(one: Asked, part: Ordinals, known: Ordinals, their_cosines: Vector) -> NDArray[np.float64]:
    """Of each of `part`, exact; NaN where there is no vector."""
    found = np.full(len(part), np.nan)
    places = places_in(part, known)
    here = places != NONE
    found[places[here]] = their_cosines[here]
    unknown = np.isnan(found).nonzero()[0]
    if len(unknown):
        found[unknown] = one.embedded.vectors.scores(one.vector, part[unknown])
    return found


def _best(ordinals: Ordinals, content: NDArray[np.float64], wanted: int) -> Ordinals:
    if len(content) <= wanted:
        return ordinals
    return ordinals[np.argpartition(-content, wanted - 1)[:wanted]]


def _last_of(ranking: Ranking, wanted: int) -> float:
    return _last(ranking.fused.total[ranking.candidates()], wanted)


def _last(scores: NDArray[np.float64], wanted: int) -> float:
    """The score of the last of the best `wanted`; infinite where there are fewer."""
    place = len(scores) - wanted
    return float(np.partition(scores, place)[place]) if place >= 0 else np.inf


def _lent(context: Context, settings: RankingSettings) -> float:
    """By what the content of whoever has less than `least`, as all its session has, can grow: see the module."""
    if not context.any_session:
        return 1.0
    near = settings.neighbour * max(settings.near_shares, default=0.0)
    return max(1.0 + near, near + settings.neighbour * settings.session_share)


def _added(one: Asked) -> float:
    """What names, dates and boosts add to anybody at the most."""
    settings, columns = one.settings, one.index.columns
    added = 0.0
    if one.named:
        added += settings.entity * max(1.0, one.index.entities.cap)
        added += settings.dates if one.question.dates else 0.0
    if one.context.any_boosted:
        boosted = np.fromiter(columns.boosted, np.int64, columns.boosted_count)
        added += settings.pinned + settings.corroboration * float(columns.corroboration[boosted].max(initial=0.0))
    return added
