"""The consolidation runs of one bank: merges made, written down, told and taken back. See `merging` for the events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recall.memory import merging
from recall.memory.errors import RunNotFound
from recall.memory.merging import Merged, MergeLoser, Undone
from recall.memory.record import Actor
from recall.memory.runs import RunTrace, trace

if TYPE_CHECKING:
    from recall.memory.bank import Bank


class RunBook:
    """The runs of one bank. Cheap to make."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank

    def merge(self, run: str, winner_id: str, revision: int, losers: Sequence[MergeLoser], actor: Actor) -> Merged:
        """Retire losers in favour of a winner that takes over what they bring, all in one write. See `merging`."""
        return self._bank.write(merging.Merge(run, winner_id, revision, losers), actor)

    def undo(self, run: str, actor: Actor) -> Undone:
        """Bring a run's losers back; again changes nothing. Raises RunNotFound, IllegalTransition."""
        return self._bank.write(merging.Undo(run, self.run(run).given), actor)

    def record(self, run: str, report: str, actor: Actor, mined: int | None = None) -> None:
        """Write down how a run ended. `report` is a document of its own, `mined` the last episode's ordinal."""
        self._bank.write(merging.RecordRun(run, report, mined), actor)

    def runs(self) -> list[str]:
        """The runs that changed the bank, newest first; not those whose events were archived and taken away."""
        first = self._bank.first_seq
        return [run for run, seqs in reversed(self._bank.run_state().seqs.items()) if seqs[0] >= first]

    def run(self, run: str) -> RunTrace:
        """What one run did. Raises RunNotFound."""
        seqs = self._bank.run_state().seqs.get(run, ())
        if not seqs:
            raise RunNotFound(self._bank.name, run)
        return trace(self._bank.event, run, seqs)

    def undone(self) -> frozenset[tuple[str, str]]:
        """(winner, loser) of every merge that a person took back."""
        return self._bank.run_state().undone

    @property
    def mined(self) -> int:
        """Ordinal of the last episode that was mined; -1 before the first."""
        return self._bank.run_state().mined
