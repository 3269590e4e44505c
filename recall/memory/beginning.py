"""What a log that was vacuumed begins with: all that the events before it add up to, in as few events as that takes.

    vacuum     vacuum={seqs, head, follow, history, info, rules, requests, runs, undone, mined}
    kept       id, of=<its last event before>, text and every field, …      one for each memory, by ordinal
    vacuumed   holders={text hash: who holds it}                             where that does not follow from the order

The seqs go on: `vacuum` is event `seqs` + 1 and carries the sum of event `seqs` as its `prev`, so the chain goes
through all files of a bank. What came before lies in `history/`, see `segments`. None of these events is one of a
memory's life: the last event of a memory stays what it was.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from recall.memory.ranges import Count, Moment, Revision, Seq
from recall.memory.record import BankInfo

VACUUM, KEPT, VACUUMED = "vacuum", "kept", "vacuumed"
OPS_OF_A_VACUUM = frozenset({VACUUM, KEPT, VACUUMED})
"""Ops of a log's beginning. They stand nowhere else, and change no memory."""


def kept_at(ordinal: int, first_seq: int) -> int:
    """The seq of the `kept` of a memory in a log that begins anew with `first_seq`."""
    return first_seq + 1 + ordinal


class History(StrEnum):
    """What becomes of the events that a vacuum takes out of the log."""

    KEEP = "keep"  # their file belongs to the bank: backups hold it, and where it is missing the bank is not sound
    ARCHIVE = "archive"  # it may be taken away; what is asked of it meanwhile is answered while it lies there


class Asked(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A request_id and what it has done: (item, memory, seq) of each item of its batch."""

    id: str
    verb: str
    items: tuple[tuple[int, str, int], ...]


class KeptRule(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A rule; without a text it was taken out of use. `seqs` are the events that wrote it, most of them before."""

    name: str
    revision: Revision
    at: Moment
    seqs: tuple[Seq, ...]
    text: str = ""


class Vacuum(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many events came before, the sum of the last of them, and what the bank knows besides its memories.

    `follow` counts the events `kept` and `vacuumed` behind this one.
    """

    seqs: Seq
    head: str
    follow: Count
    history: History
    info: BankInfo
    rules: tuple[KeptRule, ...] = ()
    requests: tuple[Asked, ...] = ()
    runs: dict[str, tuple[Seq, ...]] = {}
    undone: tuple[tuple[str, str], ...] = ()
    mined: int = -1
