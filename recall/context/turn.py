"""What is asked for one turn, and what it is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from recall.memory.record import BankInfo, Record
from recall.ranking.results import Degraded

Key = tuple[str, str, str]
"""(bank, "rule" | "preamble" | "memory", its name or id): what a line of the prefix stands for."""


class Layer(StrEnum):
    """What brought a bank in, in the order in which banks are read."""

    WORKSPACE = "workspace"
    AGENT = "agent"
    WORKFLOW = "workflow"
    MISSION = "mission"
    USER = "user"
    PROJECT = "project"
    NAMED = "named"

    @property
    def digested(self) -> bool:
        """Whether its memories stand in the digest; of the others there are rules, and what matches."""
        return self not in (Layer.PROJECT, Layer.NAMED)


class Omission(StrEnum):
    """Why a bank gave nothing."""

    NOT_FOUND = "not_found"
    OTHER_SCOPE = "other_scope"
    OTHER_AGENT = "other_agent"
    UNAVAILABLE = "unavailable"
    TOO_MANY = "too_many"
    NOT_YOURS = "not_yours"


class PrefixState(StrEnum):
    """What the client is to do with the prefix."""

    WHOLE = "whole"
    UNCHANGED = "unchanged"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Budgets:
    """How much a turn may be given."""

    rule_characters: int
    digest_characters: int
    memories: int
    memory_tokens: int


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of an agent. Empty references bring nothing in."""

    budgets: Budgets
    banks: tuple[str, ...] = ()
    agent: str = ""
    user: str = ""
    workflow: str = ""
    mission: str = ""
    project: str = ""
    session: str = ""
    query: str = ""
    prefix_hash: str = ""
    since_last: bool = False
    named_only: bool = False


@dataclass(frozen=True, slots=True)
class Mount:
    """A bank of the turn."""

    name: str
    layer: Layer
    info: BankInfo


@dataclass(frozen=True, slots=True)
class Omitted:
    """A bank that gave nothing, and why."""

    bank: str
    reason: Omission
    detail: str


@dataclass(frozen=True, slots=True)
class GivenRules:
    """The rules that fit: each with what stands in the prefix."""

    sections: tuple[tuple[Key, str], ...]
    truncated: frozenset[Key]
    left_out: tuple[Key, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Digest:
    """The standing memories that fit; `left_out` by bank."""

    lines: tuple[tuple[Key, str], ...]
    left_out: dict[str, int]
    text: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory among the recalled, and its line."""

    bank: str
    record: Record
    line: str
    score: float
    ambient: bool


@dataclass(frozen=True, slots=True)
class Notes:
    """What matches this turn; ids and lines in lockstep."""

    memories: tuple[Recalled, ...]
    left_out: int
    retrieval: dict[str, str]
    degraded: tuple[Degraded, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Assembled:
    """All that a turn is given, and where it comes from."""

    state: PrefixState
    prefix: str
    whole_prefix: str
    prefix_hash: str
    change: str
    notes: Notes
    rules: GivenRules
    digest: Digest
    mounts: tuple[Mount, ...]
    omitted: tuple[Omitted, ...]
    state_now: Mapping[Key, str]
    """What the client has once it took this in, by what it stands for."""
