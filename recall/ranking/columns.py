"""What ranking needs to know of every memory of a bank, as columns by ordinal.

Ordinals are dense, so a column is one growable numpy array. Records are kept by reference: they are immutable, so a
recall reads a consistent one however the bank moves on. The caller serialises writes against reads (see `latch`).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recall.memory.record import Kind, Record, Status
from recall.ranking.growing import Growing
from recall.ranking.settings import RankingSettings
from recall.ranking.tag_postings import TagPostings
from recall.ranking.text_notes import NoteRows, TextNotes

KIND_CODES = {kind: code for code, kind in enumerate(Kind)}
NO_AUTHOR = 0

ARCHIVED = frozenset({Status.SUPERSEDED, Status.RETIRED, Status.EXPIRED})
"""Statuses that a query with `include_superseded` also ranks."""


class Columns:
    """Columns of one bank; every array property has shape (size,)."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.tags = TagPostings()
        self.version = 0
        """Grows with every write; what is computed from the columns may be kept as long as it stands."""
        self._created = Growing(np.int64)
        self._said = Growing(np.int64)
        self._updated = Growing(np.int64)
        self._expires = Growing(np.int64)
        self._corroboration = Growing(np.float64)
        self._pinned = Growing(np.bool_)
        self._accepted = Growing(np.bool_)
        self._archived = Growing(np.bool_)
        self._kind = Growing(np.uint8)
        self._short = Growing(np.float64)
        self._root_short = Growing(np.float64)
        self._asks = Growing(np.bool_)
        self._boosted: set[int] = set()
        self._expiring: set[int] = set()
        self._author = Growing(np.int32)
        self._authors: dict[str, int] = {}
        self._author_counts: dict[int, int] = {}
        self.accepted_count = 0

    @property
    def size(self) -> int:
        """Ordinals in use, whatever their status."""
        return len(self.records)

    @property
    def created_at(self) -> NDArray[np.int64]:
        """Microseconds UTC."""
        return self._created.view(self.size)

    @property
    def said_at(self) -> NDArray[np.int64]:
        """When the text was last said, in microseconds UTC: the time that recency counts from."""
        return self._said.view(self.size)

    @property
    def updated_at(self) -> NDArray[np.int64]:
        """Microseconds UTC."""
        return self._updated.view(self.size)

    @property
    def corroboration(self) -> NDArray[np.float64]:
        """ln(1 + times saved again)."""
        return self._corroboration.view(self.size)

    @property
    def pinned(self) -> NDArray[np.bool_]:
        """True for a pin."""
        return self._pinned.view(self.size)

    @property
    def kind(self) -> NDArray[np.uint8]:
        """Values of KIND_CODES."""
        return self._kind.view(self.size)

    @property
    def author(self) -> NDArray[np.int32]:
        """Codes of `author_code`; NO_AUTHOR where nobody is named."""
        return self._author.view(self.size)

    @property
    def short(self) -> NDArray[np.float64]:
        """1 for a short text, less in proportion for a longer one."""
        return self._short.view(self.size)

    @property
    def root_short(self) -> NDArray[np.float64]:
        """The square root of `short`."""
        return self._root_short.view(self.size)

    @property
    def asks(self) -> NDArray[np.bool_]:
        """True for a text that is nothing but a short question."""
        return self._asks.view(self.size)

    @property
    def boosted(self) -> frozenset[int]:
        """Ordinals of memories that were saved again or pinned."""
        return frozenset(self._boosted)

    @property
    def boosted_count(self) -> int:
        """How many they are."""
        return len(self._boosted)

    @property
    def any_boosted(self) -> bool:
        """Whether some memory was saved again or pinned."""
        return bool(self._boosted)

    def describe(self, ordinal: int, notes: TextNotes, settings: RankingSettings) -> None:
        """Take over what ranking needs to know of a text."""
        length = notes.length(ordinal)
        short = settings.short_characters / max(length, settings.short_characters)
        self._short[ordinal], self._root_short[ordinal] = short, math.sqrt(short)
        self._asks[ordinal] = length < settings.bare_question_characters and notes.question(ordinal)

    def describe_all(self, rows: NoteRows, settings: RankingSettings) -> None:
        """`describe` of many texts at once."""
        short = settings.short_characters / np.maximum(rows.lengths, settings.short_characters)
        self._short.put(rows.ordinals, short)
        self._root_short.put(rows.ordinals, np.sqrt(short))
        self._asks.put(rows.ordinals, rows.questions & (rows.lengths < settings.bare_question_characters))

    def fill(self, records: Sequence[Record]) -> None:
        """`put` of every memory of a bank, by ordinal, into columns that are empty: a column at a time."""
        self.records = list(records)
        self._created.fill([one.created_at for one in records])
        self._said.fill([_said_at(one) for one in records])
        self._updated.fill([one.updated_at for one in records])
        self._expires.fill([one.expires_at for one in records])
        self._corroboration.fill([math.log1p(one.corroboration) for one in records])
        self._pinned.fill([one.pinned for one in records])
        self._accepted.fill([indexed(one) for one in records])
        self._archived.fill([archived(one) for one in records])
        self._kind.fill([KIND_CODES[one.kind] for one in records])
        self._author.fill([self._intern(one.author) for one in records])
        self._boosted = {one.ordinal for one in records if one.pinned or one.corroboration > 0}
        self._expiring = {one.ordinal for one in records if one.expires_at}
        for one in records:
            self.tags.put(one.ordinal, one.tags)
        said = np.bincount(self.author[self.accepted()])
        self._author_counts = {code: int(count) for code, count in enumerate(said) if count and code != NO_AUTHOR}
        self.accepted_count = int(self.accepted().sum())
        self.version += 1

    def put(self, record: Record) -> None:
        """Write the row of `record`; its ordinal is in use or the next free one."""
        self._keep(record)
        at = record.ordinal
        self._created[at] = record.created_at
        self._said[at] = _said_at(record)
        self._updated[at] = record.updated_at
        self._expires[at] = record.expires_at
        self._corroboration[at] = math.log1p(record.corroboration)
        self._pinned[at] = record.pinned
        self._accepted[at] = indexed(record)
        self._archived[at] = archived(record)
        self._kind[at] = KIND_CODES[record.kind]
        self._author[at] = self._intern(record.author)
        self._count(at, 1)
        self._note(record)
        self.version += 1

    def selectable(self, now: int) -> NDArray[np.bool_]:
        """Memories in use at `now`: accepted, not an episode, not past their time. Not to be written to."""
        return self.accepted() & ~self._past(now) if self._expiring else self.accepted()

    def archived(self, now: int) -> NDArray[np.bool_]:
        """Superseded, retired and expired memories, recorded as such or merely past their time."""
        archived: NDArray[np.bool_] = self._archived.view(self.size) | (self.accepted() & self._past(now))
        return archived

    def accepted(self) -> NDArray[np.bool_]:
        """Memories that every leg holds: accepted and not an episode, expired ones included."""
        accepted: NDArray[np.bool_] = self._accepted.view(self.size)
        return accepted

    def author_code(self, name: str) -> int:
        """The code of an author, NO_AUTHOR for a stranger."""
        return self._authors.get(name.casefold(), NO_AUTHOR)

    def author_share(self, name: str) -> float:
        """Part of the accepted memories that this author said."""
        return self._author_counts.get(self.author_code(name), 0) / max(1, self.accepted_count)

    def _past(self, now: int) -> NDArray[np.bool_]:
        expires: NDArray[np.int64] = self._expires.view(self.size)
        past: NDArray[np.bool_] = (expires != 0) & (expires <= now)
        return past

    def _note(self, record: Record) -> None:
        boosted = record.pinned or record.corroboration > 0
        (self._boosted.add if boosted else self._boosted.discard)(record.ordinal)
        (self._expiring.add if record.expires_at else self._expiring.discard)(record.ordinal)

    def _keep(self, record: Record) -> None:
        at = record.ordinal
        if at == self.size:
            self.records.append(record)
            self.tags.put(at, record.tags)
            return
        self._count(at, -1)
        before = self.records[at].tags
        self.records[at] = record
        self.tags.put(at, [tag for tag in record.tags if tag not in before])
        self.tags.drop(at, [tag for tag in before if tag not in record.tags])

    def _count(self, at: int, step: int) -> None:
        if not self._accepted.view(self.size)[at]:
            return
        self.accepted_count += step
        code = int(self._author.view(self.size)[at])
        if code != NO_AUTHOR:
            self._author_counts[code] = self._author_counts.get(code, 0) + step

    def _intern(self, author: str) -> int:
        if not author:
            return NO_AUTHOR
        return self._authors.setdefault(author.casefold(), len(self._authors) + 1)


def _said_at(record: Record) -> int:
    return max(record.created_at, record.updated_at) if record.corroboration else record.created_at


def indexed(record: Record) -> bool:
    """True when every leg holds the memory. Expiry by time is a read predicate, so it does not count here."""
    return record.status is Status.ACCEPTED and record.kind is not Kind.EPISODE


def archived(record: Record) -> bool:
    """True when only a query with `include_superseded` may rank the memory."""
    return record.status in ARCHIVED and record.kind is not Kind.EPISODE
