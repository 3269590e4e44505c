"""The signals, one small strategy each: from evidence to what it adds to a score.

Every function takes and returns arrays of shape (size,), by ordinal. One standard deviation of the cosine over the bank
is worth 1; the other signals are weighed against that.
"""

import numpy as np
from numpy.typing import NDArray

from index.words import Words
from recall.ranking.evidence import Context, Meaning, Names, Rows
from recall.ranking.settings import RankingSettings

LEXICAL = "lexical"
SEMANTIC = "semantic"
ENTITY = "entity"
NEIGHBOUR = "neighbour"
DATE = "date"
QUESTION = "question"
CORROBORATION = "corroboration"
PINNED = "pinned"
RECENCY = "recency"


def lexical(words: Words, context: Context, settings: RankingSettings, bm25: float) -> Rows:
    """BM25 and the matched share of the query, times recency: what words say ages, what a text means does not.

    A long text holds every word sooner or later, so its share of the query counts for less. `bm25` is the part of raw
    BM25, which is another where the words stand alone.
    """
    scattered = np.zeros(words.size)
    at = words.matching
    scattered[at] = lexical_of(at, words.matching_bm25, words.matching_cover, context, settings, bm25)
    return scattered


def lexical_of(
    at: NDArray[np.int64], bm25: Rows, cover: Rows, context: Context, settings: RankingSettings, bm25_part: float
) -> Rows:
    """As `lexical`, of the memories in `at` alone, with their BM25 and cover: (len(at),)."""
    leg = settings.cover * cover
    leg *= context.root_short[at]
    leg += bm25_part * bm25
    leg *= context.recency[at]
    leg *= settings.lexical / context.recency_norm
    return leg


def semantic(meaning: Meaning, lexical_leg: Rows, settings: RankingSettings) -> Rows:
    """Cosine, standardised. A memory without a vector yet gets what its words let expect, not the worst there is."""
    leg = meaning.scale.standard(meaning.cosine)
    if not meaning.complete:
        missing = np.isnan(leg)
        leg[missing] = settings.missing_cosine_share * lexical_leg[missing]
    if settings.semantic != 1.0:
        leg *= settings.semantic
    return leg


def near(content: Rows, lenders: NDArray[np.int64], context: Context, settings: RankingSettings) -> Rows:
    """Lent by the best memory a few steps away in the session; long texts borrow less."""
    lent = np.zeros(len(content) + 1)  # the last place takes what is lent to nobody: neighbour -1
    offered = content[lenders]
    for neighbours, distance in zip(context.neighbours, context.distances, strict=True):
        takers = neighbours[lenders]
        lent[takers] = np.maximum(lent[takers], settings.near_shares[distance - 1] * offered)
    taken = lent[:-1]
    taken *= context.short
    taken *= settings.neighbour
    return taken


def session(content: Rows, lenders: NDArray[np.int64], context: Context, settings: RankingSettings) -> Rows:
    """Lent by the best memory of the whole session to those below it."""
    best = np.full(int(context.sessions.max(initial=0)) + 1, -np.inf)
    np.maximum.at(best, context.sessions[lenders], content[lenders])
    best[0] = -np.inf
    lent = best[context.sessions]
    lent -= np.maximum(content, 0.0)
    np.maximum(lent, 0.0, out=lent)
    lent *= settings.neighbour * settings.session_share
    return lent


def entity(names: Names, settings: RankingSettings) -> Rows | None:
    """Names the query mentions: what they said counts in full, what is about them by their rarity. Never lent."""
    if names.said is None:
        return settings.entity * names.rarity if names.rarity is not None else None
    said: Rows = names.said * np.float64(settings.entity)
    return said if names.rarity is None else np.maximum(said, settings.entity * names.rarity)


def dates(fit: Rows, settings: RankingSettings) -> Rows:
    """A time the query names against the time of the memory."""
    return settings.dates * fit


def question(context: Context, settings: RankingSettings) -> Rows:
    """Taken from what only asks."""
    taken = np.zeros(len(context.asks))
    taken[context.asks] = -settings.bare_question
    return taken


def corroboration(context: Context, settings: RankingSettings) -> Rows:
    """Saved again and again."""
    return settings.corroboration * context.corroboration


def pinned(context: Context, settings: RankingSettings) -> Rows:
    """Pinned by somebody."""
    added: Rows = context.pinned * np.float64(settings.pinned)
    return added
