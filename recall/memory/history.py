"""The life of one memory, read from the log; what an import told of its life before goes first."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from recall.memory.events import Event, Past
from recall.memory.fold import folded
from recall.memory.log import Log
from recall.memory.names import text_hash
from recall.memory.record import HistoryEntry, Record

_ABOUT_THE_EVENT = frozenset({"seq", "at", "actor", "op", "note", "text"})
PAST_FIELDS = tuple(name for name in Past.__struct_fields__ if name not in _ABOUT_THE_EVENT)
"""The fields of a memory that a past event may have changed, its text apart."""


def history(log: Log, ordinal: int, seqs: Sequence[int]) -> Iterator[HistoryEntry]:
    """Each event at `seqs` (all those of one memory, oldest first), and the memory and its text after it."""
    record, text = None, ""
    for seq in seqs:
        event = log.event(seq)
        record = folded(record, ordinal, seq, event.at, event)
        text = text if event.text is UNSET else event.text
        note = "" if event.note is UNSET else event.note
        yield from _before(event, record)
        yield HistoryEntry(seq, event.at, event.actor, event.op, note, record, text)


def _before(event: Event, record: Record) -> Iterator[HistoryEntry]:
    text = ""
    for past in () if event.past is UNSET else event.past:
        changed = {name: value for name in PAST_FIELDS if (value := getattr(past, name)) is not UNSET}
        text = text if past.text is UNSET else past.text
        record = replace(record, text_hash=text_hash(text), **changed)
        yield HistoryEntry(past.seq, past.at, past.actor, past.op, past.note, record, text)
