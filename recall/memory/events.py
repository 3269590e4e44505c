"""One event and its line in the log.

```
{"seq":7,"prev":"<sum of line 6>","at":1767225600000000,"actor":{"id":"local","role":"admin"},"op":"save",
 "id":"0197…", … only what the op needs …, "sum":"<32 hex digits>"}\\n          (one line; shown on two)
```

- `sum` is last: blake2b-128, in hex, over the bytes of the line before `,"sum":`.
- `prev` is the `sum` of the line before, "" in line 1. So an altered line fails its own sum, and a missing, doubled or
  moved line breaks the chain: the sum of a line stands for the whole log up to it.
- `more` counts the events of the same command that follow, and `batch` names the first seq of the same physical write
  (left out when that is the event itself). Both let a reader judge a torn write: see `scan`.
- `at` and all other times are microseconds UTC.

Ops of a memory: save, nominate, reinforce, update, pin, unpin, delete, supersede, expire, promote, reject,
quarantine, reaccept, import, absorb, release, restore, edit, prefer; of a move arrive, depart, return; of what takes a
decision back undo-promote, undo-reject, undo-reject-quarantined, undo-quarantine, undo-reaccept. Ops of the bank: bank,
run, settle (a move), and of a rule: rule (written, with its whole text), unrule (taken out of use). A log that was
vacuumed begins with vacuum, kept and vacuumed: see `beginning`.

`run` on an event names the consolidation run that wrote it. A run writes, in one command for each group, the pair

```
absorb     id=<winner> loser=<loser> run=… corroboration=<gain> tags=<new ones> entities=<new ones> updated_at=…
supersede  id=<loser> winner=<winner> run=… note=<why> updated_at=<as it was before>
```

and at its end `run` (run=…, report=<JSON, opaque here>, mined=<ordinal of the last episode that was mined>). Undoing it
writes `release` (of the winner, what `absorb` gave) and `restore` (of the loser) for each pair, with the same `run`.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import NewType

import msgspec
from msgspec import UNSET, UnsetType

from recall.memory.beginning import Vacuum
from recall.memory.ranges import Count, Moment, Ordinal, Revision, Seq, Share
from recall.memory.record import Actor, BankInfo, Evidence, Kind, Review, Source, Status

Sum = NewType("Sum", str)
NO_SUM = Sum("")
"""What stands for no line at all."""

_TAIL_KEY = b',"sum":"'
_TAIL_LENGTH = len(_TAIL_KEY) + 32 + len(b'"}')


class Request(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The request_id an event was written for, by which verb, and which item of its batch."""

    id: str
    verb: str
    item: int = 0


