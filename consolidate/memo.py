"""What consolidation sees of a memory: a value, taken at one revision."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Memo:
    """A live memory as it stood when the bank was listed. Times are microseconds UTC."""

    id: str
    text: str
    kind: str = "fact"
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    author: str = ""
    agent: str = ""
    pinned: bool = False
    corroboration: int = 0
    created_at: int = 0
    revision: int = 0
