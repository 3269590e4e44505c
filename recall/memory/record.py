"""What is kept: memories, where they come from, and the values that go in and out of a bank.

All times are microseconds since 1970-01-01 UTC; 0 as `expires_at` means never. A `Record` never holds its text: the
text stays in the log, at `text_seq`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

import msgspec
from msgspec import UNSET, UnsetType

from recall.memory.ranges import Count, HalfLife, Limit, Moment

BankName = NewType("BankName", str)
MemoryId = NewType("MemoryId", str)


class Kind(StrEnum):
    """What sort of statement a memory is."""

    FACT = "fact"
    LESSON = "lesson"
    CONVENTION = "convention"
    PREFERENCE = "preference"
    GLOSSARY = "glossary"
    PROCEDURE = "procedure"
    EPISODE = "episode"


class SourceKind(StrEnum):
    """What sort of thing a memory was taken from."""

    DECISION = "decision"
    ARTIFACT = "artifact"
    INCIDENT = "incident"
    TASK = "task"
    COMMENT = "comment"
    PLAYBOOK = "playbook"
    DOCUMENT = "document"
    MESSAGE = "message"
    CONVERSATION = "conversation"
    MANUAL = "manual"


class Status(StrEnum):
    """Where a memory stands in its life; see `lifecycle` for the edges."""

    NOMINATED = "nominated"
    ACCEPTED = "accepted"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    RETIRED = "retired"

    @property
    def live(self) -> bool:
        """True while the memory may still come into use; false in the terminal statuses."""
        return self in _LIVE


_LIVE = frozenset({Status.NOMINATED, Status.ACCEPTED, Status.QUARANTINED})


class Policy(StrEnum):
    """Who may grant influence in a bank; see `lifecycle`."""

    OPEN = "open"  # whoever may write saves into use
    GOVERNED = "governed"  # what an agent or a job says waits for a reviewer


class ScopeKind(StrEnum):
    """What a bank is the memory of."""

    WORKSPACE = "workspace"
    PROJECT = "project"
    BOARD = "board"
    OBJECT = "object"
    AGENT = "agent"
    USER = "user"
    WORKFLOW = "workflow"
    MISSION = "mission"
    RUN = "run"  # what happened in one run; no turn is ever given it


class Source(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Where a memory comes from. (kind, id) is its provenance: at most one live memory of a bank has it."""

    kind: SourceKind | None = None
    id: str = ""
    session: str = ""
    position: Count | None = None
    agent: str = ""
    uri: str = ""

    @property
    def provenance(self) -> tuple[str, str] | None:
        """(kind, id) when both are given."""
        return (self.kind.value, self.id) if self.kind is not None and self.id else None


