"""What a request of RecallService must be."""

from __future__ import annotations

from typing import Literal

from recall.ranking.settings import RankingSettings
from recall.server import checks
from recall.server.checks import Check
from recall.v1 import memory_pb2, recall_service_pb2

Weight = Literal["lexical", "semantic", "entity", "neighbour", "corroboration", "pinned", "dates"]
WEIGHTS: tuple[Weight, ...] = ("lexical", "semantic", "entity", "neighbour", "corroboration", "pinned", "dates")


def recall(request: recall_service_pb2.RecallRequest, settings: RankingSettings) -> None:
    """Raises InvalidRequest with every bad field of the request."""
    check = Check()
    _fields(check, request, settings)
    check.done()


def recall_batch(request: recall_service_pb2.RecallBatchRequest) -> None:
    """Raises InvalidRequest for what is wrong with the batch; its queries are checked one by one."""
    check = Check()
    checks.int_between(check, len(request.requests), 1, checks.MAX_QUERIES, "requests")
    checks.time_budget(check, request)
    check.done()


def batch_query(request: recall_service_pb2.RecallRequest, place: int, settings: RankingSettings) -> None:
    """Raises InvalidRequest with every bad field of one query of a batch."""
    check = Check()
    _fields(check.inside(f"requests[{place}]"), request, settings)
    check.done()


def streamed_query(request: recall_service_pb2.RecallStreamRequest, settings: RankingSettings) -> None:
    """Raises InvalidRequest with every bad field of one query of a stream."""
    check = Check()
    _fields(check.inside("request"), request.request, settings)
    check.done()


def _fields(check: Check, request: recall_service_pb2.RecallRequest, settings: RankingSettings) -> None:
    checks.bank_name(check, request.bank)
    check.require(bool(request.query.strip()), "query", "must have at least one word in it")
    checks.int_between(check, request.limit, 0, checks.MAX_LIMIT, "limit")
    checks.filter_tags(check, request.tags)
    checks.all_known(check, request.kinds, memory_pb2.Kind, "kinds")
    checks.time_range(check, request)
    checks.known(check, request.mode, recall_service_pb2.RecallMode, "mode")
    checks.known(check, request.fusion, recall_service_pb2.Fusion, "fusion")
    checks.time_budget(check, request)
    checks.at_most(check, request.why_not_id, checks.MAX_ID, "why_not_id")
    if request.HasField("min_score"):
        checks.finite(check, request.min_score, "min_score")
    if request.HasField("weights"):
        _weights(check.inside("weights"), request.weights, settings)


def _weights(check: Check, weights: recall_service_pb2.WeightOverrides, settings: RankingSettings) -> None:
    for name in WEIGHTS:
        if weights.HasField(name):
            checks.float_between(check, getattr(weights, name), 0.0, settings.max_weight, name)
    if weights.HasField("half_life_days"):
        low, high = settings.min_half_life_days, settings.max_half_life_days
        checks.float_between(check, weights.half_life_days, low, high, "half_life_days")
