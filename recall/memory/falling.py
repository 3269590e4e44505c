"""A source fell: it was retracted, or another took its place. What stands on it leaves use at once, in one write.

It waits for a reviewer from then on. Telling the same twice changes nothing. A pinned memory is left alone where a job
tells; it is named in the answer.
"""

from dataclasses import dataclass

from recall.memory import lifecycle
from recall.memory.commands import Setting
from recall.memory.errors import PinnedMemory
from recall.memory.events import Body
from recall.memory.lifecycle import Action
from recall.memory.record import Record, SourceKind, Status
from recall.memory.state import Draft


@dataclass(frozen=True, slots=True)
class Fell:
    """What was quarantined, what was left alone and why; seq 0 when nothing was written."""

    quarantined: tuple[Record, ...]
    left: tuple[tuple[Record, str], ...]
    seq: int


@dataclass(frozen=True, slots=True)
class SourceFell:
    """Quarantine what is in use and comes from a source. Provenance is identity, so it is at most one memory."""

    kind: SourceKind
    id: str
    why: str

    def plan(self, draft: Draft, setting: Setting) -> Fell:
        """Raises IllegalTransition for a role that may not quarantine."""
        lifecycle.target(self.id, Status.ACCEPTED, Action.QUARANTINE, setting.actor.role, setting.policy)
        record = draft.source_holder((self.kind.value, self.id))
        if record is None or record.status is not Status.ACCEPTED:
            return Fell((), (), 0)
        try:
            lifecycle.check(record, Action.QUARANTINE, setting.actor.role, setting.policy)
        except PinnedMemory as pinned:
            return Fell((), ((record, str(pinned)),), 0)
        change = draft.emit(Body(op=Action.QUARANTINE, id=record.id, note=self.why), setting.now)
        return Fell((change.after,), (), change.seq)


def retracted(kind: SourceKind, id_: str, reason: str) -> str:
    """The note of what stood on a retracted source."""
    return _with_reason(f"its source {kind} {id_} was retracted", reason)


def superseded(kind: SourceKind, id_: str, by: str, reason: str) -> str:
    """The note of what stood on a source that another took the place of."""
    told = f"its source {kind} {id_} was superseded"
    return _with_reason(f"{told} by {by.strip()}" if by.strip() else told, reason)


def _with_reason(told: str, reason: str) -> str:
    return f"{told}: {reason.strip()}" if reason.strip() else told
