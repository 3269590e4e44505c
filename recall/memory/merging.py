"""Merging memories that say the same, and taking a merge back.

A merge of one group is one command, so one physical write: the winner absorbs what a loser brings (how often it was
said, its tags, its entities) and the loser is superseded, for each loser. A crash leaves all of it or nothing, readers
see all of it or nothing, so there is no moment in which neither is found.

The plan behind a merge was made on a listing that may be old. Revisions are compared here, under the write lock: a
memory that was written meanwhile wins, stays as it is, and is told as moved.

`updated_at` of a winner becomes the last time that its statement was said by anybody of the group, not the time of the
merge: tidying a bank does not make old statements recent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET

from recall.memory import lifecycle
from recall.memory.commands import Setting
from recall.memory.events import Body
from recall.memory.lifecycle import Action
from recall.memory.names import LIMITS
from recall.memory.record import Record, Status
from recall.memory.state import Draft


@dataclass(frozen=True, slots=True)
class MergeLoser:
    """A memory that goes, the revision at which it was judged, and why it may go."""

    id: str
    revision: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """A memory that a run left alone because it is not as it was when the run looked."""

    id: str
    problem: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The winner afterwards (None when it moved), the losers that went, what moved; seq 0 when nothing was written."""

    winner: Record | None
    losers: tuple[Record, ...]
    moved: tuple[Moved, ...]
    seq: int


@dataclass(frozen=True, slots=True)
class Given:
    """What a run did with one loser: superseded it at `seq`, and gave the winner this."""

    loser_id: str
    winner_id: str
    seq: int
    why: str
    corroboration: int
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    updated_at: int


@dataclass(frozen=True, slots=True)
class Undone:
    """The losers in use again, and those that stay superseded with the reason; seq 0 when nothing was written."""

    restored: tuple[Record, ...]
    moved: tuple[Moved, ...]
    seq: int


@dataclass(frozen=True, slots=True)
class Merge:
    """Retire the losers in favour of the winner, which takes over what they bring."""

    run: str
    winner_id: str
    winner_revision: int
    losers: Sequence[MergeLoser]

    def plan(self, draft: Draft, setting: Setting) -> Merged:
        """Raises IllegalTransition for a role that may not merge; what moved is part of the result."""
        lifecycle.target(self.winner_id, Status.ACCEPTED, Action.ABSORB, setting.actor.role, setting.policy)
        lifecycle.target(self.winner_id, Status.ACCEPTED, Action.SUPERSEDE, setting.actor.role, setting.policy)
        winner = draft.find(self.winner_id)
        problem = _problem(winner, self.winner_revision, setting.now)
        if winner is None or problem:
            moved = tuple(Moved(loser.id, f"its winner {self.winner_id} {problem}") for loser in self.losers)
            return Merged(None, (), moved, 0)
        return self._merge(draft, setting, winner)

    def _merge(self, draft: Draft, setting: Setting, winner: Record) -> Merged:
        gone: list[Record] = []
        moved: list[Moved] = []
        seq = 0
        for asked in self.losers:
            loser = draft.find(asked.id)
            problem = _loser_problem(loser, winner, asked.revision, setting.now)
            if loser is None or problem:
                moved.append(Moved(asked.id, problem))
                continue
            winner = draft.emit(self._absorbed(winner, loser), setting.now).after
            change = draft.emit(self._superseded(winner, loser, asked.why), setting.now)
            gone.append(change.after)
            seq = change.seq
        return Merged(winner, tuple(gone), tuple(moved), seq)

    def _absorbed(self, winner: Record, loser: Record) -> Body:
        gain = min(loser.corroboration + 1, LIMITS.count - winner.corroboration)
        return Body(
            op=Action.ABSORB,
            id=winner.id,
            loser=loser.id,
            run=self.run,
            corroboration=gain,
            tags=_new(winner.tags, loser.tags) or UNSET,
            entities=_new(winner.entities, loser.entities) or UNSET,
            updated_at=max(_last_said(winner), _last_said(loser)),
        )

    def _superseded(self, winner: Record, loser: Record, why: str) -> Body:
        return Body(
            op=Action.SUPERSEDE,
            id=loser.id,
            winner=winner.id,
            run=self.run,
            note=why[: LIMITS.note] or UNSET,
            updated_at=loser.updated_at,
        )


