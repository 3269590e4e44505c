"""The one table of statuses: what each error becomes on the wire, with details of `google.rpc`.

| error | status | detail |
|---|---|---|
| bad field | INVALID_ARGUMENT | BadRequest, one violation a field |
| no such bank, memory, trash | NOT_FOUND | ResourceInfo |
| name taken | ALREADY_EXISTS | ResourceInfo |
| not in this state, pinned, read-only bank | FAILED_PRECONDITION | PreconditionFailure |
| stale revision, bank busy with another run | ABORTED | ErrorInfo |
| no token, or not a good one | UNAUTHENTICATED | ErrorInfo |
| the role or the banks of the token are not enough | PERMISSION_DENIED | ErrorInfo |
| disk full, no place for a stream, too much load | RESOURCE_EXHAUSTED | QuotaFailure, RetryInfo |
| bank being opened, server stopping, disk refuses | UNAVAILABLE | RetryInfo |
| damaged log | DATA_LOSS | ErrorInfo (file, line, offset) |
| bug | INTERNAL, fixed text | – |

An error takes the row of its own class or of the nearest class above it; one without a row is a bug.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import code_pb2
from google.rpc.error_details_pb2 import (
    BadRequest,
    ErrorInfo,
    PreconditionFailure,
    QuotaFailure,
    ResourceInfo,
    RetryInfo,
)
from google.rpc.status_pb2 import Status

from recall.memory import errors as memory
from recall.ranking import errors as ranking
from recall.server import refusals
from recall.server.refusals import Violation
from recall.tending import errors as tending

DOMAIN: Final = "recall"
SOON = Duration(nanos=200_000_000)
"""When to ask again for a bank that is being opened, or for a server that restarts."""
LATER = Duration(seconds=30)
"""When to ask again where somebody must make room first."""
MOST_TOLD = 500
"""Characters of a status message: it travels in trailing metadata twice, once with up to 12 bytes a character."""
MOST_DETAILED = 3_000
"""Bytes of violations: a client drops a status whose metadata is over 8 KiB, and details are sent as base64."""

BUG: Final = Status(
    code=code_pb2.INTERNAL, message="internal error: a bug in the service; the server's log has the traceback"
)


@dataclass(frozen=True, slots=True)
class Row:
    """The status of an error, and its details."""

    code: int
    details: Callable[[Any], Sequence[Message]]


def status_of(error: BaseException) -> Status | None:
    """The status of an error; None when no row covers it, so that it is a bug."""
    row = next((TABLE[kind] for kind in type(error).__mro__ if kind in TABLE), None)
    if row is None:
        return None
    status = Status(code=row.code, message=str(error)[:MOST_TOLD])
    for detail in row.details(error):
        status.details.add().Pack(detail)
    return status


def pushback_ms(status: Status) -> int | None:
    """What gRPC's own retries shall wait before they make a call again that found no room; -1 forbids them.

    None for other statuses, whose retries go by the client's own pauses.
    """
    if status.code != code_pb2.RESOURCE_EXHAUSTED:
        return None
    told = RetryInfo()
    delay = next((told.retry_delay for detail in status.details if detail.Unpack(told)), LATER)
    return delay.ToMilliseconds() if delay.ToMilliseconds() <= SOON.ToMilliseconds() else -1


def status_or_bug(error: BaseException) -> Status:
    """The status of an error; the fixed one of a bug."""
    return status_of(error) or BUG


def code_name(status: Status) -> str:
    """The canonical name of its code, such as NOT_FOUND."""
    name: str = code_pb2.Code.Name(status.code)
    return name


def bad_request(violations: Sequence[Violation]) -> list[Message]:
    """One violation a field, of the first ones that a client can be told of."""
    request = BadRequest()
    for one in violations:
        request.field_violations.add(field=one.field[:MOST_TOLD], description=one.problem[:MOST_TOLD])
        if request.ByteSize() > MOST_DETAILED and len(request.field_violations) > 1:
            del request.field_violations[-1]
            break
    return [request]


def _resource(kind: str, name: str, problem: object) -> list[Message]:
    return [ResourceInfo(resource_type=f"{DOMAIN}.v1.{kind}", resource_name=name, description=str(problem))]


def _precondition(error: Exception) -> list[Message]:
    subject = getattr(error, "id", "") or getattr(error, "bank", "") or getattr(error, "holder", "")
    violation = PreconditionFailure.Violation(type=_reason(error), subject=subject, description=str(error))
    return [PreconditionFailure(violations=[violation])]


def _info(error: Exception, *facts: str) -> list[Message]:
    metadata = {fact: str(getattr(error, fact)) for fact in facts}
    return [ErrorInfo(reason=_reason(error), domain=DOMAIN, metadata=metadata)]


def _quota(error: Exception, subject: str, after: Duration) -> list[Message]:
    violation = QuotaFailure.Violation(subject=subject, description=str(error))
    return [QuotaFailure(violations=[violation]), RetryInfo(retry_delay=after)]


def _retry(after: Duration) -> Callable[[Any], Sequence[Message]]:
    return lambda _: [RetryInfo(retry_delay=after)]


def _reason(error: Exception) -> str:
    """StaleRevision → STALE_REVISION."""
    name = type(error).__name__
    return "".join(f"_{c}" if c.isupper() and place else c for place, c in enumerate(name)).upper()


TABLE: Final[dict[type, Row]] = {
    refusals.InvalidRequest: Row(code_pb2.INVALID_ARGUMENT, lambda e: bad_request(e.violations)),
    memory.InvalidField: Row(code_pb2.INVALID_ARGUMENT, lambda e: bad_request([Violation(e.field, e.problem)])),
    ranking.QueryHasNoWords: Row(code_pb2.INVALID_ARGUMENT, lambda e: bad_request([Violation("query", str(e))])),
    memory.BankNotFound: Row(code_pb2.NOT_FOUND, lambda e: _resource("Bank", e.bank, e)),
    memory.MemoryNotFound: Row(code_pb2.NOT_FOUND, lambda e: _resource("Memory", f"{e.bank}/{e.id}", e)),
    memory.TrashNotFound: Row(code_pb2.NOT_FOUND, lambda e: _resource("TrashedBank", e.trash_id, e)),
    memory.RuleNotFound: Row(code_pb2.NOT_FOUND, lambda e: _resource("Rule", f"{e.bank}/{e.name}", e)),
    memory.RunNotFound: Row(code_pb2.NOT_FOUND, lambda e: _resource("Run", e.run, e)),
    memory.BankExists: Row(code_pb2.ALREADY_EXISTS, lambda e: _resource("Bank", e.bank, e)),
    memory.Refused: Row(code_pb2.FAILED_PRECONDITION, _precondition),
    memory.ReadOnly: Row(code_pb2.FAILED_PRECONDITION, _precondition),
    memory.HistoryArchived: Row(code_pb2.OUT_OF_RANGE, lambda e: _info(e, "seq", "first_seq")),
    memory.StaleRevision: Row(code_pb2.ABORTED, lambda e: _info(e, "id", "expected", "actual")),
    memory.StaleRule: Row(code_pb2.ABORTED, lambda e: _info(e, "name", "expected", "actual")),
    tending.BankBusy: Row(code_pb2.ABORTED, lambda e: _info(e, "bank", "run")),
    tending.Ending: Row(code_pb2.UNAVAILABLE, _retry(SOON)),
    memory.DiskFull: Row(code_pb2.RESOURCE_EXHAUSTED, lambda e: _quota(e, "disk", LATER)),
    refusals.TooManyWatchers: Row(code_pb2.RESOURCE_EXHAUSTED, lambda e: _quota(e, "server.max_watchers", LATER)),
    refusals.TooManyStreams: Row(code_pb2.RESOURCE_EXHAUSTED, lambda e: _quota(e, "server.max_recall_streams", LATER)),
    refusals.Overloaded: Row(code_pb2.RESOURCE_EXHAUSTED, lambda e: _quota(e, "server.max_waiting_calls", SOON)),
    refusals.TooManyFailures: Row(code_pb2.RESOURCE_EXHAUSTED, lambda e: _quota(e, "access.max_failures", LATER)),
    refusals.Unauthenticated: Row(code_pb2.UNAUTHENTICATED, _info),
    refusals.AccessDenied: Row(code_pb2.PERMISSION_DENIED, _info),
    memory.StorageFailure: Row(code_pb2.UNAVAILABLE, lambda e: [*_info(e, "action"), RetryInfo(retry_delay=LATER)]),
    memory.Closed: Row(code_pb2.UNAVAILABLE, _retry(SOON)),
    refusals.BankOpening: Row(code_pb2.UNAVAILABLE, _retry(SOON)),
    refusals.Stopping: Row(code_pb2.UNAVAILABLE, _retry(SOON)),
    memory.Damaged: Row(code_pb2.DATA_LOSS, lambda e: _info(e, "file", "line", "offset", "remedy")),
}
