"""MemoryService: check → write or read → convert."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import grpc

from recall.memory.bank import Bank
from recall.memory.errors import MemoryServiceError
from recall.memory.record import Record, Saved
from recall.memory.tally import tags_in_use
from recall.server import checks_memory, convert, convert_review, errors, paging, streams
from recall.server.caller import caller, seconds_left
from recall.server.live import LiveBank, LiveBanks
from recall.server.refusals import InvalidRequest
from recall.server.settings import ServerSettings
from recall.v1 import memory_pb2
from recall.v1 import memory_service_pb2 as pb
from recall.v1.memory_service_pb2_grpc import MemoryServiceServicer


class MemoryService(MemoryServiceServicer):
    """Keeps memories in live banks."""

    def __init__(self, live: LiveBanks, settings: ServerSettings) -> None:
        self._live = live
        self._settings = settings

    def Save(self, request: pb.SaveRequest, context: grpc.ServicerContext) -> pb.SaveResponse:  # noqa: N802
        """Saves one text."""
        checks_memory.save(request)
        memory = convert.new_memory(request.memory)
        who = caller(context)
        with self._live.lease_to_save(request.bank, seconds_left(context), who.tenant) as live:
            saved = live.bank.save([memory], who.actor, request.request_id)[0]
            if isinstance(saved, MemoryServiceError):
                raise saved
            return convert.saved_message(saved, live.bank.text(saved.record), live.name)

    def SaveBatch(  # noqa: N802
        self, request: pb.SaveBatchRequest, context: grpc.ServicerContext
    ) -> pb.SaveBatchResponse:
        """Saves many texts; a bad one is answered with an error of its own."""
        checks_memory.save_batch(request)
        refused = dict(_bad_items(request.memories))
        memories = [convert.new_memory(one) for place, one in enumerate(request.memories) if place not in refused]
        who = caller(context)
        with self._live.lease_to_save(request.bank, seconds_left(context), who.tenant) as live:
            saved = iter(live.bank.save(memories, who.actor, request.request_id) if memories else ())
            results = (refused.get(place) or next(saved) for place in range(len(request.memories)))
            return pb.SaveBatchResponse(results=[_save_result(one, live) for one in results])

    def Get(self, request: pb.GetRequest, context: grpc.ServicerContext) -> pb.GetResponse:  # noqa: N802
        """Reads one memory."""
        checks_memory.by_id(request)
        with self._live.lease(request.bank, seconds_left(context), caller(context).tenant) as live:
            return pb.GetResponse(memory=convert_review.with_standing(live.bank, live.bank.get(request.id)))

    def List(self, request: pb.ListRequest, context: grpc.ServicerContext) -> pb.ListResponse:  # noqa: N802
        """Pages through memories."""
        checks_memory.list_memories(request)
        asked = paging.asked_for(request)
        before = paging.ordinal_before(request.page_token, asked)
        with self._live.lease(request.bank, seconds_left(context), caller(context).tenant) as live:
            found = paging.matching(live.bank.records(), request)
            wanted = paging.page_of(found, before, request.page_size or paging.DEFAULT_PAGE)
            page = paging.fitting((_message(live.bank, record) for record in wanted.rows), self._settings.page_bytes)
        more = wanted.more or len(page) < len(wanted.rows)
        return pb.ListResponse(
            memories=page,
            next_page_token=paging.token(wanted.rows[len(page) - 1].ordinal, asked) if more else "",
            total=len(found),
        )

    def Update(self, request: pb.UpdateRequest, context: grpc.ServicerContext) -> pb.UpdateResponse:  # noqa: N802
        """Changes the fields that the mask names."""
        checks_memory.update(request)
        changes = convert.memory_changes(request.memory, frozenset(request.update_mask.paths))
        expected = request.expected_revision if request.HasField("expected_revision") else None
        who = caller(context)
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            written = live.bank.update(request.memory.id, changes, who.actor, expected, request.request_id)
            return pb.UpdateResponse(memory=_message(live.bank, written.record), seq=written.seq)

    def Delete(self, request: pb.DeleteRequest, context: grpc.ServicerContext) -> pb.DeleteResponse:  # noqa: N802
        """Retires a memory."""
        checks_memory.write_by_id(request)
        expected = request.expected_revision if request.HasField("expected_revision") else None
        who = caller(context)
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            written = live.bank.delete(request.id, who.actor, expected, request.request_id)
            return pb.DeleteResponse(memory=_message(live.bank, written.record), seq=written.seq)

    def Pin(self, request: pb.PinRequest, context: grpc.ServicerContext) -> pb.PinResponse:  # noqa: N802
        """Pins or unpins a memory."""
        checks_memory.write_by_id(request)
        who = caller(context)
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            written = live.bank.pin(request.id, request.pinned, who.actor, request.request_id)
            return pb.PinResponse(memory=_message(live.bank, written.record), seq=written.seq)

    def Supersede(  # noqa: N802
        self, request: pb.SupersedeRequest, context: grpc.ServicerContext
    ) -> pb.SupersedeResponse:
        """Retires a memory in favour of another."""
        checks_memory.supersede(request)
        who = caller(context)
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            both = live.bank.supersede(request.loser_id, request.winner_id, who.actor, request.request_id)
            loser, winner = _message(live.bank, both.loser), _message(live.bank, both.winner)
            return pb.SupersedeResponse(loser=loser, winner=winner, seq=both.seq)

    def GetHistory(  # noqa: N802
        self, request: pb.GetHistoryRequest, context: grpc.ServicerContext
    ) -> pb.GetHistoryResponse:
        """The events of one memory."""
        checks_memory.by_id(request)
        with self._live.lease(request.bank, seconds_left(context), caller(context).tenant) as live:
            entries = live.bank.history(request.id)
            return pb.GetHistoryResponse(events=[convert.event_message(entry, live.name) for entry in entries])

    def ListTags(self, request: pb.ListTagsRequest, context: grpc.ServicerContext) -> pb.ListTagsResponse:  # noqa: N802
        """The tags of live memories."""
        checks_memory.bank_only(request)
        with self._live.lease(request.bank, seconds_left(context), caller(context).tenant) as live:
            tags = tags_in_use(live.bank.records(), live.bank.outfit.clock.now())
            return pb.ListTagsResponse(tags=[pb.TagCount(tag=tag, count=count) for tag, count in tags])

    def Import(  # noqa: N802
        self, request_iterator: Iterator[pb.ImportRequest], context: grpc.ServicerContext
    ) -> pb.ImportResponse:
        """Takes in a stream of records."""
        first = streams.first_of(request_iterator)
        checks_memory.first_import(first)
        who = caller(context)
        with self._live.lease_to_save(first.bank, seconds_left(context), who.tenant) as live:
            records = streams.again(first, request_iterator)
            return streams.take_in(records, live.bank, who.actor, self._settings.import_batch)

    def Export(self, request: pb.ExportRequest, context: grpc.ServicerContext) -> Iterator[pb.ExportResponse]:  # noqa: N802
        """Streams the records of a bank as they stand at one seq."""
        checks_memory.bank_only(request)
        with self._live.lease(request.bank, seconds_left(context), caller(context).tenant) as live:
            yield from streams.give_out(live.bank, request)


def _message(bank: Bank, record: Record) -> memory_pb2.Memory:
    return convert.memory_message(record, bank.text(record), bank.name)


def _bad_items(memories: Iterable[pb.NewMemory]) -> Iterator[tuple[int, InvalidRequest]]:
    for place, memory in enumerate(memories):
        try:
            checks_memory.batch_item(memory, place)
        except InvalidRequest as bad:
            yield place, bad


def _save_result(result: Saved | Exception, live: LiveBank) -> pb.SaveResult:
    if isinstance(result, Saved):
        return pb.SaveResult(saved=convert.saved_message(result, live.bank.text(result.record), live.name))
    status = errors.status_or_bug(result)
    return pb.SaveResult(error=pb.ItemError(code=status.code, message=status.message, details=status.details))
