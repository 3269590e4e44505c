"""The audit trail of a bank, which is its log: who did what to which memory, and when.

Every transition is one event of the log, written with the transition itself, so the two cannot part. Texts are not
told here; `history` has them. Events come in the order of their seq, which nothing ever changes, so pages are stable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recall.memory.bank import Bank
from recall.memory.beginning import KEPT, VACUUMED
from recall.memory.events import Event

_CARRIED = frozenset({KEPT, VACUUMED})
MOST_READ = 50_000
"""Events that one page reads; a page that ends there may hold fewer than were asked for."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events: empty and None mean any. Times are microseconds UTC, `after` included and `before` not."""

    actor: str = ""
    actions: frozenset[str] = frozenset()
    memory_id: str = ""
    after: int | None = None
    before: int | None = None

    def takes(self, event: Event) -> bool:
        """Whether an event is one of them."""
        return (
            self.actor in ("", event.actor.id)
            and (not self.actions or event.op in self.actions)
            and self.memory_id in ("", event.id, event.winner, event.loser)
            and (self.after is None or event.at >= self.after)
            and (self.before is None or event.at < self.before)
        )


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Some events, and the seq to go on behind; 0 after the last page."""

    events: tuple[Event, ...]
    next_after: int


def audit_page(bank: Bank, wanted: Wanted, after_seq: int, size: int) -> AuditPage:
    """The next `size` events behind a seq that are wanted. Raises Damaged when the log changed under it."""
    found: list[Event] = []
    seq = after_seq
    for seq, event in _numbered(bank, after_seq):
        if wanted.takes(event):
            found.append(event)
        if len(found) == size or seq - after_seq >= MOST_READ:
            break
    return AuditPage(tuple(found), seq if seq < bank.last_seq else 0)


def _numbered(bank: Bank, after_seq: int) -> Iterator[tuple[int, Event]]:
    """Not the events that only carry memories over a vacuum; and not what it archived, once that was taken away."""
    for event in bank.events(max(after_seq + 1, bank.first_seq)):
        if event.op not in _CARRIED:
            yield event.seq, event
