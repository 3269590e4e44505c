"""The legs over a whole bank: every memory is scored, so the best k are the best k whatever k is.

The caller holds the index for reading, so all legs speak of one state.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from index.entities import rarity
from index.hits import Hits
from index.words import Words
from recall.ranking import dates
from recall.ranking.bank_index import BankIndex
from recall.ranking.embedded import Embedded
from recall.ranking.evidence import Context, Meaning, Names, Rows
from recall.ranking.question import Question
from recall.ranking.scale import sampled_scale, scale_of
from recall.ranking.settings import RankingSettings

_NOBODY = np.empty(0, np.int64)


def words(index: BankIndex, question: Question, with_archive: bool) -> Words:
    """BM25 and matched share of every memory; archived ones by the archive's own statistics."""
    found = _looked_up(index, question.terms, with_archive)
    if not question.handle:
        return found
    return found.plus(_looked_up(index, question.handle, with_archive), question.handle_share)


def _looked_up(index: BankIndex, terms: Mapping[str, int], with_archive: bool) -> Words:
    size = index.columns.size
    found = index.lexical.dense(terms, size)
    archive = index.archive.lexical
    return found if not with_archive or archive is None else found.plus(archive.dense(terms, size))


def meaning(embedded: Embedded, vector: NDArray[np.float32], found: Words, settings: RankingSettings) -> Meaning:
    """Cosine of every memory that has a vector, and its scale."""
    if embedded.vectors.compressed:
        return _compressed_meaning(embedded, vector, found, settings)
    size = found.size
    cosine = embedded.vectors.dense(vector, size).astype(np.float64)
    known = cosine if len(embedded.vectors) == size else cosine[~np.isnan(cosine)]
    return Meaning(cosine, scale_of(known, settings), complete=known is cosine)


def _compressed_meaning(
    embedded: Embedded, vector: NDArray[np.float32], found: Words, settings: RankingSettings
) -> Meaning:
    """Exact cosines of the nearest and of the best by words; the mean for the others that have a vector."""
    scale = sampled_scale(*embedded.vectors.statistics(vector), len(embedded.vectors), settings)
    hits = embedded.vectors.search(vector, settings.near_candidates)
    matching = _best_by_words(found, settings)
    cosine = np.full(found.size, scale.mean)
    waiting = embedded.waiting()
    cosine[waiting] = np.nan
    cosine[matching] = embedded.vectors.scores(vector, matching)
    cosine[hits.ordinals] = hits.scores
    return Meaning(cosine, scale, exact=False)


def _best_by_words(found: Words, settings: RankingSettings) -> NDArray[np.int64]:
    matching = found.matching
    if len(matching) <= settings.word_candidates:
        return matching
    leg = settings.cover * found.matching_cover + settings.bm25 * found.matching_bm25
    return matching[np.argpartition(-leg, settings.word_candidates)[: settings.word_candidates]]


def names(
    index: BankIndex, question: Question, settings: RankingSettings, part: NDArray[np.int64] | None = None
) -> Names:
    """Who said it, whom it is about, and when it was: of all memories, or of these."""
    columns = index.columns
    chosen = slice(None) if part is None else part
    rare = _rarity(index, question, settings)
    return Names(
        rarity=None if rare is None else rare[chosen],
        said=_said(columns.author[chosen], question.authors) if question.authors else None,
        dates=dates.fit(question.dates, columns.created_at[chosen]) if question.dates else None,
    )


def named(index: BankIndex, question: Question, settings: RankingSettings) -> bool:
    """Whether `names` says anything of any memory."""
    return bool(question.authors or question.dates or _rare(index, question, settings))


def rare_carriers(index: BankIndex, question: Question, settings: RankingSettings) -> NDArray[np.int64]:
    """Ordinals of all memories that carry a rare name the query mentions."""
    rare = _rare(index, question, settings)
    return index.entities.matches(rare).ordinals if rare else _NOBODY


def _rarity(index: BankIndex, question: Question, settings: RankingSettings) -> Rows | None:
    rare = _rare(index, question, settings)
    return scattered(index.entities.matches(rare), index.columns.size) if rare else None


def _rare(index: BankIndex, question: Question, settings: RankingSettings) -> list[str]:
    """Names that many memories carry tell nothing and are left out."""
    memories = index.columns.accepted_count
    carriers = {name: index.entities.document_frequency(name) for name in question.names}
    return [name for name, count in carriers.items() if count and rarity(count, memories) >= settings.entity_floor]


def _said(author: NDArray[np.int32], codes: tuple[int, ...]) -> NDArray[np.bool_]:
    said: NDArray[np.bool_] = author == codes[0]
    for code in codes[1:]:
        said |= author == code
    return said


def context(index: BankIndex, now: int, half_life_days: float, settings: RankingSettings) -> Context:
    """What is known of every memory whatever the query; `now` in microseconds UTC."""
    columns, size = index.columns, index.columns.size
    recency = index.recency.at(
        columns.version, columns.said_at, columns.accepted(), now, half_life_days, settings.recency_floor
    )
    return Context(
        recency=recency.factors,
        recency_norm=recency.norm,
        lends=columns.selectable(now),
        neighbours=index.sessions.neighbours(size),
        distances=index.sessions.distances(),
        sessions=index.sessions.codes(size),
        any_session=len(index.sessions) > 0,
        short=columns.short,
        root_short=columns.root_short,
        asks=columns.asks,
        corroboration=columns.corroboration,
        pinned=columns.pinned,
        any_boosted=columns.any_boosted,
    )


def scattered(hits: Hits, size: int) -> Rows:
    """(size,) scores by ordinal, 0 where a leg did not match."""
    scores = np.zeros(size)
    scores[hits.ordinals] = hits.scores
    return scores
