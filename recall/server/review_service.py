"""ReviewService: check → look or decide → convert."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import grpc

from recall.memory import names, reviewing
from recall.memory.bank import Bank
from recall.memory.clock import Clock
from recall.memory.deciding import STARTS, Decide
from recall.memory.errors import MemoryServiceError, NearDuplicate
from recall.memory.falling import SourceFell, retracted, superseded
from recall.memory.lifecycle import Action
from recall.memory.moving import move
from recall.memory.preferring import check_scope
from recall.memory.record import Actor, NewMemory, Record, Status
from recall.memory.replacing import Replace
from recall.memory.twins import Compared
from recall.review.likeness import Alike, most_alike, near_duplicate, near_duplicate_of_text, word_diff
from recall.review.visible import visible
from recall.server import checks_review as checks
from recall.server import convert, convert_review, errors, paging
from recall.server.caller import caller, seconds_left
from recall.server.live import LiveBanks
from recall.v1 import review_service_pb2 as pb
from recall.v1.memory_pb2 import Memory
from recall.v1.review_service_pb2_grpc import ReviewServiceServicer

DEFAULT_PAGE = 20
NEW = "that is new"
"""Stands for the id of a memory that does not exist yet."""
MOST_PAST = 20
"""Memories of a source that are no longer live, in an answer."""
LISTS: Final = {Status.NOMINATED: "nominated", Status.ACCEPTED: "accepted", Status.QUARANTINED: "quarantined"}
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
            entries = [
                convert_review.queue_entry(bank, record, near) for record, near in zip(page.rows, alike, strict=True)
            ]
        token = paging.token(page.rows[-1].ordinal, asked) if page.more else ""
        return pb.ListQueueResponse(entries=entries, next_page_token=token, total=len(waiting))

    def Edit(self, request: pb.EditRequest, context: grpc.ServicerContext) -> pb.EditResponse:  # noqa: N802
        """Changes what waits for a decision."""
        checks.edit(request)
        changes = convert.memory_changes(request.memory, frozenset(request.update_mask.paths))
        expected = request.expected_revision if request.HasField("expected_revision") else None
        who = caller(context)
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            bank = live.bank
            written = reviewing.edit(bank, request.memory.id, changes, request.note.strip(), who.actor, expected)
            first, text = bank.history(written.record.id)[0].text, bank.text(written.record)
            memory = convert_review.with_standing(bank, written.record)
            diff = visible(word_diff(first, text))
            return pb.EditResponse(memory=memory, seq=written.seq, original_text=first, diff=diff)

    def Replace(self, request: pb.ReplaceRequest, context: grpc.ServicerContext) -> pb.ReplaceResponse:  # noqa: N802
        """Retires memories in favour of one."""
        checks.replace(request)
        who = caller(context)
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            return self._replaced(live.bank, request, who.actor)

    def Undo(self, request: pb.UndoRequest, context: grpc.ServicerContext) -> pb.UndoResponse:  # noqa: N802
        """Takes the last decision back."""
        checks.one(request, "note")
        who = caller(context)
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            done = reviewing.undo_decision(live.bank, request.id, request.note.strip(), who.actor)
            memory = convert_review.with_standing(live.bank, done.record)
            restored = [_plain(live.bank, record) for record in done.restored]
            return pb.UndoResponse(memory=memory, restored=restored, seq=done.seq, already_undone=done.already)

    def SourceRetracted(  # noqa: N802
        self, request: pb.SourceRetractedRequest, context: grpc.ServicerContext
    ) -> pb.SourceRetractedResponse:
        """Takes what stands on a source out of use."""
        checks.source(request, "reason")
        kind, id_ = convert.SOURCE_IN[request.source_kind], request.source_id.strip()
        fell = SourceFell(kind, id_, retracted(kind, id_, request.reason))
        quarantined, left = self._fell(request.bank, fell, context)
        return pb.SourceRetractedResponse(quarantined=quarantined, left=left)

    def SourceSuperseded(  # noqa: N802
        self, request: pb.SourceSupersededRequest, context: grpc.ServicerContext
    ) -> pb.SourceSupersededResponse:
        """Takes what stands on a source out of use."""
        checks.source(request, "superseded_by", "reason")
        kind, id_ = convert.SOURCE_IN[request.source_kind], request.source_id.strip()
        fell = SourceFell(kind, id_, superseded(kind, id_, request.superseded_by, request.reason))
        quarantined, left = self._fell(request.bank, fell, context)
        return pb.SourceSupersededResponse(quarantined=quarantined, left=left)

    def GetBySource(  # noqa: N802
        self, request: pb.GetBySourceRequest, context: grpc.ServicerContext
    ) -> pb.GetBySourceResponse:
        """What stands on a source."""
        checks.source(request)
        asked, now = (convert.SOURCE_IN[request.source_kind].value, request.source_id.strip()), self._clock.now()
        with self._live.lease(request.bank, seconds_left(context), caller(context).tenant) as live:
            records = [one for one in reversed(live.bank.records()) if one.source and one.source.provenance == asked]
            response, past = pb.GetBySourceResponse(), 0
            for record in records:
                shown = LISTS.get(record.status) if not record.expired(now) else None
                past += shown is None
                if shown is not None or past <= MOST_PAST:
                    getattr(response, shown or "past").append(convert_review.with_standing(live.bank, record))
        return response

    def SavePreference(  # noqa: N802
        self, request: pb.SavePreferenceRequest, context: grpc.ServicerContext
    ) -> pb.SavePreferenceResponse:
        """Keeps a preference of the caller."""
        checks.preference(request)
        who = caller(context)
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            check_scope(live.bank.info, live.name, who.actor.id)
            memory = convert_review.preference(request, who.actor.id)
            twin, compared = near_duplicate_of_text(live.bank, request.text, self._clock.now())
            if twin is not None and names.text_hash(twin.text) != compared.text_hash:
                raise NearDuplicate(NEW, twin.record.id, twin.score)
            saved = reviewing.prefer(live.bank, memory, compared, request.request_id, who.actor)
            told = convert.saved_message(saved, live.bank.text(saved.record), live.name)
        return pb.SavePreferenceResponse(memory=told.memory, outcome=told.outcome, seq=told.seq)

    def Move(self, request: pb.MoveRequest, context: grpc.ServicerContext) -> pb.MoveResponse:  # noqa: N802
        """Moves a memory to another bank."""
        checks.move(request)
        expected = request.expected_revision if request.HasField("expected_revision") else None
        who, wait_s = caller(context), seconds_left(context)
        with (
            self._live.lease(request.bank, wait_s, who.tenant) as live,
            self._live.lease(request.to_bank, wait_s, who.tenant) as there,
        ):
            done = move(live.bank, there.bank, request.id, request.note, who.actor, expected)
            memory = convert_review.with_standing(there.bank, done.arrived)
            return pb.MoveResponse(memory=memory, departed=_plain(live.bank, done.departed))

    def _decide(self, bank: str, asked: Decide, override: bool, context: grpc.ServicerContext) -> pb.Decided:
        who = caller(context)
        with self._live.lease(bank, seconds_left(context), who.tenant) as live:
            return self._decided(live.bank, asked, override, who.actor)

    def _decided(self, bank: Bank, asked: Decide, override: bool, actor: Actor) -> pb.Decided:
        record, twin = bank.get(asked.memory_id), None
        if asked.action is Action.PROMOTE and record.status is Status.NOMINATED:
            twin, compared = near_duplicate(bank, record, bank.text(record), self._clock.now())
            asked = replace(asked, compared=_unless(override, record.id, twin, compared))
        return convert_review.decided_message(bank, bank.decide(asked, actor), twin)

    def _replaced(self, bank: Bank, request: pb.ReplaceRequest, actor: Actor) -> pb.ReplaceResponse:
        twin = None
        memory = convert.new_memory(request.memory) if request.WhichOneof("merged") == "memory" else None
        asked = Replace(
            request.replaced_ids,
            request.proposal_id,
            request.note.strip(),
            request.expected_revision if request.HasField("expected_revision") else None,
            request_id=request.request_id,
        )
        if not bank.requested(request.request_id):
            twin, compared = self._compared(bank, request, memory)
            asked = replace(
                asked, compared=_unless(request.override_duplicate, request.proposal_id or NEW, twin, compared)
            )
        done = reviewing.replace(bank, asked, memory, actor)
        response = pb.ReplaceResponse(seq=done.seq)
        response.memory.CopyFrom(convert_review.with_standing(bank, done.record))
        response.replaced.extend(_plain(bank, record) for record in done.gone)
        if twin is not None:
            response.duplicate.CopyFrom(convert_review.similar(twin, response.memory.text))
        return response

    def _compared(
        self, bank: Bank, request: pb.ReplaceRequest, memory: NewMemory | None
    ) -> tuple[Alike | None, Compared]:
        """The merged text beside what is in use and not replaced; `memory` None is a proposal."""
        like = bank.get(request.replaced_ids[0] if memory is not None else request.proposal_id)
        text = bank.text(like) if memory is None else memory.text
        return near_duplicate(bank, like, text, self._clock.now(), frozenset(request.replaced_ids))

    def _fell(self, bank: str, fell: SourceFell, context: grpc.ServicerContext) -> tuple[list[Memory], list[Memory]]:
        who = caller(context)
        with self._live.lease(bank, seconds_left(context), who.tenant) as live:
            found = reviewing.source_fell(live.bank, fell, who.actor)
            quarantined = [_plain(live.bank, record) for record in found.quarantined]
            return quarantined, [_plain(live.bank, record) for record, _ in found.left]


def _unless(override: bool, memory_id: str, twin: Alike | None, compared: Compared) -> Compared | None:
    """What is compared again under the writer's lock; nothing where a person overrides. Raises NearDuplicate."""
    if override:
        return None
    if twin is not None:
        raise NearDuplicate(memory_id, twin.record.id, twin.score)
    return compared


def _plain(bank: Bank, record: Record) -> Memory:
    return convert.memory_message(record, bank.text(record), bank.name)
