"""Every number that shapes ranking, with its documented default and its bounds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """Weights and limits of one recall. A request may override the weights within 0 to `max_weight`."""

    lexical: float = 0.3
    """Weight of the BM25 leg, in standard deviations of BM25 over the bank."""
    semantic: float = 0.7
    """Weight of the cosine leg, in standard deviations of the cosine over the bank."""
    entity: float = 1.0
    """Weight of the entity leg, whose score is in (0, 1]."""
    neighbour: float = 1.0
    """Scales what the memories next to one in its session lend it."""
    neighbour_shares: tuple[float, ...] = (0.3, 0.1)
    """Share of a neighbour's evidence that is lent, by distance: one step away, two steps away."""
    corroboration: float = 0.1
    """Weight of ln(1 + times saved again)."""
    pinned: float = 0.5
    """What a pin adds to a memory that matches."""
    half_life_days: float = 30.0
    """Days after which the recency of lexical evidence halves. A bank may set its own."""
    recency_floor: float = 0.35
    """Recency never falls below this factor, so an old exact match is not beaten by recent noise."""
    semantic_floor: float = 0.2
    """A memory that matches by its vector alone needs at least this cosine to be a result."""
    entity_floor: float = 0.1
    """A memory that matches by the entity leg alone needs at least this entity score to be a result."""
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
    coverage_floor: float = 1.0
    """Part of the bank that must have a vector before vectors are scored after a change of model."""
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
