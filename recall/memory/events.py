"""One event and its line in the log.

```
{"seq":7,"prev":"<sum of line 6>","at":1767225600000000,"actor":{"id":"local","role":"admin"},"op":"save",
 "id":"0197…", … only what the op needs …, "sum":"<32 hex digits>"}\\n          (one line; shown on two)
```

- `sum` is last: blake2b-128, in hex, over the bytes of the line before `,"sum":`.
- `prev` is the `sum` of the line before, "" in line 1. So an altered line fails its own sum, and a missing, doubled or
  moved line breaks the chain: the sum of a line stands for the whole log up to it.
- `more` counts the events of the same command that follow. Half a command is never taken in (see `log`).
- `at` and all other times are microseconds UTC.

Ops: bank, save, nominate, reinforce, update, pin, unpin, delete, supersede, expire, promote, reject, quarantine,
reaccept, import.
"""

from typing import NewType

import msgspec
from msgspec import UNSET, UnsetType

from recall.memory.record import Actor, BankInfo, Kind, Source, Status

Sum = NewType("Sum", str)

_TAIL_KEY = b',"sum":"'
_TAIL_LENGTH = len(_TAIL_KEY) + 32 + len(b'"}')


class Request(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The request_id an event was written for, by which verb, and which item of its batch."""

    id: str
    verb: str
    item: int = 0


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
    confidence: float | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    created_at: int | UnsetType = UNSET
    expires_at: int | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET
    predecessor: str | UnsetType = UNSET
    # supersede
    winner: str | UnsetType = UNSET
    # a reviewer's reason
    note: str | UnsetType = UNSET
    # import
    status: Status | UnsetType = UNSET
    corroboration: int | UnsetType = UNSET
    updated_at: int | UnsetType = UNSET
    revision: int | UnsetType = UNSET
    # bank
    info: BankInfo | UnsetType = UNSET
    request: Request | UnsetType = UNSET


class Event(Body, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log, without its sum."""

    seq: int
    prev: Sum
    at: int
    actor: Actor
    more: int = 0
