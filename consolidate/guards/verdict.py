"""What a guard may say of a pair."""

from __future__ import annotations

from collections import Counter
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


def compare(guard: str, left: tuple[str, ...], right: tuple[str, ...]) -> Finding | None:
    """KEEP when both texts state values and they differ, PROPOSE when only one states any."""
    if left == right:
        return None
    if not left or not right:
        return Finding(guard, Verdict.PROPOSE, f"only one names {', '.join((left or right)[:4])}")
    if Counter(left) == Counter(right):
        return Finding(guard, Verdict.KEEP, f"in another order: {', '.join(left[:4])}")
    return Finding(guard, Verdict.KEEP, f"{_only(left, right)} against {_only(right, left)}")


def _only(left: tuple[str, ...], right: tuple[str, ...]) -> str:
    return ", ".join(list((Counter(left) - Counter(right)).elements())[:4]) or "nothing"
