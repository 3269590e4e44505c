"""The best of the fused list, as the stages after the fusion pass it on: reordered, folded, cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recall.memory.errors import MemoryNotFound
from recall.memory.record import MemoryId, Record
from recall.ranking.results import Signal


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory that may become a result."""

    record: Record
    total: float
    """The sum of its signals; `fuse.positive` makes the score of it."""
    signals: tuple[Signal, ...] = ()
    restatements: tuple[MemoryId, ...] = ()
    """Memories that say the same and were folded into this one."""

    @property
    def ordinal(self) -> int:
        """Of the memory."""
        return self.record.ordinal


class Texts:
    """Texts of candidates, each read from the log once, when it is first needed."""

    def __init__(self, read: Callable[[Record], str]) -> None:
        self._read = read
        self._known: dict[int, str] = {}

    def of(self, record: Record) -> str:
        """The text of a memory."""
        text = self._known.get(record.ordinal)
        if text is None:
            text = self._known[record.ordinal] = self._read(record)
        return text

    def of_those_left(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates whose texts are still there; the log may have been edited or deleted since they were found."""
        return [one for one in candidates if self._has(one.record)]

    def _has(self, record: Record) -> bool:
        try:
            self.of(record)
        except MemoryNotFound:
            return False
        return True
