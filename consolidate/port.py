"""The door between tending and a bank. All that consolidation ever does to a bank goes through a `Port`.

Nothing behind it can write a text into use: it can merge what is there, and nominate what a reviewer then looks at.
Every method may raise PortError.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from consolidate.memo import Memo
from consolidate.plan import Pair
from consolidate.report import BankReport


@dataclass(frozen=True, slots=True)
class Leaving:
    """A loser as it was judged: gone only if it is still at this revision. `why` goes into its history."""

    id: str
    revision: int
    why: str


@dataclass(frozen=True, slots=True)
class MergeOrder:
    """One group to merge, all or none of those that did not move."""

    winner_id: str
    winner_revision: int
    losers: tuple[Leaving, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The losers that went (or came back), and (id, problem) of those that were left alone."""

    done: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Nomination:
    """A new text for a reviewer, and the ids of what it would replace or was taken from."""

    text: str
    kind: str
    tags: tuple[str, ...]
    role: str
    """What the ids are to it: "replaces", "rule-from" or "mined-from"."""
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode and its place: the cursor stands on the place of the last one that was mined."""

    memo: Memo
    place: int


class Port(Protocol):
    """One bank."""

    @property
    def name(self) -> str:
        """The bank's name."""

    @property
    def governed(self) -> bool:
        """True where nothing but a person may bring two memories together on a judge's word."""

    def memos(self) -> Sequence[Memo]:
        """Every memory in use, episodes left out."""

    def vectors(self, memos: Sequence[Memo]) -> NDArray[np.float32] | None:
        """(len(memos), dimensions), unit length, NaN where one is missing; None when there are none."""

    def undone(self) -> frozenset[Pair]:
        """Pairs whose merge a person took back."""

    def merge(self, run: str, order: MergeOrder) -> Outcome:
        """Carry a merge out: one write, checked against the bank as it is now."""

    def nominate(self, run: str, nomination: Nomination) -> bool:
        """Put a text before the reviewers; False when the bank has it already."""

    def episodes(self, limit: int, after: int | None) -> Sequence[Episode]:
        """The oldest live episodes behind a place; None stands for the bank's own cursor."""

    def record(self, report: BankReport, mined: int | None) -> None:
        """Write down what a run did, and the place of the last episode it mined."""

    def undo(self, run: str) -> Outcome:
        """Bring the losers of a run back."""
