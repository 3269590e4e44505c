"""What a consolidation run did to a bank, read from the log."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from recall.memory.events import Event
from recall.memory.merging import Given


@dataclass(frozen=True, slots=True)
class RunTrace:
    """One run. Times are microseconds UTC; `report` is "" for a run that a crash ended before its record.

    `given` are the merges that stood when they were made, `restored` the ids of losers that were brought back since.
    """

    run: str
    first_at: int
    last_at: int
    report: str
    given: tuple[Given, ...]
    restored: tuple[str, ...]

    @property
    def undone(self) -> bool:
        """True when every loser was brought back."""
        return bool(self.given) and {given.loser_id for given in self.given} <= set(self.restored)


def trace(event_at: Callable[[int], Event], run: str, seqs: Sequence[int]) -> RunTrace:
    """The run whose events lie at `seqs`, oldest first; at least one."""
    events = [(seq, event_at(seq)) for seq in seqs]
    own = [event for _, event in events if event.op not in ("release", "restore")]
    report = next((event.report for event in own if event.report is not UNSET), "")
    restored = tuple(event.id for _, event in events if event.op == "restore")
    return RunTrace(run, own[0].at, own[-1].at, report, tuple(_given(events)), restored)


def _given(events: Sequence[tuple[int, Event]]) -> Iterator[Given]:
    absorbed = {event.loser: event for _, event in events if event.op == "absorb"}
    for seq, event in events:
        gift = absorbed.get(event.id)
        if event.op == "supersede" and gift is not None:
            yield Given(
                loser_id=event.id,
                winner_id=gift.id,
                seq=seq,
                why="" if event.note is UNSET else event.note,
                corroboration=0 if gift.corroboration is UNSET else gift.corroboration,
                tags=() if gift.tags is UNSET else gift.tags,
                entities=() if gift.entities is UNSET else gift.entities,
                updated_at=0 if event.updated_at is UNSET else event.updated_at,
            )
