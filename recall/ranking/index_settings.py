"""How the derived structures of a bank are built."""

import sys
from dataclasses import dataclass, field

from index.entities import EntitySettings
from index.lexical_settings import LexicalSettings
from index.vector_settings import VectorSettings
from recall.ranking.settings import RankingSettings


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """One group for each structure, and how writes and starts are cut into steps."""

    lexical: LexicalSettings = field(default_factory=LexicalSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)
    entities: EntitySettings = field(default_factory=EntitySettings)
    ranking: RankingSettings = field(default_factory=RankingSettings)
    changes_per_step: int = 16
    """Memories that one hold of the latch takes in; a recall waits for no more."""
    rebuilt_at_once: int = 5_000
    """Memories, the newest, whose lost words are indexed before a bank is open: about a second. Older ones later."""
    vectors_at_once: int = sys.maxsize
    """Memories of a bank whose vectors are loaded before it is open; a larger one answers by words until `missing` or
    `use_current_model` was called, which a backfill does at once."""
