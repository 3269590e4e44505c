"""What a caller asks of one bank."""

from dataclasses import dataclass, replace
from enum import StrEnum

from recall.memory.record import Kind, MemoryId
from recall.ranking.settings import Fusion, RankingSettings


class Mode(StrEnum):
    """Which legs may run."""

    AUTO = "auto"
    """Words, and vectors when the query's vector is there within a share of the budget."""
    LEXICAL = "lexical"
    """Words alone; the embedder is not asked."""
    HYBRID = "hybrid"
    """Words and vectors; waits for the query's vector to the end of the budget."""
    SEMANTIC = "semantic"
    """Vectors alone, for measurement; words when there are no vectors."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Ranking weights of one request; None keeps the setting."""

    lexical: float | None = None
    semantic: float | None = None
    entity: float | None = None
    neighbour: float | None = None
    corroboration: float | None = None
    pinned: float | None = None
    dates: float | None = None
    half_life_days: float | None = None

    def over(self, settings: RankingSettings) -> RankingSettings:
        """`settings` with the weights that are set here; bounds are the caller's to check (`out_of_bounds`)."""
        given = {name: value for name in _WEIGHT_NAMES if (value := getattr(self, name)) is not None}
        return replace(settings, **given) if given else settings

    def out_of_bounds(self, settings: RankingSettings) -> tuple[tuple[str, str], ...]:
        """(field, problem) of every weight outside the bounds of `settings`; NaN is outside."""
        problems = []
        for name in _WEIGHT_NAMES:
            value = getattr(self, name)
            low, high = _bounds(name, settings)
            if value is not None and not low <= value <= high:
                problems.append((name, f"must be between {low:g} and {high:g}"))
        return tuple(problems)


_WEIGHT_NAMES = ("lexical", "semantic", "entity", "neighbour", "corroboration", "pinned", "dates", "half_life_days")


def _bounds(name: str, settings: RankingSettings) -> tuple[float, float]:
    if name == "half_life_days":
        return settings.min_half_life_days, settings.max_half_life_days
    return 0.0, settings.max_weight


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """One question to one bank. Filters hold before the cut; times are microseconds since the epoch, UTC."""

    text: str
    limit: int = 6
    tags: tuple[str, ...] = ()
    """Only memories that carry all of these (lower-cased)."""
    kinds: tuple[Kind, ...] = ()
    """Only memories of one of these; empty means any but EPISODE."""
    created_after: int | None = None
    """Only memories created at or after this time."""
    created_before: int | None = None
    """Only memories created before this time."""
    include_superseded: bool = False
    """Also rank superseded, retired and expired memories."""
    min_score: float | None = None
    mode: Mode = Mode.AUTO
    explain: bool = False
    weights: Weights | None = None
    fusion: Fusion | None = None
    """Puts words and meaning together in another way than the setting."""
    why_not_id: MemoryId | None = None

    def settings(self, server: RankingSettings) -> RankingSettings:
        """The settings of the server with what this query overrides."""
        weighed = self.weights.over(server) if self.weights is not None else server
        return weighed if self.fusion is None else replace(weighed, fusion=self.fusion)
