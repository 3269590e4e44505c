"""The numbers that shape what a turn is given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """What a turn is given when its request does not say."""

    rule_characters: int = 6_000
    """Characters of rules, headings and marks included."""
    least_rule_characters: int = 200
    """Characters of a rule below which it is left out by name instead of being given in part."""
    digest_characters: int = 24_000
    """Characters of the digest, preambles and headings included."""
    memories: int = 6
    """Recalled memories."""
    memory_tokens: int = 1_500
    """Tokens of recalled memories; a token is counted as four bytes."""
    ambient_floor: int = 3
    """Where fewer memories match, the strongest of the banks are added up to this many."""
    most_banks: int = 16
    """Banks of one turn."""
    most_considered: int = 1_000
    """Memories of one bank that are considered for the digest; those behind them count as left out."""
    sessions: int = 1_024
    """Prefixes that are remembered, so that a session is told of changes alone."""

    def __post_init__(self) -> None:
        if min(self.rule_characters, self.digest_characters, self.memory_tokens) < 1:
            raise ValueError("rule_characters, digest_characters and memory_tokens must be at least 1")
        if not 1 <= self.memories <= 100 or not 1 <= self.most_banks <= 100:
            raise ValueError("memories and most_banks must be 1 to 100")
        if self.least_rule_characters < 1 or self.ambient_floor < 0:
            raise ValueError("least_rule_characters must be at least 1 and ambient_floor must not be negative")
        if self.most_considered < 1 or self.sessions < 1:
            raise ValueError("most_considered and sessions must be at least 1")
