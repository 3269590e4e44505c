"""What the beginning of a vacuumed log says, as the fold takes it. See `beginning`."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from recall.memory.answered import Answered
from recall.memory.beginning import Vacuum
from recall.memory.fold_error import FoldError
from recall.memory.record import BankInfo, MemoryId
from recall.memory.rule_state import Rule


@dataclass(frozen=True, slots=True)
class Begun:
    """What a bank knows besides its memories, after the events up to `base`."""

    base: int
    info: BankInfo
    rules: dict[str, Rule]
    requests: dict[str, Answered]
    runs: list[tuple[str, int]]
    undone: list[tuple[str, str]]
    mined: int

    @classmethod
    def of(cls, said: Vacuum) -> Begun:
        """As the event has it."""
        return cls(
            said.seqs,
            said.info,
            {one.name: Rule(one.name, one.text, one.revision, one.at, one.seqs) for one in said.rules},
            {
                one.id: Answered(one.verb, {item: (MemoryId(memory_id), seq) for item, memory_id, seq in one.items})
                for one in said.requests
            },
            [(run, seq) for run, seqs in said.runs.items() for seq in seqs],
            list(said.undone),
            said.mined,
        )


def held(holders: dict[str, str] | UnsetType) -> dict[bytes, str]:
    """The id of who holds a text, by its hash; "" for nobody. Raises FoldError."""
    try:
        return {} if holders is UNSET else {bytes.fromhex(digest): holder for digest, holder in holders.items()}
    except ValueError as error:
        raise FoldError(f"names a text by what is no hash: {error}") from None
