"""Who put a memory where it is, read from the events that its record points to; at most three are read.

Of a memory from elsewhere they stand in the past that came with it, and of one whose events a vacuum archived in its
`kept`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import UNSET

from recall.memory.beginning import KEPT
from recall.memory.events import Event, Past
from recall.memory.fold import DECISIONS
from recall.memory.record import Actor, Review


@dataclass(frozen=True, slots=True)
class Step:
    """One event: what was done by whom, when (microseconds UTC), and why."""

    op: str
    actor: Actor
    at: int
    note: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Who nominated, last promoted and last decided; None where nobody did."""

    nominated: Step | None = None
    promoted: Step | None = None
    decided: Step | None = None


def standing(review: Review | None, event: Callable[[int], Event]) -> Standing:
    """What the events at the seqs of a review say."""
    if review is None:
        return Standing()
    return Standing(
        _step(review.nominated, event, frozenset({"nominate"})),
        _step(review.promoted, event, frozenset({"promote"})),
        _step(review.decided, event, DECISIONS),
    )


def _step(seq: int, event: Callable[[int], Event], ops: frozenset[str]) -> Step | None:
    if not seq:
        return None
    found = event(seq)
    if found.past is UNSET and found.op == KEPT:
        return None
    if found.past is UNSET:
        return Step(found.op, found.actor, found.at, "" if found.note is UNSET else found.note)
    return next((_past(one) for one in reversed(found.past) if one.op in ops), None)


def _past(event: Past) -> Step:
    return Step(event.op, event.actor, event.at, event.note)
