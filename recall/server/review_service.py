"""ReviewService: check → look or decide → convert."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import grpc

from recall.memory.bank import Bank
from recall.memory.clock import Clock
from recall.memory.deciding import STARTS, Decide, Decided
from recall.memory.errors import MemoryServiceError, NearDuplicate
from recall.memory.lifecycle import Action
from recall.memory.record import Actor, HistoryEntry, Record, Status
from recall.review.likeness import NEAR_DUPLICATE, Alike, most_alike, word_diff
from recall.review.visible import visible
from recall.server import checks_review as checks
from recall.server import convert, errors, paging
from recall.server.caller import caller, seconds_left
from recall.server.live import LiveBanks
from recall.v1 import review_service_pb2 as pb
from recall.v1.review_service_pb2_grpc import ReviewServiceServicer

DEFAULT_PAGE = 20
ACTION_IN: Final = {pb.Decision.Value(f"DECISION_{action.name}"): action for action in STARTS}


class ReviewService(ReviewServiceServicer):
    """Shows what waits, and carries decisions out."""

    def __init__(self, live: LiveBanks, clock: Clock) -> None:
        self._live = live
        self._clock = clock

    def Nominate(self, request: pb.NominateRequest, context: grpc.ServicerContext) -> pb.NominateResponse:  # noqa: N802
        """Proposes a memory."""
        checks.nominate(request)
        memory = convert.new_memory(request.memory)
        who = caller(context)
        with self._live.lease_to_save(request.bank, seconds_left(context), who.tenant) as live:
            saved = live.bank.nominate([memory], who.actor, request.request_id)[0]
            if isinstance(saved, MemoryServiceError):
                raise saved
            told = convert.saved_message(saved, live.bank.text(saved.record), live.name)
        return pb.NominateResponse(memory=told.memory, outcome=told.outcome, seq=told.seq)

    def Promote(self, request: pb.PromoteRequest, context: grpc.ServicerContext) -> pb.PromoteResponse:  # noqa: N802
        """Puts a proposal into use."""
        checks.one(request, "note")
        expected = request.expected_revision if request.HasField("expected_revision") else None
        asked = Decide(request.id, Action.PROMOTE, request.note.strip(), expected)
        return pb.PromoteResponse(decided=self._decide(request.bank, asked, request.override_duplicate, context))

    def Reject(self, request: pb.RejectRequest, context: grpc.ServicerContext) -> pb.RejectResponse:  # noqa: N802
        """Refuses a memory for good."""
        checks.one(request, "reason")
        asked = Decide(request.id, Action.REJECT, request.reason.strip())
        return pb.RejectResponse(decided=self._decide(request.bank, asked, True, context))

    def Quarantine(  # noqa: N802
        self, request: pb.QuarantineRequest, context: grpc.ServicerContext
    ) -> pb.QuarantineResponse:
        """Takes a memory out of use."""
        checks.one(request, "reason")
        asked = Decide(request.id, Action.QUARANTINE, request.reason.strip())
        return pb.QuarantineResponse(decided=self._decide(request.bank, asked, True, context))

    def Reaccept(self, request: pb.ReacceptRequest, context: grpc.ServicerContext) -> pb.ReacceptResponse:  # noqa: N802
        """Puts a memory back into use."""
        checks.one(request, "note")
        asked = Decide(request.id, Action.REACCEPT, request.note.strip())
        return pb.ReacceptResponse(decided=self._decide(request.bank, asked, True, context))

    def DecideBatch(  # noqa: N802
        self, request: pb.DecideBatchRequest, context: grpc.ServicerContext
    ) -> pb.DecideBatchResponse:
        """Carries many decisions out, each on its own."""
        checks.batch(request)
        who = caller(context)
        response = pb.DecideBatchResponse()
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            for one in request.decisions:
                expected = one.expected_revision if one.HasField("expected_revision") else None
                asked = Decide(one.id, ACTION_IN[one.decision], one.note.strip(), expected)
                result = response.results.add()
                try:
                    result.decided.CopyFrom(self._decided(live.bank, asked, one.override_duplicate, who.actor))
                except MemoryServiceError as error:
                    status = errors.status_or_bug(error)
                    told = pb.DecisionError(code=status.code, message=status.message, details=status.details)
                    result.error.CopyFrom(told)
        return response

    def ListQueue(self, request: pb.ListQueueRequest, context: grpc.ServicerContext) -> pb.ListQueueResponse:  # noqa: N802
        """What waits for a decision."""
        checks.queue(request)
        who = caller(context)
        status = convert.STATUS_IN.get(request.status, Status.NOMINATED)
        asked = f"{who.tenant}/{request.bank} {status}"
        before = paging.ordinal_before(request.page_token, asked)
        now = self._clock.now()
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            bank = live.bank
            waiting = [one for one in reversed(bank.records()) if one.status is status and not one.expired(now)]
            page = paging.page_of(waiting, before, request.page_size or DEFAULT_PAGE)
            compared = page.rows if status is Status.NOMINATED else ()
            alike = most_alike(bank, compared, now) if compared else [[] for _ in page.rows]
            entries = [_entry(bank, record, near) for record, near in zip(page.rows, alike, strict=True)]
        token = paging.token(page.rows[-1].ordinal, asked) if page.more else ""
        return pb.ListQueueResponse(entries=entries, next_page_token=token, total=len(waiting))

    def _decide(self, bank: str, asked: Decide, override: bool, context: grpc.ServicerContext) -> pb.Decided:
        who = caller(context)
        with self._live.lease(bank, seconds_left(context), who.tenant) as live:
            return self._decided(live.bank, asked, override, who.actor)

    def _decided(self, bank: Bank, asked: Decide, override: bool, actor: Actor) -> pb.Decided:
        record = bank.get(asked.memory_id)
        twin = self._twin(bank, record) if asked.action is Action.PROMOTE else None
        if twin is not None and not override:
            raise NearDuplicate(record.id, twin.record.id, twin.score)
        decided = bank.decide(asked, actor)
        return _message(bank, decided, twin)

    def _twin(self, bank: Bank, record: Record) -> Alike | None:
        """The memory in use that a proposal is a near-duplicate of."""
        if record.status is not Status.NOMINATED:
            return None
        [alike] = most_alike(bank, [record], self._clock.now())
        return alike[0] if alike and alike[0].score >= NEAR_DUPLICATE else None


def _message(bank: Bank, decided: Decided, twin: Alike | None) -> pb.Decided:
    text = bank.text(decided.record)
    message = pb.Decided(seq=decided.seq, already_decided=decided.already)
    convert.fill_memory(message.memory, decided.record, text, bank.name)
    if twin is not None:
        message.duplicate.CopyFrom(_similar(twin, text))
    return message


def _entry(bank: Bank, record: Record, alike: Sequence[Alike]) -> pb.QueueEntry:
    events = bank.history(record.id)
    text, last = events[-1].text, _last_move(events)
    entry = pb.QueueEntry(actor=last.actor.id, role=last.actor.role, note=visible(last.note))
    convert.fill_memory(entry.memory, record, visible(text), bank.name)
    if events[0].text != text:
        entry.original_text = visible(events[0].text)
    entry.similar.extend(_similar(one, text) for one in alike)
    return entry


def _last_move(events: Sequence[HistoryEntry]) -> HistoryEntry:
    """The event that brought a memory to where it is: the last that changed its status."""
    last = events[0]
    for before, event in itertools.pairwise(events):
        if event.record.status is not before.record.status:
            last = event
    return last


def _similar(alike: Alike, text: str) -> pb.Similar:
    diff = visible(word_diff(alike.text, text))
    return pb.Similar(id=alike.record.id, text=visible(alike.text), score=alike.score, diff=diff)
