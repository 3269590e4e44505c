"""Import and Export: many records through one call."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from recall.memory.bank import Bank
from recall.memory.errors import MemoryServiceError
from recall.memory.names import LIMITS
from recall.memory.record import Actor, HistoryEntry, ImportedMemory, Outcome
from recall.server import checks_memory, convert
from recall.server.refusals import InvalidRequest, Violation
from recall.v1 import memory_service_pb2 as pb

MOST_ERRORS_TOLD = 100


def first_of(requests: Iterator[pb.ImportRequest]) -> pb.ImportRequest:
    """The first message of an import. Raises InvalidRequest when there is none."""
    first = next(requests, None)
    if first is None:
        raise InvalidRequest((Violation("bank", "is required: the stream holds no message"),))
    return first


def again(first: pb.ImportRequest, rest: Iterator[pb.ImportRequest]) -> Iterator[pb.ImportRequest]:
    """The whole stream. A first message without a memory only names the bank, so it is no record."""
    return itertools.chain((first,) if first.HasField("memory") else (), rest)


def take_in(requests: Iterator[pb.ImportRequest], bank: Bank, actor: Actor, batch: int) -> pb.ImportResponse:
    """Imports a stream in batches that share a write each, and counts what became of it. A bad record stops nothing."""
    answer = pb.ImportResponse()
    numbered = enumerate(requests, 1)
    while some := list(itertools.islice(numbered, batch)):
        good = list(_checked(some, answer))
        results = bank.import_records([memory for _, memory in good], actor) if good else []
        for (number, memory), result in zip(good, results, strict=True):
            if isinstance(result, MemoryServiceError):
                _refuse(answer, number, result)
                answer.events_left_out += len(memory.past)
            else:
                _count(answer, result.outcome, len(memory.past))
    answer.last_seq = bank.last_seq
    return answer


def give_out(bank: Bank, request: pb.ExportRequest) -> Iterator[pb.ExportResponse]:
    """The records of a bank in the order of first save, as they stood together at one seq."""
    snapshot = bank.snapshot()
    chosen = [record for record in snapshot.records if request.include_retired or record.status.live]
    for record in chosen:
        response = pb.ExportResponse(as_of_seq=snapshot.last_seq, total=len(chosen))
        convert.fill_memory(response.memory, record, bank.text(record), bank.name)
        entries = bank.history(record.id, snapshot.last_seq) if request.include_history else []
        _fill_events(response, entries[-LIMITS.past_events :])
        response.events_left_out = bank.history_length(record, snapshot.last_seq) - len(response.events)
        yield response


def _fill_events(response: pb.ExportResponse, entries: Iterable[HistoryEntry]) -> None:
    """A text is told by the event that brings it alone."""
    before = ""
    for entry in entries:
        event = response.events.add()
        event.MergeFrom(convert.event_message(entry, response.memory.bank))
        if entry.text == before:
            event.memory.ClearField("text")
        before = entry.text


def _checked(
    numbered: Iterable[tuple[int, pb.ImportRequest]], answer: pb.ImportResponse
) -> Iterator[tuple[int, ImportedMemory]]:
    for number, request in numbered:
        try:
            checks_memory.import_record(request)
        except InvalidRequest as bad:
            _refuse(answer, number, bad)
        else:
            past = tuple(convert.past_event(event) for event in request.events)
            yield number, replace(convert.imported_memory(request.memory), past=past)


def _refuse(answer: pb.ImportResponse, number: int, error: Exception) -> None:
    answer.refused += 1
    if len(answer.errors) < MOST_ERRORS_TOLD:
        answer.errors.add(record=number, message=str(error))


def _count(answer: pb.ImportResponse, outcome: Outcome, events: int) -> None:
    if outcome is Outcome.CREATED:
        answer.events += events
    else:
        answer.events_left_out += events
    match outcome:
        case Outcome.CREATED:
            answer.created += 1
        case Outcome.REINFORCED:
            answer.reinforced += 1
        case Outcome.UPDATED:
            answer.updated += 1
        case _:
            answer.unchanged += 1
