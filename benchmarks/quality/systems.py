"""What is measured: each leg alone, the fusion, and the fusion with a part taken out or weighed differently.

Every system is a request to the same server, made of a mode and weight overrides, so ablations need no other build.
Only the server's own settings (stemming, stop words, model) need another run: ``--setting name=value``.
"""

from __future__ import annotations

from dataclasses import dataclass

from recall.v1 import recall_service_pb2 as pb


@dataclass(frozen=True, slots=True)
class Weights:
    """Overrides of ranking weights; None keeps the server's setting."""

    lexical: float | None = None
    semantic: float | None = None
    entity: float | None = None
    neighbour: float | None = None
    corroboration: float | None = None
    half_life_days: float | None = None

    def to_request(self) -> pb.WeightOverrides:
        return pb.WeightOverrides(
            lexical=self.lexical,
            semantic=self.semantic,
            entity=self.entity,
            neighbour=self.neighbour,
            corroboration=self.corroboration,
            half_life_days=self.half_life_days,
        )


@dataclass(frozen=True, slots=True)
class System:
    """``needs_vectors``: an answer that the service labels as given without them is not this system's answer."""

    name: str
    mode: pb.RecallMode.ValueType
    weights: Weights = Weights()

    @property
    def needs_vectors(self) -> bool:
        return self.mode != pb.RECALL_MODE_LEXICAL


_LEXICAL, _SEMANTIC, _HYBRID = pb.RECALL_MODE_LEXICAL, pb.RECALL_MODE_SEMANTIC, pb.RECALL_MODE_HYBRID
_NO_CONTEXT = Weights(entity=0.0, neighbour=0.0, corroboration=0.0)
_LONGEST_HALF_LIFE_DAYS = 36_500.0

MODES = (System("lexical", _LEXICAL), System("semantic", _SEMANTIC), System("hybrid", _HYBRID))
ABLATIONS = (
    System("hybrid -entity", _HYBRID, Weights(entity=0.0)),
    System("hybrid -neighbour", _HYBRID, Weights(neighbour=0.0)),
    System("hybrid -recency", _HYBRID, Weights(half_life_days=_LONGEST_HALF_LIFE_DAYS)),
    System("hybrid -context", _HYBRID, _NO_CONTEXT),
    System("BM25 alone", _LEXICAL, _NO_CONTEXT),
    System("cosine alone", _SEMANTIC, _NO_CONTEXT),
)
FUSIONS = tuple(
    System(f"hybrid {lexical:g}:{1 - lexical:g}", _HYBRID, Weights(lexical=lexical, semantic=round(1 - lexical, 2)))
    for lexical in (0.2, 0.3, 0.4, 0.5)
)
GROUPS: dict[str, tuple[System, ...]] = {"modes": MODES, "ablations": ABLATIONS, "fusions": FUSIONS}


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
