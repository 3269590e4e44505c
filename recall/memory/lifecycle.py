"""The closed table of what may become of a memory: (status, action, role) → status.

```
            nominate                  promote (reviewer)                quarantine
   ∅ ───────────────────► NOMINATED ───────────────────► ACCEPTED ─────────────────► QUARANTINED
   └── save ────────────────────────────────────────────►   ▲  ◄──── re-accept (reviewer) ──┘
 terminal: REJECTED (reviewer, with a reason) · SUPERSEDED (pointer to the winner) · EXPIRED · RETIRED (deleted)
```

An edge that is not in the table does not exist: it is refused before a byte is written. Two sentences hold over the
whole table and are tested on it: no edge leaves a terminal status, but for a person who undoes a consolidation run
(SUPERSEDED to ACCEPTED) or a rejection, and no edge of the automatic role JOB, nor of an AGENT, leads from another
status into ACCEPTED. Edits (reinforce, update, edit, pin, unpin, absorb, release) are edges from a live status to
itself; undoing a decision is an edge of its own for each way that the decision came. An import
brings its own status, which is why it is for people only.

In a bank of the policy `governed` fewer edges exist. An agent nominates, and may reinforce or edit what is still a
nomination; a job may besides take out of use (quarantine, supersede, expire) and tidy (absorb). Neither has an edge
that ends in ACCEPTED other than `absorb`, which changes no text and needs a memory that a person accepted: nothing they
say comes into use, is pinned or is changed in use without a person's yes. Their saves become nominations (`birth`).
A USER has the one edge `prefer`, into a bank of their own: see `preferring`.
"""

from enum import StrEnum

from recall.memory.errors import IllegalTransition, PinnedMemory
from recall.memory.record import Policy, Record, Status


class Action(StrEnum):
    """What can be done to a memory; also the `op` of the events that record it."""

    SAVE = "save"
    NOMINATE = "nominate"
    IMPORT = "import"
    REINFORCE = "reinforce"
    UPDATE = "update"
    PIN = "pin"
    UNPIN = "unpin"
    PROMOTE = "promote"
    REJECT = "reject"
    QUARANTINE = "quarantine"
    REACCEPT = "reaccept"
    SUPERSEDE = "supersede"
    EXPIRE = "expire"
    DELETE = "delete"
    ABSORB = "absorb"
    RELEASE = "release"
    RESTORE = "restore"
    EDIT = "edit"
    PREFER = "prefer"
    ARRIVE = "arrive"
    DEPART = "depart"
    RETURN = "return"
    UNDO_PROMOTE = "undo-promote"
    UNDO_REJECT = "undo-reject"
    UNDO_REJECT_QUARANTINED = "undo-reject-quarantined"
    UNDO_QUARANTINE = "undo-quarantine"
    UNDO_REACCEPT = "undo-reaccept"


class Role(StrEnum):
    """Who acts. JOB is every automatic path: sweep, consolidation, capture. USER is a person with preferences."""

    READER = "reader"
    AGENT = "agent"
    JOB = "job"
    REVIEWER = "reviewer"
    ADMIN = "admin"
    USER = "user"


Edge = tuple[Status | None, Action, Role]

_PEOPLE = (Role.REVIEWER, Role.ADMIN)
_WRITERS = (Role.AGENT, Role.JOB, Role.REVIEWER, Role.ADMIN)
_LIVE = (Status.NOMINATED, Status.ACCEPTED, Status.QUARANTINED)