class Evidence(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What an evaluation showed before and after. `ref` is a loose reference: what it names may be gone."""

    ref: str
    measure: str = ""
    before: float | None = None
    after: float | None = None


class Review(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The seqs of the events that nominated, last promoted and last decided on a memory; 0 for none."""

    nominated: int = 0
    promoted: int = 0
    decided: int = 0


class Record(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """One memory as it stands: the fold of its events."""

    id: MemoryId
    ordinal: int  # dense per bank, in the order of first save
    kind: Kind
    entities: tuple[str, ...]
    tags: tuple[str, ...]
    author: str
    source: Source | None
    confidence: float
    corroboration: int
    pinned: bool
    status: Status
    created_at: int
    updated_at: int
    expires_at: int
    superseded_by: str
    predecessor: str
    revision: int  # 1 after the first save
    metadata: dict[str, str]
    text_seq: int  # the event that holds the text
    text_hash: bytes  # 16 bytes, see names.text_hash
    title: str = ""
    replaces: tuple[str, ...] = ()  # what a reviewer retired in its favour
    evidence: tuple[Evidence, ...] = ()
    review: Review | None = None
    moved_to: str = ""  # "bank/id" of where a reviewer moved it

    def expired(self, now: int) -> bool:
        """True when `now` is at or past expires_at, whether or not a sweep has recorded it."""
        return self.expires_at != 0 and now >= self.expires_at

    def selectable(self, now: int) -> bool:
        """True when recall may return it: accepted, not expired, not an episode."""
        return self.status is Status.ACCEPTED and not self.expired(now) and self.kind is not Kind.EPISODE


class Actor(msgspec.Struct, frozen=True, gc=False):
    """Who writes, in which role (a value of lifecycle.Role)."""

    id: str
    role: str


LOCAL = Actor("local", "admin")


class NewMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller may say of a new memory. `created_at` None means the time of the save."""

    text: str
    kind: Kind = Kind.FACT
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    author: str = ""
    source: Source | None = None
    confidence: float = 1.0
    pinned: bool = False
    created_at: int | None = None
    expires_at: int = 0
    metadata: dict[str, str] = {}
    title: str = ""
    evidence: tuple[Evidence, ...] = ()


class MemoryChanges(msgspec.Struct, frozen=True, kw_only=True):
    """New values for the fields that are set; UNSET leaves a field alone."""

    text: str | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
    entities: tuple[str, ...] | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    author: str | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    expires_at: int | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET
    title: str | UnsetType = UNSET
    evidence: tuple[Evidence, ...] | UnsetType = UNSET


class ImportedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A whole record from elsewhere. Without an id it is saved as new; with one it keeps what it says."""

    text: str
    id: str = ""
    kind: Kind = Kind.FACT
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    author: str = ""
    source: Source | None = None
    confidence: float = 1.0
    corroboration: int = 0
    pinned: bool = False
    status: Status = Status.ACCEPTED
    created_at: int | None = None
    updated_at: int | None = None
    expires_at: int = 0
    superseded_by: str = ""
    predecessor: str = ""
    revision: int = 1
    metadata: dict[str, str] = {}
    title: str = ""
    replaces: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    past: tuple["PastEvent", ...] = ()  # what happened to it there, oldest first; only with an id


class PastEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of an imported memory in the log it comes from, and the memory after it; its text "" is unchanged."""

    seq: int
    at: int
    actor: Actor
    op: str
    note: str = ""
    memory: ImportedMemory


class BankInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A bank's own settings; 0 and "" mean the server's settings."""

    description: str = ""
    half_life_days: HalfLife = 0.0
    default_limit: Limit = 0
    user_handle: str = ""
    created_at: Moment = 0
    policy: Policy = Policy.OPEN
    scope_kind: ScopeKind | None = None
    scope_ref: str = ""
    title: str = ""
    preamble: str = ""
    agents: tuple[str, ...] = ()


class InfoChanges(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """New values for the bank settings that are set."""

    description: str | UnsetType = UNSET
    half_life_days: float | UnsetType = UNSET
    default_limit: int | UnsetType = UNSET
    user_handle: str | UnsetType = UNSET
    policy: Policy | UnsetType = UNSET
    scope_kind: ScopeKind | UnsetType | None = UNSET
    scope_ref: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    preamble: str | UnsetType = UNSET
    agents: tuple[str, ...] | UnsetType = UNSET


class Outcome(StrEnum):
    """What a save or an import did."""

    CREATED = "created"
    REINFORCED = "reinforced"
    UPDATED = "updated"  # a new text for a live provenance
    REPEATED = "repeated"  # this request_id was seen before
    UNCHANGED = "unchanged"  # what it says is there already: the same record, or a text that is in use


@dataclass(frozen=True, slots=True)
class Saved:
    """The memory that holds the text now, what happened, and the seq of the write."""

    record: Record
    outcome: Outcome
    seq: int


@dataclass(frozen=True, slots=True)
class Written:
    """The memory after the write; seq 0 when nothing had to change."""

    record: Record
    seq: int


@dataclass(frozen=True, slots=True)
class Superseded:
    """Both memories after a supersede; seq 0 when it had happened already."""

    loser: Record
    winner: Record
    seq: int


@dataclass(frozen=True, slots=True)
class Imported:
    """One imported record: CREATED, REINFORCED or UNCHANGED (seq 0). Only a created one takes its past along."""

    record: Record
    outcome: Outcome
    seq: int


@dataclass(frozen=True, slots=True)
class Change:
    """One event's effect on one memory. `text` is set when it is new or changed."""

    seq: int
    op: str
    before: Record | None
    after: Record
    text: str | None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One event of a memory: who did what when, and the memory and its text after it.

    What comes before an `import` is of another log, and so is its seq.
    """

    seq: int
    at: int
    actor: Actor
    op: str
    note: str
    record: Record
    text: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How many memories are in each status; `expired` includes live ones past expires_at."""

    live: int = 0
    superseded: int = 0
    retired: int = 0
    expired: int = 0
    nominated: int = 0
    quarantined: int = 0
    rejected: int = 0