class Past(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An event of a memory in the bank it was imported from: its `seq` is of that log. Only what it changed is set."""

    seq: Seq
    at: Moment
    actor: Actor
    op: str
    note: str = ""
    text: str | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
    entities: tuple[str, ...] | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    author: str | UnsetType = UNSET
    source: Source | UnsetType | None = UNSET
    confidence: Share | UnsetType = UNSET
    corroboration: Count | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    created_at: Moment | UnsetType = UNSET
    updated_at: Moment | UnsetType = UNSET
    expires_at: Moment | UnsetType = UNSET
    superseded_by: str | UnsetType = UNSET
    predecessor: str | UnsetType = UNSET
    revision: Revision | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET
    title: str | UnsetType = UNSET
    replaces: tuple[str, ...] | UnsetType = UNSET
    evidence: tuple[Evidence, ...] | UnsetType = UNSET


class RuleText(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A rule as it is written; no text where it is taken out of use."""

    name: str
    revision: Revision
    text: str = ""


class Origin(msgspec.Struct, frozen=True, gc=False):
    """Where a memory that was moved comes from: the bank, its id there, and its revision when it left."""

    bank: str
    id: str
    revision: Revision


class Body(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a command wants to happen; UNSET fields are not part of it."""

    op: str
    id: str = ""
    text: str | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
    entities: tuple[str, ...] | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    author: str | UnsetType = UNSET
    source: Source | UnsetType = UNSET
    confidence: Share | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    created_at: Moment | UnsetType = UNSET
    expires_at: Moment | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET
    predecessor: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    evidence: tuple[Evidence, ...] | UnsetType = UNSET
    # arrive; depart: where it went, as "bank/id"
    origin: Origin | UnsetType = UNSET
    to: str | UnsetType = UNSET
    # what a reviewer replaced by it
    replaces: tuple[str, ...] | UnsetType = UNSET
    # undo-…: the seq of the decision that is taken back; kept: that of the memory's last event before
    of: Seq | UnsetType = UNSET
    # supersede
    winner: str | UnsetType = UNSET
    # absorb, release
    loser: str | UnsetType = UNSET
    # what a consolidation run wrote
    run: str | UnsetType = UNSET
    report: str | UnsetType = UNSET
    mined: Ordinal | UnsetType = UNSET
    # a reviewer's reason
    note: str | UnsetType = UNSET
    # import
    status: Status | UnsetType = UNSET
    corroboration: Count | UnsetType = UNSET
    updated_at: Moment | UnsetType = UNSET
    revision: Revision | UnsetType = UNSET
    past: tuple[Past, ...] | UnsetType = UNSET
    # bank
    info: BankInfo | UnsetType = UNSET
    # rule, unrule
    rule: RuleText | UnsetType = UNSET
    request: Request | UnsetType = UNSET
    # vacuum, kept, vacuumed
    vacuum: Vacuum | UnsetType = UNSET
    review: Review | UnsetType = UNSET
    holders: dict[str, str] | UnsetType = UNSET


class Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the log adds to a body, before it on the line."""

    seq: int
    prev: Sum
    at: Moment
    actor: Actor
    more: int = 0
    batch: int = 0


class Event(Body, frozen=True, kw_only=True, omit_defaults=True):
    """One line as it is read: header and body."""

    seq: int
    prev: Sum
    at: Moment
    actor: Actor
    more: int = 0
    batch: int = 0

    @property
    def first_of_write(self) -> int:
        """The first seq of the physical write that brought this event to the disk."""
        return self.batch or self.seq


class HandEdit(Body, frozen=True, kw_only=True, omit_defaults=True):
    """A line as a person may have left it: chain and sum do not count, time and writer may be missing."""

    at: Moment = 0
    actor: Actor = Actor("hand", "admin")


class Said(msgspec.Struct, frozen=True):
    """The text an event brought, and of which memory."""

    text: str
    id: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A body to be written: by whom, when, and how many events of its command follow."""

    body: Body
    at: Moment
    actor: Actor
    more: int = 0


class LineError(ValueError):
    """A line is not what the log would have written; the message says why."""


_ENCODER = msgspec.json.Encoder()
_EVENTS = msgspec.json.Decoder(Event)
_EDITS = msgspec.json.Decoder(HandEdit)
_SAID = msgspec.json.Decoder(Said)
_OBJECTS = msgspec.json.Decoder(dict[str, object])


def checksum(data: bytes) -> Sum:
    """blake2b-128 in hex."""
    return Sum(blake2b(data, digest_size=16).hexdigest())


def encode(entry: Entry, seq: int, prev: Sum, batch: int) -> tuple[bytes, Sum]:
    """The whole line with its newline, and its sum. `batch` is the first seq of the write."""
    header = Header(
        seq=seq, prev=prev, at=entry.at, actor=entry.actor, more=entry.more, batch=batch if batch != seq else 0
    )
    summed = b"%b,%b" % (_ENCODER.encode(header)[:-1], _ENCODER.encode(entry.body)[1:-1])
    stamp = checksum(summed)
    return b'%b%b%b"}\n' % (summed, _TAIL_KEY, stamp.encode()), stamp


def decode(line: bytes) -> tuple[Event, Sum]:
    """An event and its sum out of a line without its newline. Raises LineError when the sum does not hold."""
    stamp = verified_sum(line)
    try:
        return _EVENTS.decode(line), stamp
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise LineError(f"is not an event: {error}") from None


def decode_said(line: bytes) -> Said:
    """The text of a line that holds one; the sum must hold. Raises LineError."""
    verified_sum(line)
    try:
        return _SAID.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise LineError(f"holds no text: {error}") from None


def decode_edited(line: bytes) -> HandEdit:
    """What a person wrote, whatever the chain says. Raises LineError."""
    try:
        return _EDITS.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise LineError(f"cannot be read: {error}") from None


def is_object(line: bytes) -> bool:
    """Whether it is a whole JSON object, whatever it says."""
    try:
        _OBJECTS.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def verified_sum(line: bytes) -> Sum:
    """The sum of a line without its newline. Raises LineError when it does not hold."""
    summed, tail = line[:-_TAIL_LENGTH], line[-_TAIL_LENGTH:]
    if not tail.startswith(_TAIL_KEY) or not tail.endswith(b'"}'):
        raise LineError(_shape_problem(line))
    stamp = checksum(summed)
    if tail[len(_TAIL_KEY) : -2] != stamp.encode():
        raise LineError("was altered: its sum does not hold")
    return stamp


def _shape_problem(line: bytes) -> str:
    if line.endswith(b"\r"):
        return "ends in CRLF: an editor changed the line ends"
    if b"\0" in line:
        return "holds zero bytes"
    if not line.startswith(b"{"):
        return "is not an event of this log"
    return "was altered: it does not end in its sum"