_EDGES: tuple[tuple[tuple[Status | None, ...], Action, tuple[Role, ...], Status], ...] = (
    ((None,), Action.SAVE, _WRITERS, Status.ACCEPTED),
    ((None,), Action.NOMINATE, _WRITERS, Status.NOMINATED),
    ((None,), Action.IMPORT, _PEOPLE, Status.ACCEPTED),
    ((None,), Action.PREFER, (Role.USER,), Status.ACCEPTED),
    ((None,), Action.ARRIVE, _PEOPLE, Status.ACCEPTED),
    (_LIVE, Action.DEPART, _PEOPLE, Status.RETIRED),
    (_LIVE, Action.RETURN, _PEOPLE, Status.RETIRED),
    ((Status.NOMINATED,), Action.PROMOTE, _PEOPLE, Status.ACCEPTED),
    ((Status.NOMINATED, Status.QUARANTINED), Action.REJECT, _PEOPLE, Status.REJECTED),
    ((Status.ACCEPTED,), Action.QUARANTINE, _WRITERS, Status.QUARANTINED),
    ((Status.QUARANTINED,), Action.REACCEPT, _PEOPLE, Status.ACCEPTED),
    (_LIVE, Action.SUPERSEDE, _WRITERS, Status.SUPERSEDED),
    (_LIVE, Action.EXPIRE, (Role.JOB, Role.ADMIN), Status.EXPIRED),
    (_LIVE, Action.DELETE, _WRITERS, Status.RETIRED),
    ((Status.ACCEPTED,), Action.ABSORB, (Role.JOB, *_PEOPLE), Status.ACCEPTED),
    ((Status.SUPERSEDED,), Action.RESTORE, _PEOPLE, Status.ACCEPTED),
    ((Status.ACCEPTED,), Action.UNDO_PROMOTE, _PEOPLE, Status.NOMINATED),
    ((Status.ACCEPTED,), Action.UNDO_REACCEPT, _PEOPLE, Status.QUARANTINED),
    ((Status.QUARANTINED,), Action.UNDO_QUARANTINE, _PEOPLE, Status.ACCEPTED),
    ((Status.REJECTED,), Action.UNDO_REJECT, _PEOPLE, Status.NOMINATED),
    ((Status.REJECTED,), Action.UNDO_REJECT_QUARANTINED, _PEOPLE, Status.QUARANTINED),
)

UNDO = {
    (Status.NOMINATED, Action.PROMOTE): Action.UNDO_PROMOTE,
    (Status.QUARANTINED, Action.REACCEPT): Action.UNDO_REACCEPT,
    (Status.ACCEPTED, Action.QUARANTINE): Action.UNDO_QUARANTINE,
    (Status.NOMINATED, Action.REJECT): Action.UNDO_REJECT,
    (Status.QUARANTINED, Action.REJECT): Action.UNDO_REJECT_QUARANTINED,
}
"""(status before a decision, the decision) → what takes it back."""

_EDITS = (Action.REINFORCE, Action.UPDATE, Action.PIN, Action.UNPIN)

TABLE: dict[Edge, Status] = {
    (start, action, role): end for starts, action, roles, end in _EDGES for start in starts for role in roles
}
TABLE |= {(status, action, role): status for status in _LIVE for action in _EDITS for role in _WRITERS}
TABLE |= {(status, Action.RELEASE, role): status for status in _LIVE for role in _PEOPLE}
TABLE |= {(status, Action.EDIT, role): status for status in (Status.NOMINATED, Status.QUARANTINED) for role in _PEOPLE}

_PROPOSE = (Action.REINFORCE, Action.UPDATE)
_TAKE_OUT = (Action.QUARANTINE, Action.SUPERSEDE, Action.EXPIRE, Action.ABSORB)


def _governed(edge: Edge) -> bool:
    """Whether an edge exists in a governed bank too."""
    start, action, role = edge
    if role in (*_PEOPLE, Role.USER) or action is Action.NOMINATE or (start is Status.NOMINATED and action in _PROPOSE):
        return True
    return role is Role.JOB and action in _TAKE_OUT


GOVERNED: dict[Edge, Status] = {edge: end for edge, end in TABLE.items() if _governed(edge)}
TABLES = {Policy.OPEN: TABLE, Policy.GOVERNED: GOVERNED}

_TAKES_AWAY = frozenset(
    {Action.UPDATE, Action.UNPIN, Action.QUARANTINE, Action.SUPERSEDE, Action.EXPIRE, Action.DELETE}
)


def birth(asked: Action, role: str, policy: Policy) -> Action:
    """What a save is in a bank of this policy: a nomination where the role may not put anything into use."""
    saves = asked is not Action.SAVE or (None, asked, role) in TABLES[policy]
    return asked if saves else Action.NOMINATE


def check(record: Record, action: Action, role: str, policy: Policy) -> Status:
    """Where the edge leads a memory. Raises IllegalTransition; PinnedMemory for an automatic path at a pinned one."""
    status = target(record.id, record.status, action, role, policy)
    if record.pinned and role == Role.JOB and action in _TAKES_AWAY:
        raise PinnedMemory(record.id, action)
    return status


def target(memory_id: str, status: Status | None, action: Action, role: str, policy: Policy) -> Status:
    """Where the edge leads; `status` None is a memory that does not exist yet. Raises IllegalTransition."""
    try:
        return TABLES[policy][status, action, Role(role)]
    except (KeyError, ValueError):
        raise IllegalTransition(memory_id, status or "not saved yet", action, role) from None
