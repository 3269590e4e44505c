"""Pages of memories and of banks. A token names the last row of its page and what was asked, so pages stay stable.

Memories come newest first by ordinal: what is saved meanwhile has a higher ordinal and moves nothing. A token is opaque
(url-safe base64 of a small record); one of another bank or of other filters is refused, never silently obeyed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from recall.memory.record import Record, Status
from recall.server.convert import KIND_IN, SOURCE_IN, STATUS_IN, micros_of
from recall.server.refusals import InvalidRequest, Violation
from recall.v1.memory_pb2 import Memory
from recall.v1.memory_service_pb2 import ListRequest

DEFAULT_PAGE = 100


class Place(msgspec.Struct, frozen=True, array_like=True):
    """Where a page ended (an ordinal, or a name) and the digest of what was asked."""

    after: int | str
    asked: str


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and whether more follow."""

    rows: Sequence[Record]
    more: bool


def token(after: int | str, asked: str) -> str:
    """The opaque token of the page that follows."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(Place(after, asked))).decode()


def place(page_token: str, asked: str) -> int | str | None:
    """Where the page before ended; None for the first page. Raises InvalidRequest for a foreign token."""
    if not page_token:
        return None
    try:
        found = msgspec.msgpack.decode(base64.b64decode(page_token, altchars=b"-_", validate=True), type=Place)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise _bad_token("is not a next_page_token of this service") from None
    if found.asked != asked:
        raise _bad_token("belongs to another bank or to other filters; ask for the first page again")
    return found.after


def asked_for(request: ListRequest) -> str:
    """A digest of the bank and the filters of a request."""
    bare = ListRequest()
    bare.CopyFrom(request)
    bare.ClearField("page_token")
    bare.ClearField("page_size")
    return hashlib.blake2b(bare.SerializeToString(deterministic=True), digest_size=8).hexdigest()


def ordinal_before(page_token: str, asked: str) -> int | None:
    """The ordinal at which the page before ended; None for the first page."""
    after = place(page_token, asked)
    if isinstance(after, str) or (after is not None and after < 0):
        raise _bad_token("is not a next_page_token of this rpc")
    return after


def name_after(page_token: str, asked: str) -> str:
    """The name at which the page before ended; "" for the first page."""
    after = place(page_token, asked)
    if isinstance(after, int):
        raise _bad_token("is not a next_page_token of this rpc")
    return after or ""


def matching(records: Sequence[Record], request: ListRequest) -> list[Record]:
    """The records that pass every filter, newest first."""
    wanted = tuple(_filters(request))
    return [record for record in reversed(records) if all(passes(record) for passes in wanted)]


def page_of(records: Sequence[Record], before: int | None, size: int) -> Page:
    """The page of at most `size` records that are older than ordinal `before`; the records come newest first."""
    older = itertools.dropwhile(lambda record: before is not None and record.ordinal >= before, records)
    rows = list(itertools.islice(older, size + 1))
    return Page(rows[:size], more=len(rows) > size)


def fitting(memories: Iterable[Memory], most_bytes: int) -> list[Memory]:
    """The first memories that fit into a message together; one at least."""
    kept: list[Memory] = []
    size = 0
    for memory in memories:
        size += memory.ByteSize()
        if kept and size > most_bytes:
            break
        kept.append(memory)
    return kept


def _filters(request: ListRequest) -> Iterator[Callable[[Record], bool]]:
    statuses = frozenset(STATUS_IN[status] for status in request.statuses) or frozenset({Status.ACCEPTED})
    yield lambda record: record.status in statuses
    if request.tags:
        tags = frozenset(tag.strip().lower() for tag in request.tags)
        yield lambda record: tags.issubset(record.tags)
    if request.kinds:
        kinds = frozenset(KIND_IN[kind] for kind in request.kinds)
        yield lambda record: record.kind in kinds
    if request.source_kind:
        source_kind = SOURCE_IN[request.source_kind]
        yield lambda record: record.source is not None and record.source.kind is source_kind
    if request.source_id:
        yield lambda record: record.source is not None and record.source.id == request.source_id
    if request.session:
        yield lambda record: record.source is not None and record.source.session == request.session
    if request.HasField("created_after"):
        start = micros_of(request.created_after)
        yield lambda record: record.created_at >= start
    if request.HasField("created_before"):
        end = micros_of(request.created_before)
        yield lambda record: record.created_at < end


def _bad_token(problem: str) -> InvalidRequest:
    return InvalidRequest((Violation("page_token", problem),))
