"""The life of one memory, read from the log."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from recall.memory.fold import folded
from recall.memory.log import Log
from recall.memory.record import HistoryEntry


def history(log: Log, ordinal: int, seqs: Sequence[int]) -> Iterator[HistoryEntry]:
    """Each event at `seqs` (all those of one memory, oldest first), and the memory and its text after it."""
    record, text = None, ""
    for seq in seqs:
        event = log.event(seq)
        record = folded(record, ordinal, seq, event.at, event)
        text = text if event.text is UNSET else event.text
        note = "" if event.note is UNSET else event.note
        yield HistoryEntry(seq, event.at, event.actor, event.op, note, record, text)
