"""The sweep: records that memories are past their time, and takes out of use what stands on a source that fell.

It can only ever remove influence: its one actor is a JOB, which has no edge into use, and it writes nothing but
`expire` and `quarantine`. Pinned memories are left alone and told. A source fell when

- somebody says so in the request: its (kind, id), or its id alone when the kind is None;
- it is a memory of this bank (the source's id is that memory's) that was rejected, retired, quarantined or superseded.
  A memory that a consolidation run merged into one that says the same has not fallen.

What was quarantined waits for a reviewer, whatever becomes of the source afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from recall.memory.bank import Bank
from recall.memory.errors import MemoryServiceError
from recall.memory.lifecycle import Action, Role
from recall.memory.record import Actor, Record, SourceKind, Status
from recall.memory.run_book import RunBook

SWEEP: Final = Actor("sweep", Role.JOB)
_BATCH = 256
_FALLEN = frozenset({Status.REJECTED, Status.RETIRED, Status.QUARANTINED, Status.SUPERSEDED})


@dataclass(frozen=True, slots=True)
class FallenSource:
    """A source that was superseded or retracted; `kind` None means any."""

    kind: SourceKind | None
    id: str


@dataclass(frozen=True, slots=True)
class Left:
    """A memory that the sweep left alone, and why."""

    id: str
    problem: str


@dataclass(frozen=True, slots=True)
class Swept:
    """Ids of what is recorded as expired, of what was quarantined, and what was left alone."""

    expired: tuple[str, ...]
    quarantined: tuple[str, ...]
    left: tuple[Left, ...]


def sweep(bank: Bank, fallen: Sequence[FallenSource], now: int, dry_run: bool = False) -> Swept:
    """Sweep one bank at `now` (microseconds UTC); a dry run only tells what it would do."""
    records = bank.records()
    past = [record for record in records if record.status.live and record.expired(now)]
    standing = [record for record in records if record.status is Status.ACCEPTED and not record.expired(now)]
    doubtful = list(_doubtful(bank, standing, fallen))
    if dry_run:
        left = tuple(Left(record.id, "is pinned") for record in (*past, *(d for d, _ in doubtful)) if record.pinned)
        return Swept(
            tuple(record.id for record in past if not record.pinned),
            tuple(record.id for record, _ in doubtful if not record.pinned),
            left,
        )
    expired, left_alone = _expire(bank, past)
    quarantined, kept = _quarantine(bank, doubtful)
    return Swept(tuple(expired), tuple(quarantined), (*left_alone, *kept))


def _expire(bank: Bank, past: Sequence[Record]) -> tuple[list[str], list[Left]]:
    expired: list[str] = []
    left: list[Left] = []
    for start in range(0, len(past), _BATCH):
        batch = past[start : start + _BATCH]
        for record, result in zip(batch, bank.expire([record.id for record in batch], SWEEP), strict=True):
            if isinstance(result, MemoryServiceError):
                left.append(Left(record.id, str(result)))
            else:
                expired.append(record.id)
    return expired, left


def _quarantine(bank: Bank, doubtful: Iterable[tuple[Record, str]]) -> tuple[list[str], list[Left]]:
    quarantined: list[str] = []
    left: list[Left] = []
    for record, why in doubtful:
        try:
            bank.transition(record.id, Action.QUARANTINE, SWEEP, why)
        except MemoryServiceError as error:
            left.append(Left(record.id, str(error)))
        else:
            quarantined.append(record.id)
    return quarantined, left


def _doubtful(bank: Bank, standing: Iterable[Record], fallen: Sequence[FallenSource]) -> Iterator[tuple[Record, str]]:
    """Memories whose source fell, each with the reason."""
    said = {(source.kind, source.id) for source in fallen}
    with_source = ((record, record.source) for record in standing if record.source is not None and record.source.id)
    status = {str(record.id): record for record in bank.records() if record.status in _FALLEN}
    merged = _merged(bank) if status else frozenset()
    for record, source in with_source:
        cited = status.get(source.id)
        if (source.kind, source.id) in said or (None, source.id) in said:
            yield record, f"its source {source.kind or ''} {source.id} was superseded or retracted".replace("  ", " ")
        elif cited is not None and cited.id != record.id and cited.id not in merged:
            yield record, f"its source, memory {source.id}, is {cited.status}"


def _merged(bank: Bank) -> frozenset[str]:
    """Memories that consolidation runs merged into another that says the same."""
    book = RunBook(bank)
    return frozenset(given.loser_id for run in book.runs() for given in book.run(run).given)
