"""What a bank is to its users, as plain values: so that two banks can be compared."""

from __future__ import annotations

import msgspec

from recall.memory.bank import Bank
from recall.memory.record import HistoryEntry, Record

_OF_THIS_LOG = ("ordinal", "text_seq", "review")
"""Where things lie, which a copy may do otherwise."""
_SINCE: dict[str, object] = {"title": "", "replaces": (), "evidence": (), "moved_to": ""}
"""Fields that came later, which an older release knew nothing of."""


def memories(bank: Bank) -> list[dict[str, object]]:
    """Every memory with its text, in the order of first save."""
    return [_plain(record, bank.text(record)) for record in bank.records()]


def histories(bank: Bank) -> dict[str, list[tuple[object, ...]]]:
    """What happened to every memory, less the import that brought it."""
    return {
        record.id: [_event(entry) for entry in bank.history(record.id) if entry.op != "import"]
        for record in bank.records()
    }


def _event(entry: HistoryEntry) -> tuple[object, ...]:
    return entry.at, entry.actor, entry.op, entry.note, _plain(entry.record, entry.text)


def _plain(record: Record, text: str) -> dict[str, object]:
    fields = msgspec.structs.asdict(record)
    known = {name: value for name, value in fields.items() if _SINCE.get(name, _SINCE) != value}
    return {name: value for name, value in known.items() if name not in _OF_THIS_LOG} | {"text": text}


def facts(bank: Bank) -> object:
    """All of it as JSON has it, for a file."""
    whole = {
        "info": bank.info,
        "last_seq": bank.last_seq,
        "memories": memories(bank),
        "events": {record.id: [list(_told(entry)) for entry in bank.history(record.id)] for record in bank.records()},
    }
    return msgspec.json.decode(msgspec.json.encode(whole))


def _told(entry: HistoryEntry) -> tuple[object, ...]:
    return entry.seq, *_event(entry)
