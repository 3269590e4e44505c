"""Every number that shapes ranking, with its documented default and its bounds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """Weights and limits of one recall. A request may override the weights within 0 to `max_weight`."""

    lexical: float = 0.3
    """Weight of the BM25 leg, in standard deviations of BM25 over the bank."""
    semantic: float = 0.7
    """Weight of the cosine leg, in standard deviations of the cosine over the bank."""
    entity: float = 2.0
    """Weight of the entity leg: 1 for what a person the query names said, a rarity in (0, 1] for other names."""
    neighbour: float = 1.0
    """Scales what the memories next to one in its session lend it."""
    neighbour_shares: tuple[float, ...] = (0.2, 0.1)
    """Share of a neighbour's lexical and semantic evidence that is lent: one step away, two steps away."""
    corroboration: float = 0.1
    """Weight of ln(1 + times saved again)."""
    pinned: float = 0.5
    """What a pin adds to a memory that matches."""
    half_life_days: float = 30.0
    """Days after which the recency of lexical evidence halves. A bank may set its own."""
    recency_floor: float = 0.35
    """Recency never falls below this factor, so an old exact match is not beaten by recent noise."""
    semantic_floor: float = 0.15
    """A memory that matches by its vector alone needs at least this cosine to be a result."""
    entity_floor: float = 0.3
    """A memory that matches by a name alone needs a name at least this rare to be a result; hubs are not."""
    neighbour_floor: float = 0.3
    """A memory that matches nothing itself is a result when its neighbours lend it at least this much."""
    hub_author_share: float = 0.1
    """Somebody who said at least this part of the bank is matched as its author and left out of the query's words."""
    missing_cosine_share: float = 0.4
    """A memory without a vector yet gets this share of its standardised BM25 as its standardised cosine."""
    prior_memories: float = 5.0
    """How many memories the prior of each leg's scale weighs; matters in small banks only."""
    prior_lexical_share: float = 0.2
    """Prior deviation of BM25, as a share of the idf of the whole query."""
    prior_cosine_mean: float = 0.1
    """Prior mean of the cosine between unrelated texts."""
    prior_cosine_deviation: float = 0.12
    """Prior deviation of the cosine between unrelated texts."""
    max_query_terms: int = 64
    """Distinct words of a query that are looked up; the rest are left out and the answer says so."""
    max_query_characters: int = 4_000
    """Characters of a query that are read; the rest are left out and the answer says so."""
    candidates: int = 1_000
    """Memories asked of each leg in the first round, in banks too large to be scored whole."""
    dense_limit: int = 20_000
    """Banks up to this many memories are scored whole, memory by memory, in one vectorised pass."""
    auto_share: float = 0.6
    """Part of the time budget that mode AUTO waits for the query's vector; mode HYBRID waits for all of it."""
    coverage_ready: float = 0.95
    """Part of the bank that must have a vector of the current model before vectors are scored."""
    coverage_lost: float = 0.5
    """Once vectors are scored, the part under which they are left out again (a large import, say)."""
    max_weight: float = 10.0
    """Upper bound of a weight in a request."""
    min_half_life_days: float = 0.01
    """Lower bound of a half-life in a request."""
    max_half_life_days: float = 36_500.0
    """Upper bound of a half-life in a request."""


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """How long an answer may take, in milliseconds."""

    default_ms: float = 300.0
    """The budget of a request that names none."""
    max_ms: float = 10_000.0
    """No request gets more than this."""
    reserve_ms: float = 15.0
    """Kept back from the call's deadline for sending the answer."""
