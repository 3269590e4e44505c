"""RecallService: check → rank → convert."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from itertools import islice

import grpc

from recall.ranking.budget import budget
from recall.ranking.engine import Engine
from recall.ranking.settings import BudgetSettings, RankingSettings
from recall.server import checks_recall, convert_recall
from recall.server.caller import caller, seconds_left
from recall.server.interceptors import status_or_hide
from recall.server.live import LiveBanks
from recall.server.places import Places
from recall.telemetry import Telemetry
from recall.v1 import recall_service_pb2 as pb
from recall.v1.recall_service_pb2_grpc import RecallServiceServicer

AHEAD = 4
"""Queries of a batch that are embedded before their turn: enough to keep every thread that encodes busy."""


@dataclass(frozen=True, slots=True)
class Answering:
    """What a request leaves open."""

    ranking: RankingSettings
    budget: BudgetSettings
    default_limit: int


class RecallService(RecallServiceServicer):
    """Answers queries from live banks."""

    def __init__(
        self,
        live: LiveBanks,
        engine: Engine,
        settings: Answering,
        telemetry: Telemetry,
        going_first: Callable[[], AbstractContextManager[None]],
        streams: Places,
    ) -> None:
        """Background work waits while a recall is inside `going_first()`; `streams` are the places of RecallStream."""
        self._live = live
        self._engine = engine
        self._settings = settings
        self._telemetry = telemetry
        self._going_first = going_first
        self._streams = streams

    def Recall(self, request: pb.RecallRequest, context: grpc.ServicerContext) -> pb.RecallResponse:  # noqa: N802
        """Ranks the memories of one bank."""
        checks_recall.recall(request, self._settings.ranking)
        return self._answer(request, context, convert_recall.asked_s(request))

    def RecallBatch(  # noqa: N802
        self, request: pb.RecallBatchRequest, context: grpc.ServicerContext
    ) -> pb.RecallBatchResponse:
        """Answers queries one after the other, while the next ones are embedded beside it.

        Each gets an equal share of the time that is left for the batch. One that cannot be answered is told in
        `errors`, and its response stays empty.
        """
        checks_recall.recall_batch(request)
        whole_s = convert_recall.asked_s(request)
        started = time.monotonic()
        answer = pb.RecallBatchResponse()
        begun = self._beginning(request.requests, context)
        for _ in islice(begun, AHEAD):
            pass
        for place, one in enumerate(request.requests):
            next(begun, None)
            own_s = convert_recall.asked_s(one)
            if whole_s is not None:
                left_s = max(0.0, whole_s - (time.monotonic() - started))
                share_s = left_s / (len(request.requests) - place)
                own_s = share_s if own_s is None else min(own_s, share_s)
            self._add_answer(answer, place, one, context, own_s)
        return answer

    def _beginning(self, requests: Iterable[pb.RecallRequest], context: grpc.ServicerContext) -> Iterator[None]:
        """Begins to embed one query at a time; what is wrong with one is told when its turn comes."""
        tenant = caller(context).tenant
        for one in requests:
            with suppress(Exception):
                checks_recall.recall(one, self._settings.ranking)
                if self._live.is_open(one.bank, tenant):
                    with self._live.lease(one.bank, 0.0, tenant) as live:
                        self._engine.begin(live.index, convert_recall.query(one, 1))
            yield

    def RecallStream(  # noqa: N802
        self, request_iterator: Iterable[pb.RecallStreamRequest], context: grpc.ServicerContext
    ) -> Iterator[pb.RecallStreamResponse]:
        """Answers each query as it comes."""
        with self._streams.taken():
            for place, one in enumerate(request_iterator):
                yield self._streamed(place, one, context)

    def _streamed(
        self, place: int, one: pb.RecallStreamRequest, context: grpc.ServicerContext
    ) -> pb.RecallStreamResponse:
        answer = pb.RecallStreamResponse()
        try:
            checks_recall.streamed_query(one, self._settings.ranking)
            answer.response.CopyFrom(self._answer(one.request, context, convert_recall.asked_s(one.request)))
        except grpc.RpcError:  # the call has ended
            raise
        except Exception as error:  # noqa: BLE001 - one query never ends the stream
            answer.error.CopyFrom(_refusal("RecallService/RecallStream", place, error))
        return answer

    def _add_answer(
        self,
        answer: pb.RecallBatchResponse,
        place: int,
        request: pb.RecallRequest,
        context: grpc.ServicerContext,
        asked_s: float | None,
    ) -> None:
        """Adds the answer to one query of a batch, or why there is none."""
        try:
            checks_recall.batch_query(request, place, self._settings.ranking)
            answer.responses.append(self._answer(request, context, asked_s))
        except grpc.RpcError:  # the call has ended
            raise
        except Exception as error:  # noqa: BLE001 - one query never fails the others
            answer.responses.add()
            answer.errors.append(_refusal("RecallService/RecallBatch", place, error))

    def _answer(
        self, request: pb.RecallRequest, context: grpc.ServicerContext, asked_s: float | None
    ) -> pb.RecallResponse:
        started = time.monotonic()
        left_s = max(0.0, seconds_left(context) - self._settings.budget.reserve_ms / 1e3)
        wait_s = left_s if asked_s is None else min(left_s, asked_s)
        with self._live.lease(request.bank, wait_s, caller(context).tenant) as live:
            query = convert_recall.query(request, live.bank.info.default_limit or self._settings.default_limit)
            with self._going_first():
                now = time.monotonic()
                left_of_asked_s = None if asked_s is None else asked_s - (now - started)
                allowed = budget(self._settings.budget, now, left_of_asked_s, seconds_left(context))
                ranked = self._engine.recall(live.index, live.bank, query, allowed)
        convert_recall.observe_stages(self._telemetry, ranked.timings)
        return convert_recall.response(ranked, request.bank)


def _refusal(rpc: str, place: int, error: Exception) -> pb.RecallError:
    """Why one query among several has no answer."""
    status = status_or_hide(rpc, error)
    return pb.RecallError(place=place, code=status.code, message=status.message, details=status.details)
