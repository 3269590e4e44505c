"""A live bank as consolidation sees it: `consolidate.port.Port` over `Bank` and `BankIndex`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np
from numpy.typing import NDArray

from consolidate.errors import PortError
from consolidate.memo import Memo
from consolidate.port import Episode, MergeOrder, Nomination, Outcome
from consolidate.report import BankReport, encode
from recall.memory.bank import Bank
from recall.memory.clock import Clock
from recall.memory.errors import MemoryServiceError
from recall.memory.lifecycle import Role
from recall.memory.merging import MergeLoser, Moved
from recall.memory.record import Actor, Kind, NewMemory, Record, Status
from recall.memory.run_book import RunBook
from recall.ranking.bank_index import BankIndex

JOB: Final = Actor("consolidate", Role.JOB)
"""Who acts in a run, whoever asked for it: a run has the rights of an automatic path and no more."""
_TEXTS_A_BREATH = 32
_MOST_IDS = 24
"""Ids that the metadata of a nomination names; it may hold 4 KiB in all."""


class BankPort:
    """One open bank. `breathe` is called every few texts, so that reading a large bank leaves room for recalls."""

    def __init__(
        self,
        bank: Bank,
        index: BankIndex,
        clock: Clock,
        breathe: Callable[[], object],
        actor: Actor = JOB,
        governed: bool = False,
    ) -> None:
        self._bank = bank
        self._runs = RunBook(bank)
        self._index = index
        self._clock = clock
        self._breathe = breathe
        self._actor = actor
        self._governed = governed

    @property
    def name(self) -> str:
        """The bank's name."""
        return self._bank.name

    @property
    def governed(self) -> bool:
        """True where nothing but a person may bring two memories together on a judge's word."""
        return self._governed

    def memos(self) -> Sequence[Memo]:
        """Every memory in use, episodes left out."""
        now = self._clock.now()
        return self._memos([record for record in self._bank.records() if record.selectable(now)])

    def vectors(self, memos: Sequence[Memo]) -> NDArray[np.float32] | None:
        """(len(memos), dimensions), unit length, NaN where one is missing; None when there are none."""
        with _refusals():
            ordinals = [self._bank.get(memo.id).ordinal for memo in memos]
        return self._index.vectors_of(ordinals)

    def undone(self) -> frozenset[tuple[str, str]]:
        """Pairs whose merge a person took back."""
        return self._runs.undone()

    def merge(self, run: str, order: MergeOrder) -> Outcome:
        """One write, checked against the bank as it is now."""
        losers = [MergeLoser(loser.id, loser.revision, loser.why) for loser in order.losers]
        with _refusals():
            merged = self._runs.merge(run, order.winner_id, order.winner_revision, losers, self._actor)
        return Outcome(tuple(record.id for record in merged.losers), _pairs(merged.moved))

    def nominate(self, run: str, nomination: Nomination) -> bool:
        """Put a text before the reviewers; a text that the bank has or ever had is not put there again."""
        if self._bank.holder(nomination.text) is not None:
            return False
        memory = NewMemory(
            text=nomination.text,
            kind=Kind(nomination.kind),
            tags=nomination.tags,
            metadata={"run": run, nomination.role: " ".join(nomination.ids[:_MOST_IDS])},
        )
        with _refusals():
            [result] = self._bank.nominate([memory], self._actor)
            if isinstance(result, MemoryServiceError):
                raise result
        return result.record.status is Status.NOMINATED

    def episodes(self, limit: int, after: int | None) -> Sequence[Episode]:
        """The oldest live episodes behind a place; None stands for the bank's own cursor."""
        now = self._clock.now()
        cursor = self._runs.mined if after is None else after
        found = [record for record in self._bank.records()[cursor + 1 :] if _minable(record, now)][:limit]
        memos = self._memos(found)
        return [Episode(memo, record.ordinal) for memo, record in zip(memos, found, strict=True)]

    def record(self, report: BankReport, mined: int | None) -> None:
        """Write down what a run did, and the place of the last episode it mined."""
        with _refusals():
            self._runs.record(report.run, encode(report), self._actor, mined)

    def undo(self, run: str) -> Outcome:
        """Bring the losers of a run back. Raises RunNotFound, IllegalTransition as the bank does."""
        undone = self._runs.undo(run, self._actor)
        return Outcome(tuple(record.id for record in undone.restored), _pairs(undone.moved))

    def _memos(self, records: Sequence[Record]) -> Sequence[Memo]:
        memos: list[Memo] = []
        with _refusals():
            for place, record in enumerate(records):
                if place % _TEXTS_A_BREATH == 0:
                    self._breathe()
                memos.append(_memo(record, self._bank.text(record)))
        return memos


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except MemoryServiceError as error:
        raise PortError(str(error)) from error


def _memo(record: Record, text: str) -> Memo:
    return Memo(
        id=record.id,
        text=text,
        kind=record.kind.value,
        tags=record.tags,
        entities=record.entities,
        author=record.author,
        agent="" if record.source is None else record.source.agent,
        pinned=record.pinned,
        corroboration=record.corroboration,
        created_at=record.created_at,
        revision=record.revision,
    )


def _minable(record: Record, now: int) -> bool:
    return record.kind is Kind.EPISODE and record.status is Status.ACCEPTED and not record.expired(now)


def _pairs(moved: Sequence[Moved]) -> tuple[tuple[str, str], ...]:
    return tuple((one.id, one.problem) for one in moved)
