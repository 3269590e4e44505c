"""The signals, one small strategy each: from evidence to what it adds to a score.

Every function takes and returns arrays of shape (size,), by ordinal. One standard deviation of the cosine over the bank
is worth 1; the other signals are weighed against that.
"""

import numpy as np

from recall.ranking.evidence import Context, Meaning, Names, Rows, Words
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


def short(context: Context, settings: RankingSettings) -> Rows:
    """1 for a short text, less in proportion for a longer one."""
    limit = float(settings.short_characters)
    return limit / np.maximum(context.characters, limit)


def lexical(words: Words, context: Context, settings: RankingSettings) -> Rows:
    """BM25 and the matched share of the query, times recency: what words say ages, what a text means does not.

    A long text holds every word sooner or later, so its share of the query counts for less.
    """
    leg = settings.cover * words.cover
    leg *= np.sqrt(short(context, settings))
    leg += settings.bm25 * words.bm25
    leg *= context.recency
    leg *= settings.lexical / context.recency_norm
    return leg


def semantic(meaning: Meaning, lexical_leg: Rows, settings: RankingSettings) -> Rows:
    """Cosine, standardised. A memory without a vector yet gets what its words let expect, not the worst there is."""
    leg = meaning.scale.standard(meaning.cosine)
    missing = np.isnan(leg)
    if missing.any():
        leg[missing] = settings.missing_cosine_share * lexical_leg[missing]
    leg *= settings.semantic
    return leg


def near(content: Rows, context: Context, settings: RankingSettings) -> Rows:
    """Lent by the best memory a few steps away in the session; long texts borrow less."""
    padded = np.append(content, 0.0)
    lent = np.zeros_like(content)
    for column, distance in enumerate(context.distances):
        np.maximum(lent, settings.near_shares[distance - 1] * padded[context.links[:, column]], out=lent)
    lent *= short(context, settings)
    lent *= settings.neighbour
    return lent


def session(content: Rows, context: Context, settings: RankingSettings) -> Rows:
    """Lent by the best memory of the whole session to those below it."""
    best = np.zeros(int(context.sessions.max(initial=0)) + 1)
    at = np.flatnonzero(content)
    np.maximum.at(best, context.sessions[at], content[at])
    best[0] = 0.0
    lent = best[context.sessions]
    lent -= content
    np.maximum(lent, 0.0, out=lent)
    lent *= settings.neighbour * settings.session_share
    return lent


def entity(names: Names, settings: RankingSettings) -> Rows:
    """Names the query mentions: what they said counts in full, what is about them by their rarity. Never lent."""
    leg: Rows = np.maximum(names.rarity, names.said)
    leg *= settings.entity
    return leg


def dates(names: Names, settings: RankingSettings) -> Rows:
    """A time the query names against the time of the memory."""
    return settings.dates * names.dates


def question(context: Context, settings: RankingSettings) -> Rows:
    """Taken from what only asks."""
    taken: Rows = context.asks * np.float64(-settings.bare_question)
    return taken


def corroboration(context: Context, settings: RankingSettings) -> Rows:
    """Saved again and again."""
    return settings.corroboration * context.corroboration


def pinned(context: Context, settings: RankingSettings) -> Rows:
    """Pinned by somebody."""
    added: Rows = context.pinned * np.float64(settings.pinned)
    return added
