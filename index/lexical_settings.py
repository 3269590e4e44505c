"""When documents move from RAM to disk. A module of its own, so that reading settings loads no index."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """The sizes at which the lexical index of a bank changes its shape."""

    tail_documents: int = 20_000
    """Memories that are searched exactly in RAM; a flush that finds more moves them into a segment."""
    fan_out: int = 4
    """Segments of about one size that are merged into one."""
    dead_share: float = 0.2
    """Share of deleted memories at which a segment is written anew."""

    def __post_init__(self) -> None:
        if self.tail_documents < 1 or self.fan_out < 2:
            raise ValueError("tail_documents must be at least 1 and fan_out at least 2")
        if not 0.0 < self.dead_share <= 1.0:
            raise ValueError("dead_share must be above 0 and at most 1")