@dataclass(frozen=True, slots=True)
class Undo:
    """Bring the losers of a run back and take from their winners what they gave."""

    run: str
    given: Sequence[Given]

    def plan(self, draft: Draft, setting: Setting) -> Undone:
        """Raises IllegalTransition for a role that may not undo. A loser that is back already is passed over."""
        lifecycle.target(self.run, Status.SUPERSEDED, Action.RESTORE, setting.actor.role, setting.policy)
        restored: list[Record] = []
        moved: list[Moved] = []
        seq = 0
        for given in reversed(self.given):
            loser = draft.find(given.loser_id)
            if loser is None or draft.last_event(loser) != given.seq:
                continue
            problem = taken(draft, loser)
            if problem:
                moved.append(Moved(loser.id, problem))
                continue
            self._release(draft, setting, given)
            change = draft.emit(self._restored(given), setting.now)
            restored.append(change.after)
            seq = change.seq
        return Undone(tuple(restored), tuple(moved), seq)

    def _release(self, draft: Draft, setting: Setting, given: Given) -> None:
        winner = draft.find(given.winner_id)
        if winner is None or not winner.status.live:
            return
        body = Body(
            op=Action.RELEASE,
            id=winner.id,
            loser=given.loser_id,
            run=self.run,
            corroboration=given.corroboration,
            tags=given.tags or UNSET,
            entities=given.entities or UNSET,
        )
        draft.emit(body, setting.now)

    def _restored(self, given: Given) -> Body:
        return Body(op=Action.RESTORE, id=given.loser_id, run=self.run, updated_at=given.updated_at)


@dataclass(frozen=True, slots=True)
class RecordRun:
    """Write down that a run ended, what it reports, and up to which ordinal it mined episodes (None: it mined none)."""

    run: str
    report: str
    mined: int | None = None

    def plan(self, draft: Draft, setting: Setting) -> None:
        """Raises nothing."""
        mined = UNSET if self.mined is None else max(self.mined, draft.mined)
        draft.emit_info(Body(op="run", run=self.run, report=self.report, mined=mined), setting.now)


def _problem(record: Record | None, revision: int, now: int) -> str:
    """Why a memory is not as a run saw it; "" when it is."""
    if record is None:
        return "does not exist"
    if record.status is not Status.ACCEPTED:
        return f"is {record.status} now"
    if record.expired(now):
        return "has expired"
    if record.revision != revision:
        return f"was written meanwhile (revision {record.revision}, not {revision})"
    return ""


def _loser_problem(loser: Record | None, winner: Record, revision: int, now: int) -> str:
    problem = _problem(loser, revision, now)
    if problem or loser is None:
        return problem
    if loser.id == winner.id:
        return "is the winner itself"
    return "is pinned" if loser.pinned else ""


def taken(draft: Draft, loser: Record) -> str:
    """Why a memory cannot come back: another live memory has its text or its source by now."""
    holder = draft.text_holder(loser.text_hash)
    if holder is not None and holder.status.live and holder.id != loser.id:
        return f"its text was saved again as {holder.id}"
    provenance = loser.source.provenance if loser.source is not None else None
    owner = None if provenance is None else draft.source_holder(provenance)
    return f"its source belongs to {owner.id} now" if owner is not None and owner.id != loser.id else ""


def _new(kept: tuple[str, ...], brought: tuple[str, ...]) -> tuple[str, ...]:
    """What `brought` adds, as far as the limit allows."""
    fresh = tuple(name for name in dict.fromkeys(brought) if name not in kept)
    return fresh[: max(0, LIMITS.names - len(kept))]


def _last_said(record: Record) -> int:
    """When its statement was last said, in microseconds UTC: an edit or a pin does not say it again."""
    return max(record.created_at, record.updated_at) if record.corroboration else record.created_at
