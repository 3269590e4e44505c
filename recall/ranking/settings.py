"""Every number that shapes ranking, with its documented default and its bounds."""

from dataclasses import dataclass
from enum import StrEnum


class Fusion(StrEnum):
    """How words and meaning are put together; `recall.ranking.fusions` holds them."""

    EVIDENCE = "evidence"
    ZSCORE = "zscore"
    MIN_MAX = "min_max"
    RECIPROCAL_RANK = "reciprocal_rank"
    WEIGHTED_SUM = "weighted_sum"


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """Weights and limits of one recall. A request may override the weights within 0 to `max_weight`.

    The evidence of a memory is told in standard deviations of the cosine over the bank: a weight of 1 is worth one.
    """

    fusion: Fusion = Fusion.EVIDENCE
    """How words and meaning are put together: `evidence`, `zscore`, `min_max`, `reciprocal_rank`, `weighted_sum`."""
    fusion_lexical_share: float = 0.3
    """Share of the words in the fusions `zscore` and `min_max`."""
    fusion_rank_constant: float = 60.0
    """k of the fusion `reciprocal_rank`."""
    fusion_cosine_factor: float = 2.2
    """What the cosine is multiplied with in the fusion `weighted_sum`."""
    lexical: float = 1.0
    """Weight of the lexical leg: `bm25` times BM25 plus `cover` times the share of the query that is matched."""
    bm25: float = 0.07
    """Part of raw BM25 in the lexical leg."""
    bm25_alone: float = 0.2
    """The same where no vectors are scored: then nothing else tells apart memories that hold the same words."""
    cover: float = 3.5
    """Part of the matched share (idf of the query's words that a memory holds, 0 to 1) in the lexical leg."""
    semantic: float = 1.0
    """Weight of the cosine leg, in standard deviations of the cosine over the bank."""
    entity: float = 2.0
    """Weight of the entity leg: 1 for what somebody the query names said, a rarity in (0, 1] for other names."""
    neighbour: float = 1.0
    """Scales what the other memories of its session lend one."""
    lent_from: float = 1.0
    """Content evidence from which on a memory lends any: less says nothing about those around it."""
    near_shares: tuple[float, ...] = (0.4, 0.28, 0.2)
    """Share of the best neighbour's content evidence that is lent, by distance: one, two, three steps away."""
    short_characters: int = 330
    """Text up to this length is short: a longer one borrows proportionally less and covers a query less surely."""
    session_share: float = 0.33
    """Share of what the best memory of the session has over this one that is lent."""
    dates: float = 3.3
    """Weight of a date that the query names: 1 for memories of that time, half for those shortly after."""
    bare_question: float = 1.0
    """Taken from a memory that is nothing but a short question: it asks, it does not tell."""
    bare_question_characters: int = 120
    """Longest text that counts as nothing but a question."""
    corroboration: float = 0.1
    """Weight of ln(1 + times saved again)."""
    pinned: float = 0.5
    """What a pin adds to a memory that matches."""
    half_life_days: float = 30.0
    """Days after which the recency of lexical evidence halves. A bank may set its own."""
    recency_floor: float = 0.35
    """Recency never falls below this factor, so an old exact match is not beaten by recent noise."""
    semantic_floor: float = 0.1
    """A memory that matches by its vector alone needs at least this cosine to be a result."""
    entity_floor: float = 0.3
    """A memory that matches by a name alone needs a name at least this rare to be a result; hubs are not."""
    near_floor: float = 0.3
    """A memory that matches nothing itself is a result when those near it lend it at least this much."""
    hub_author_share: float = 0.1
    """Somebody who said at least this part of the bank is matched as its author and left out of the query's words."""
    missing_cosine_share: float = 0.5
    """A memory without a vector yet gets this share of its lexical leg as its standardised cosine."""
    prior_memories: float = 5.0
    """How many memories the prior of the cosine's scale weighs; matters in small banks only."""
    prior_cosine_mean: float = 0.1
    """Prior mean of the cosine between unrelated texts."""
    prior_cosine_deviation: float = 0.12
    """Prior deviation of the cosine between unrelated texts."""
    fold_restatements: bool = True
    """Whether results that say the same are folded into the best of them; contradictions never are."""
    folded_most: int = 50
    """Restatements that are passed over at most to fill one answer."""
    max_query_terms: int = 64
    """Distinct words of a query that are looked up; the rest are left out and the answer says so."""
    max_query_characters: int = 4_000
    """Characters of a query that are read; the rest are left out and the answer says so."""
    near_candidates: int = 2_000
    """Nearest memories whose cosine is computed where the vectors are scanned in compressed form."""
    word_candidates: int = 2_000
    """Best memories by words whose cosine is computed as well; every other one counts as average there."""
    pruned_near: int = 64
    """Nearest memories that are scored first where few can prove to be the best of all."""
    pruned_near_a_result: int = 4
    """The same for each wanted result."""
    pruned_listed: int = 4
    """So many times as many are looked at, and scored where they can be among the best."""
    pruned_listed_share: float = 0.005
    """Part of the bank that is added to these."""
    pruned_deeper: int = 4
    """So many times as many of both are tried before all are scored."""
    pruned_spare: int = 6
    """Results beyond the limit that are looked for at first, to stand in for those that are folded."""
    pruned_lenders: int = 4
    """So many times the wanted results, the best by words and meaning, are put together with what they lend."""
    pruned_most: int = 1_000
    """Memories that could reach them by their words, past which all are scored instead."""
    pruned_most_share: float = 0.05
    """The same as a part of the bank, where that is more."""
    pruned_most_in_sessions: int = 4
    """So many times as many may they be with all members of their sessions."""
    pruned_boosted: int = 500
    """Memories saved again or pinned, past which all are scored instead."""
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


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """The second stage: late interaction over the first of the fused list. Off by default."""

    model: str = ""
    """A folder with model.onnx and tokenizer.json of a ColBERT-like encoder; empty: no second stage."""
    candidates: int = 50
    """The first of the fused list that are looked at."""
    weight: float = 0.6
    """Weight of the token similarity, in its deviations over the candidates."""
    max_tokens: int = 256
    """Tokens of a text that are read."""
    cache_bytes: int = 268_435_456
    """Room for the token vectors of memories in RAM; some 15 kB a memory of a few sentences."""
    most_pending: int = 1_000
    """Memories that may wait to be encoded."""
