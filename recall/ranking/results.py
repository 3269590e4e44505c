"""What a recall gives back."""

from dataclasses import dataclass
from enum import StrEnum

from recall.memory.record import MemoryId, Record


class DegradedReason(StrEnum):
    """Why an answer may be worse than it could be; the names are those of the contract's DegradationReason."""

    EMBEDDER_LOADING = "embedder_loading"
    EMBEDDER_DOWN = "embedder_down"
    EMBED_LATE = "embed_late"
    BACKFILL_BEHIND = "backfill_behind"
    INDEX_REBUILDING = "index_rebuilding"
    QUERY_CAPPED = "query_capped"
    EMBEDDER_OFF = "embedder_off"
    APPROXIMATE = "approximate"
    RERANK_LATE = "rerank_late"
    RERANK_DOWN = "rerank_down"


@dataclass(frozen=True, slots=True)
class Degraded:
    """One reason, and the same for people with figures."""

    reason: DegradedReason
    detail: str


@dataclass(frozen=True, slots=True)
class Signal:
    """One part of a score: the raw value, and what it added to (for recency: multiplied into) the score."""

    name: str
    value: float
    contribution: float


@dataclass(frozen=True, slots=True)
class RankedMemory:
    """One result; `signals` is empty unless the query asked to explain."""

    record: Record
    text: str
    score: float
    signals: tuple[Signal, ...] = ()
    restatements: tuple[MemoryId, ...] = ()
    """Memories that say the same, would have ranked below, and were left out."""


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds by stage."""

    total_ms: float = 0.0
    analyze_ms: float = 0.0
    embed_ms: float = 0.0
    lexical_ms: float = 0.0
    vector_ms: float = 0.0
    fuse_ms: float = 0.0
    rerank_ms: float = 0.0
    fetch_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class LegRank:
    """The place of a memory in one leg: rank from 1 (0: the leg did not match it) and the leg's own score.

    `best` is the memory that leads the leg among those that pass the filters, with its score; None if there is none.
    """

    leg: str
    rank: int
    score: float
    best: MemoryId | None = None
    best_score: float = 0.0


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Where one memory stands for a query; `excluded` says why it cannot be a result, empty if it can."""

    id: MemoryId
    excluded: str
    rank: int
    score: float
    legs: tuple[LegRank, ...] = ()
    signals: tuple[Signal, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """The ranked answer, best first, every memory at most once."""

    results: tuple[RankedMemory, ...]
    retrieval: str
    """The mode that ran: "lexical", "hybrid" or "semantic"."""
    degraded: tuple[Degraded, ...]
    as_of_seq: int
    """Every write up to this seq of the bank's log is reflected."""
    below_min_score: int
    """Matching memories that fell under `min_score`."""
    timings: Timings
    why_not: WhyNot | None = None
