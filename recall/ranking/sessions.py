"""Who said what next: memories of one session, in the order of their position, and each one's neighbours.

`neighbours` has a column for each distance (-reach … -1, +1 … +reach): the ordinal of that neighbour of each memory,
-1 where there is none. `codes` tells which session each memory is in, 0 for none. Distance is counted in memories, not
in positions, so a gap left by a retired memory closes. Without a session or a position there are no neighbours.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from recall.memory.record import Record
from recall.ranking.growing import Growing

NONE = -1


class Sessions:
    """Neighbours of the accepted memories of one bank, up to `reach` steps away."""

    def __init__(self, reach: int) -> None:
        self._reach = reach
        self._columns = tuple(Growing(np.int64, fill=NONE) for _ in range(2 * reach))
        self._codes = Growing(np.int64)
        self._code_of: dict[str, int] = {}
        self._named = [""]  # by code
        self._ordinals: dict[str, NDArray[np.int64]] = {}  # of members, where they were asked for since they changed
        self._members: dict[str, list[tuple[int, int]]] = {}
        self._places: dict[int, tuple[str, int]] = {}

    def __len__(self) -> int:
        """Memories that are in a session."""
        return len(self._places)

    def neighbours(self, size: int) -> tuple[NDArray[np.int64], ...]:
        """For each of `distances`, (size,) ordinals, NONE where there is no neighbour."""
        return tuple([column.view(size) for column in self._columns])

    def codes(self, size: int) -> NDArray[np.int64]:
        """(size,) which session, 0 for none."""
        return self._codes.view(size)

    def members(self, codes: Iterable[int]) -> NDArray[np.int64]:
        """Ordinals of all memories of these sessions."""
        found = [self._members_of(self._named[code]) for code in codes]
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def _members_of(self, session: str) -> NDArray[np.int64]:
        found = self._ordinals.get(session)  # readers may race: all make the same
        if found is None:
            found = np.array([ordinal for _, ordinal in self._members.get(session, ())], np.int64)
            self._ordinals[session] = found
        return found

    def distances(self) -> tuple[int, ...]:
        """Steps away of each column of `neighbours`."""
        return (*range(self._reach, 0, -1), *range(1, self._reach + 1))

    def fill(self, records: Iterable[Record]) -> None:
        """`place` of each where there is none yet: every session is sorted and linked once."""
        for record in records:
            place = _place(record)
            if place is not None:
                self._places[record.ordinal] = place
                self._members.setdefault(place[0], []).append((place[1], record.ordinal))
        for session, members in self._members.items():
            members.sort()
            code = self._code(session)
            for at, (_, ordinal) in enumerate(members):
                self._codes[ordinal] = code
                self._link(members, at)

    def place(self, record: Record) -> None:
        """Put a memory where its source says, from where it was before."""
        place = _place(record)
        if self._places.get(record.ordinal) == place:
            return
        self.remove(record.ordinal)
        if place is None:
            return
        self._places[record.ordinal] = place
        self._codes[record.ordinal] = self._code(place[0])
        members = self._members.setdefault(place[0], [])
        self._ordinals.pop(place[0], None)
        entry = (place[1], record.ordinal)
        insort(members, entry)
        self._relink(members, bisect_left(members, entry))

    def remove(self, ordinal: int) -> None:
        """Take a memory out of its session; its neighbours close up."""
        place = self._places.pop(ordinal, None)
        if place is None:
            return
        members = self._members[place[0]]
        self._ordinals.pop(place[0], None)
        at = bisect_left(members, (place[1], ordinal))
        del members[at]
        for column in self._columns:
            column[ordinal] = NONE
        self._codes[ordinal] = 0
        self._relink(members, at)
        if not members:
            del self._members[place[0]]

    def _code(self, session: str) -> int:
        code = self._code_of.setdefault(session, len(self._named))
        if code == len(self._named):
            self._named.append(session)
        return code

    def _relink(self, members: list[tuple[int, int]], around: int) -> None:
        for at in range(max(0, around - self._reach), min(len(members), around + self._reach + 1)):
            self._link(members, at)

    def _link(self, members: list[tuple[int, int]], at: int) -> None:
        for column, other in zip(self._columns, self._others(at), strict=True):
            column[members[at][1]] = members[other][1] if 0 <= other < len(members) else NONE

    def _others(self, at: int) -> tuple[int, ...]:
        return (*range(at - self._reach, at), *range(at + 1, at + self._reach + 1))


def _place(record: Record) -> tuple[str, int] | None:
    source = record.source
    if source is None or not source.session or source.position is None:
        return None
    return source.session, source.position
