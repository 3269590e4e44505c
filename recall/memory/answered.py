"""What a request_id has done."""

from dataclasses import dataclass

from recall.memory.record import MemoryId


@dataclass(frozen=True, slots=True)
class Answered:
    """The verb, and (memory id, seq) by item of its batch."""

    verb: str
    items: dict[int, tuple[MemoryId, int]]
