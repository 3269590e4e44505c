"""A bank as it stood at one moment."""

from collections.abc import Sequence
from dataclasses import dataclass

from recall.memory.record import Record


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Every memory by ordinal, as of one seq."""

    records: Sequence[Record]
    last_seq: int
