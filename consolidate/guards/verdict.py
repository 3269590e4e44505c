"""What a guard may say of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from consolidate.memo import Memo


class Verdict(IntEnum):
    """What becomes of a pair; the strictest word of all guards holds."""

    MERGE = 0
    PROPOSE = 1
    KEEP = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One guard's objection: its name, how far it goes, and what it saw."""

    guard: str
    verdict: Verdict
    detail: str


class Guard(Protocol):
    """Looks at two memories that look alike and says why they must stay apart, or None."""

    def __call__(self, a: Memo, b: Memo) -> Finding | None: ...
