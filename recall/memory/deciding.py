"""A reviewer's decision: one edge of the lifecycle, one event, however often it is asked for.

A memory that is not where the decision starts from, but was decided before, is answered as `already`: a second
reviewer, or a retry, writes nothing. Whether the role may decide so at all is asked first.
"""

from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from recall.memory import lifecycle
from recall.memory.commands import Setting, check_revision, found
from recall.memory.errors import InvalidField
from recall.memory.events import Body
from recall.memory.lifecycle import Action
from recall.memory.record import Record, Status
from recall.memory.state import Draft
from recall.memory.twins import Compared

STARTS: Final = {
    Action.PROMOTE: (Status.NOMINATED,),
    Action.REJECT: (Status.NOMINATED, Status.QUARANTINED),
    Action.QUARANTINE: (Status.ACCEPTED,),
    Action.REACCEPT: (Status.QUARANTINED,),
}
"""From where each decision leads on."""
_ENDS: Final = {Action.QUARANTINE: Status.QUARANTINED, Action.REACCEPT: Status.ACCEPTED}
_NEED_A_REASON: Final = (Action.REJECT, Action.QUARANTINE)


@dataclass(frozen=True, slots=True)
class Decided:
    """The memory after a decision; `already` when it was decided before, and seq is 0."""

    record: Record
    seq: int
    already: bool


@dataclass(frozen=True, slots=True)
class Decide:
    """Promote, reject, quarantine or re-accept one memory."""

    memory_id: str
    action: Action
    note: str = ""
    expected_revision: int | None = None
    compared: Compared | None = None
    """What a promotion was compared with; it is compared with what came into use since. None: it is not compared."""

    def plan(self, draft: Draft, setting: Setting) -> Decided:
        """Raises MemoryNotFound, IllegalTransition, PinnedMemory, StaleRevision, InvalidField, NearDuplicate."""
        if self.action in _NEED_A_REASON and not self.note:
            raise InvalidField("reason", "is required: say why")
        record = found(draft, setting, self.memory_id)
        lifecycle.target(record.id, STARTS[self.action][0], self.action, setting.actor.role, setting.policy)
        if record.status not in STARTS[self.action] and self._decided(record):
            return Decided(record, 0, True)
        lifecycle.check(record, self.action, setting.actor.role, setting.policy)
        check_revision(record, self.expected_revision)
        if self.compared is not None:
            self.compared.check(draft, setting, record)
        change = draft.emit(Body(op=self.action, id=record.id, note=self.note or UNSET), setting.now)
        return Decided(change.after, change.seq, False)

    def _decided(self, record: Record) -> bool:
        """Whether it was decided: a proposal that is none any more, or what is where the decision leads."""
        return _ENDS.get(self.action, record.status) is record.status
