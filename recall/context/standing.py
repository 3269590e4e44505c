"""The standing memories of one bank, strongest first, and how a memory is written on a line."""

from __future__ import annotations

import heapq
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from recall.context.marking import harmless
from recall.memory.bank import Bank
from recall.memory.record import Record

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER = 2**62
MOST_BANKS_KEPT = 256


@dataclass(frozen=True, slots=True)
class Standing:
    """What of a bank may be given, as of one seq and until the next of it expires."""

    seq: int
    holds_until: int
    ranked: tuple[Record, ...]
    """By corroboration, then recency; the first of them."""
    ambient: tuple[Record, ...]
    """Pinned first, then as above; the first of them."""
    total: int


class Standings:
    """The standings of banks, kept while nothing changes. Safe in any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[Bank, Standing]] = OrderedDict()

    def of(self, bank: Bank, now: int) -> Standing:
        """The standing of an open bank at `now` (microseconds UTC)."""
        key = (bank.tenant, bank.name)
        with self._lock:
            owner, kept = self._kept.get(key, (None, None))
        if owner is bank and kept is not None and kept.seq == bank.last_seq and now < kept.holds_until:
            return kept
        made = standing(bank, now, self._most)
        with self._lock:
            self._kept[key] = (bank, made)
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_BANKS_KEPT:
                self._kept.popitem(last=False)
        return made


def standing(bank: Bank, now: int, most: int) -> Standing:
    """Ranked anew: one pass over the bank's records."""
    snapshot = bank.snapshot()
    usable = [record for record in snapshot.records if record.selectable(now)]
    ends = min((record.expires_at for record in usable if record.expires_at), default=_NEVER)
    ranked = heapq.nsmallest(most, usable, key=strength)
    ambient = heapq.nsmallest(most, usable, key=lambda record: (not record.pinned, *strength(record)))
    return Standing(snapshot.last_seq, ends, tuple(ranked), tuple(ambient), len(usable))


def strength(record: Record) -> tuple[int, int, str]:
    """Said most often first, then written last; the id makes the order total."""
    return -record.corroboration, -record.updated_at, record.id


def handle(bank: str, memory_id: str) -> str:
    """Eight characters that name a memory in what a turn is given."""
    return blake2b(f"{bank}/{memory_id}".encode(), digest_size=4).hexdigest()


def line(bank: str, record: Record, text: str, place: str = "") -> str:
    """A memory on a line of its own, whatever its text holds. `place` stands before its kind."""
    said = (_EPOCH + timedelta(microseconds=record.created_at)).date().isoformat()
    about = ", ".join(part for part in (place, record.kind.value, said, harmless(record.author)) if part)
    title = f"{harmless(record.title)}: " if record.title else ""
    return f"- ({handle(bank, record.id)}) [{about}] {title}{harmless(text)}\n"


Read = Callable[[str, Record], str]
"""The text of a memory of a bank."""
