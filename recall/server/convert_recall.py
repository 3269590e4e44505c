"""Questions in, ranked answers out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from recall.memory.record import MemoryId
from recall.ranking.query import Mode, RecallQuery, Weights
from recall.ranking.results import DegradedReason, LegRank, Ranked, Signal, Timings, WhyNot
from recall.ranking.settings import Fusion
from recall.server.convert import KIND_IN, fill_memory, micros_of
from recall.telemetry import Telemetry
from recall.v1 import recall_service_pb2 as pb

MODE_IN: Final = {pb.RecallMode.Value(f"RECALL_MODE_{mode.name}"): mode for mode in Mode}
FUSION_IN: Final = {pb.Fusion.Value(f"FUSION_{fusion.name}"): fusion for fusion in Fusion}
REASON_OUT: Final = {
    reason: pb.DegradationReason.Value(f"DEGRADATION_REASON_{reason.name}") for reason in DegradedReason
}


def query(request: pb.RecallRequest, limit: int) -> RecallQuery:
    """What the request asks; `limit` holds when it does not say how many."""
    return RecallQuery(
        text=request.query,
        limit=request.limit or limit,
        tags=tuple(tag.strip().lower() for tag in request.tags),
        kinds=tuple(KIND_IN[kind] for kind in request.kinds),
        created_after=micros_of(request.created_after) if request.HasField("created_after") else None,
        created_before=micros_of(request.created_before) if request.HasField("created_before") else None,
        include_superseded=request.include_superseded,
        min_score=request.min_score if request.HasField("min_score") else None,
        mode=MODE_IN.get(request.mode, Mode.AUTO),
        explain=request.explain,
        weights=_weights(request.weights) if request.HasField("weights") else None,
        fusion=FUSION_IN.get(request.fusion),
        why_not_id=MemoryId(request.why_not_id) if request.why_not_id else None,
    )


def asked_s(request: pb.RecallRequest | pb.RecallBatchRequest) -> float | None:
    """The time budget a request asks for, in seconds."""
    if not request.HasField("time_budget"):
        return None
    return request.time_budget.seconds + request.time_budget.nanos / 1e9


def response(ranked: Ranked, bank: str) -> pb.RecallResponse:
    """The answer. On the path of every recall, so messages are filled in place."""
    message = pb.RecallResponse(
        retrieval=ranked.retrieval, as_of_seq=ranked.as_of_seq, below_min_score=ranked.below_min_score
    )
    for ranked_memory in ranked.results:
        result = message.results.add()
        fill_memory(result.memory, ranked_memory.record, ranked_memory.text, bank)
        result.score = ranked_memory.score
        if ranked_memory.signals:
            result.signals.extend(_signals(ranked_memory.signals))
        result.restatement_ids.extend(ranked_memory.restatements)
    for degraded in ranked.degraded:
        message.degraded.add(reason=REASON_OUT[degraded.reason], detail=degraded.detail)
    _fill_timings(message.timings, ranked.timings)
    if ranked.why_not is not None:
        message.why_not.CopyFrom(_why_not(ranked.why_not))
    return message


def observe_stages(telemetry: Telemetry, timings: Timings) -> None:
    """Counts the stages that ran."""
    for stage, ms in (
        ("recall.embed", timings.embed_ms),
        ("recall.lexical", timings.lexical_ms),
        ("recall.vector", timings.vector_ms),
        ("recall.fuse", timings.fuse_ms),
    ):
        if ms:
            telemetry.observe(stage, ms)


def _weights(given: pb.WeightOverrides) -> Weights:
    return Weights(
        lexical=given.lexical if given.HasField("lexical") else None,
        semantic=given.semantic if given.HasField("semantic") else None,
        entity=given.entity if given.HasField("entity") else None,
        neighbour=given.neighbour if given.HasField("neighbour") else None,
        corroboration=given.corroboration if given.HasField("corroboration") else None,
        pinned=given.pinned if given.HasField("pinned") else None,
        dates=given.dates if given.HasField("dates") else None,
        half_life_days=given.half_life_days if given.HasField("half_life_days") else None,
    )


def _fill_timings(message: pb.RecallTimings, timings: Timings) -> None:
    message.total_ms = timings.total_ms
    message.analyze_ms = timings.analyze_ms
    message.embed_ms = timings.embed_ms
    message.lexical_ms = timings.lexical_ms
    message.vector_ms = timings.vector_ms
    message.fuse_ms = timings.fuse_ms
    message.fetch_ms = timings.fetch_ms
    message.rerank_ms = timings.rerank_ms


def _why_not(why: WhyNot) -> pb.WhyNot:
    return pb.WhyNot(
        id=why.id,
        excluded=why.excluded,
        rank=why.rank,
        score=why.score,
        legs=_legs(why.legs),
        signals=_signals(why.signals),
    )


def _legs(legs: Iterable[LegRank]) -> list[pb.LegRank]:
    return [
        pb.LegRank(leg=leg.leg, rank=leg.rank, score=leg.score, best_id=leg.best or "", best_score=leg.best_score)
        for leg in legs
    ]


def _signals(signals: Iterable[Signal]) -> list[pb.Signal]:
    return [pb.Signal(name=one.name, value=one.value, contribution=one.contribution) for one in signals]
