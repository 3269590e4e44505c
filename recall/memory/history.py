"""The life of one memory, read from the log; what an import told of its life before goes first."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from recall.memory.beginning import KEPT, kept_at
from recall.memory.events import Event, Past
from recall.memory.fold import folded
from recall.memory.log_seam import Log
from recall.memory.names import text_hash
from recall.memory.record import Change, HistoryEntry, Record
from recall.memory.state import State

_ABOUT_THE_EVENT = frozenset({"seq", "at", "actor", "op", "note", "text"})
PAST_FIELDS = tuple(name for name in Past.__struct_fields__ if name not in _ABOUT_THE_EVENT)
"""The fields of a memory that a past event may have changed, its text apart."""


def history(log: Log, ordinal: int, seqs: Sequence[int], to_seq: int | None = None) -> Iterator[HistoryEntry]:
    """Each event of a memory up to `to_seq`, oldest first, and the memory and its text after it.

    `seqs` are those that `State.events_of` gives.
    """
    record, text = None, ""
    for seq in _up_to(to_seq, log.life(ordinal, seqs)):
        event = log.event(seq)
        record = folded(record, ordinal, seq, event.at, event)
        text = text if event.text is UNSET else event.text
        note = "" if event.note is UNSET else event.note
        yield from _before(event, record)
        yield HistoryEntry(seq, event.at, event.actor, event.op, note, record, text)


def length(log: Log, ordinal: int, seqs: Sequence[int], to_seq: int) -> int:
    """How many events `history` would give; reads one of them."""
    life = log.life(ordinal, seqs)
    return len(_up_to(to_seq, life)) + len(_past(log.event(life[0])))


def kept_changes(before: State, after: State) -> list[Change]:
    """The changes that the beginning of a log makes to the memories: none but where each text lies."""
    kept = zip(before.records, after.records, strict=True)
    first = after.base + 1
    return [Change(kept_at(was.ordinal, first), KEPT, was, now, None) for was, now in kept]


def _up_to(to_seq: int | None, seqs: list[int]) -> list[int]:
    return [seq for seq in seqs if to_seq is None or seq <= to_seq]


def _past(event: Event) -> tuple[Past, ...]:
    """What an import brought; a `kept` has some steps of reviewers, and no more of a life."""
    return () if event.past is UNSET or event.op == KEPT else event.past


def _before(event: Event, record: Record) -> Iterator[HistoryEntry]:
    text = ""
    for past in _past(event):
        changed = {name: value for name in PAST_FIELDS if (value := getattr(past, name)) is not UNSET}
        text = text if past.text is UNSET else past.text
        record = replace(record, text_hash=text_hash(text), **changed)
        yield HistoryEntry(past.seq, past.at, past.actor, past.op, past.note, record, text)
