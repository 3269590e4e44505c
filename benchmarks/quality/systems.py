"""What is measured: each leg alone, the fusion, and the fusion with a part taken out or weighed differently.

Every system is a request to the same server, made of a mode, weight overrides and a fusion, so ablations need no other
build. "alone" leaves out all context: neighbours, names, dates. Only the server's own settings (stemming, stop words,
model, second stage) need another run: ``--setting name=value``.
"""

from __future__ import annotations

from dataclasses import dataclass

from recall.ranking.settings import RankingSettings
from recall.v1 import recall_service_pb2 as pb


@dataclass(frozen=True, slots=True)
class Weights:
    """Overrides of ranking weights; None keeps the server's setting."""

    lexical: float | None = None
    semantic: float | None = None
    entity: float | None = None
    neighbour: float | None = None
    corroboration: float | None = None
    dates: float | None = None
    half_life_days: float | None = None

    def to_request(self) -> pb.WeightOverrides:
        return pb.WeightOverrides(
            lexical=self.lexical,
            semantic=self.semantic,
            entity=self.entity,
            neighbour=self.neighbour,
            corroboration=self.corroboration,
            dates=self.dates,
            half_life_days=self.half_life_days,
        )


@dataclass(frozen=True, slots=True)
class System:
    """``needs_vectors``: an answer that the service labels as given without them is not this system's answer."""

    name: str
    mode: pb.RecallMode.ValueType
    weights: Weights = Weights()
    fusion: pb.Fusion.ValueType = pb.FUSION_UNSPECIFIED

    @property
    def needs_vectors(self) -> bool:
        return self.mode != pb.RECALL_MODE_LEXICAL


_LEXICAL, _SEMANTIC, _HYBRID = pb.RECALL_MODE_LEXICAL, pb.RECALL_MODE_SEMANTIC, pb.RECALL_MODE_HYBRID
_NO_CONTEXT = Weights(entity=0.0, neighbour=0.0, corroboration=0.0, dates=0.0)
_LONGEST_HALF_LIFE_DAYS = 36_500.0

MODES = (System("lexical", _LEXICAL), System("semantic", _SEMANTIC), System("hybrid", _HYBRID))
ABLATIONS = (
    System("hybrid -entity", _HYBRID, Weights(entity=0.0)),
    System("hybrid -neighbour", _HYBRID, Weights(neighbour=0.0)),
    System("hybrid -recency", _HYBRID, Weights(half_life_days=_LONGEST_HALF_LIFE_DAYS)),
    System("hybrid -dates", _HYBRID, Weights(dates=0.0)),
    System("hybrid -words", _HYBRID, Weights(lexical=0.0)),
    System("hybrid -meaning", _HYBRID, Weights(semantic=0.0)),
    System("hybrid -context", _HYBRID, _NO_CONTEXT),
    System("BM25 alone", _LEXICAL, _NO_CONTEXT),
    System("cosine alone", _SEMANTIC, _NO_CONTEXT),
)
_FUSIONS = {
    "evidence": pb.FUSION_EVIDENCE,
    "zscore": pb.FUSION_ZSCORE,
    "min_max": pb.FUSION_MIN_MAX,
    "reciprocal_rank": pb.FUSION_RECIPROCAL_RANK,
    "weighted_sum": pb.FUSION_WEIGHTED_SUM,
}
FUSIONS = (
    *(System(name, _HYBRID, fusion=fusion) for name, fusion in _FUSIONS.items()),
    *(System(f"{name} alone", _HYBRID, _NO_CONTEXT, fusion) for name, fusion in _FUSIONS.items()),
)
_DEFAULTS = RankingSettings()
_VARIED = ("lexical", "semantic", "entity", "neighbour", "dates")
_FACTORS = (0.6, 1.4)
WEIGHTS = tuple(
    System(f"{name} x {factor:g}", _HYBRID, Weights(**{name: factor * getattr(_DEFAULTS, name)}))
    for name in _VARIED
    for factor in _FACTORS
)
GROUPS: dict[str, tuple[System, ...]] = {
    "modes": MODES,
    "ablations": ABLATIONS,
    "fusions": FUSIONS,
    "weights": WEIGHTS,
}


class UnknownSystemError(ValueError):
    """No system or group of systems has this name."""


def chosen(names: str) -> tuple[System, ...]:
    """The systems of a comma-separated list of names and groups ("modes,ablations", "all"), each once."""
    everything = {system.name: system for group in GROUPS.values() for system in group}
    found: dict[str, System] = {}
    for name in (name.strip() for name in names.split(",")):
        if name == "all":
            found.update(everything)
        elif name in GROUPS:
            found.update({system.name: system for system in GROUPS[name]})
        elif name in everything:
            found[name] = everything[name]
        else:
            raise UnknownSystemError(
                f"no system is called {name!r}; there are all, {', '.join([*GROUPS, *everything])}"
            )
    return tuple(found.values())
