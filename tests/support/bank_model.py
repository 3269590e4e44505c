"""A bank as plain dictionaries say it must be, for a test that does the same to both."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from recall.memory.record import Status


@dataclass(frozen=True, slots=True)
class Expected:
    """One memory."""

    text: str
    status: Status = Status.ACCEPTED
    corroboration: int = 0
    pinned: bool = False
    expires_at: int = 0
    superseded_by: str = ""
    updated_at: int = 0


@dataclass(slots=True)
class Model:
    """What acknowledged writes add up to."""

    memories: dict[str, Expected] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)

    def holder(self, text: str) -> str | None:
        """The live memory that has this text."""
        same = [key for key, one in self.memories.items() if one.status.live and one.text == text]
        assert len(same) <= 1, same
        return same[0] if same else None

    def live(self) -> list[str]:
        """Ids of memories in use."""
        return [key for key, one in self.memories.items() if one.status is Status.ACCEPTED]

    def change(self, memory_id: str, **fields: object) -> None:
        """A memory with some fields changed."""
        self.memories[memory_id] = replace(self.memories[memory_id], **fields)  # type: ignore[arg-type]

    def findable(self, now: int) -> set[str]:
        """Texts that a recall may return."""
        in_use = (one for one in self.memories.values() if one.status is Status.ACCEPTED)
        return {one.text for one in in_use if not one.expires_at or now < one.expires_at}
