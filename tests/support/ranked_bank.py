"""A real bank on disk with its index and engine, a hashing embedder, and clocks that stand still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from index.analyzer import Analyzer
from index.embedder import Embedder, EmbedderState
from index.hashing import HashingEmbedder
from index.query_cache import QueryCache
from index.vectors import VectorSettings
from recall.memory.bank import Bank
from recall.memory.banks import Banks
from recall.memory.files import DiskFiles
from recall.memory.record import NewMemory, Record, Saved, Source
from recall.memory.settings import StorageSettings
from recall.ranking.bank_index import BankIndex
from recall.ranking.budget import Budget
from recall.ranking.engine import Engine
from recall.ranking.index_settings import IndexSettings
from recall.ranking.query import Mode, RecallQuery
from recall.ranking.results import Ranked
from recall.ranking.settings import RankingSettings

DAY = 86_400_000_000
NOW = 1_800_000_000_000_000
LONG = Budget(started=0.0, deadline=60.0)
ANALYZER = Analyzer()


class StandingClock:
    """Tells the time it is told; every reading is a microsecond later, so no two writes are at once."""

    def __init__(self, now: int = NOW) -> None:
        self.time = now

    def now(self) -> int:
        self.time += 1
        return self.time


class Slot:
    """An embedder that is there at once, or in whatever state a test puts it."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder = embedder
        self.now = EmbedderState("ready" if embedder is not None else "off", "test")
        self.failures = 0

    def current(self) -> Embedder | None:
        return self.embedder

    def state(self) -> EmbedderState:
        return self.now

    def report_failure(self, error: Exception) -> None:  # noqa: ARG002 - the protocol's signature
        self.failures += 1

    def report_success(self) -> None:
        return None


@dataclass
class RankedBank:
    """A bank, its index, and the engine over both."""

    bank: Bank
    index: BankIndex
    engine: Engine
    slot: Slot
    queries: QueryCache
    clock: StandingClock
    folder: Path
    settings: RankingSettings
    names: dict[str, str] = field(default_factory=dict)

    def save(self, *memories: NewMemory | str) -> list[Record]:
        """Save and embed; each must succeed."""
        items = [NewMemory(text=one) if isinstance(one, str) else one for one in memories]
        saved = self.bank.save(items)
        assert all(isinstance(one, Saved) for one in saved), saved
        self.embed()
        return [one.record for one in saved if isinstance(one, Saved)]

    def embed(self) -> None:
        """What the backfill does, at once."""
        embedder = self.slot.embedder
        if embedder is None:
            return
        while missing := self.index.missing(embedder.model_id, 64):
            done = [(key, embedder.encode(embedder.windows(text))) for key, text in missing]
            self.index.store(embedder.model_id, done)

    def ask(self, text: str, mode: Mode = Mode.HYBRID, budget: Budget = LONG, **fields: Any) -> Ranked:
        """Recall; `fields` are those of RecallQuery."""
        query = RecallQuery(text=text, mode=mode, **fields)
        return self.engine.recall(self.index, self.bank, query, budget)

    def texts(self, text: str, mode: Mode = Mode.HYBRID, **fields: Any) -> list[str]:
        """The texts of the results, best first."""
        return [result.text for result in self.ask(text, mode, **fields).results]

    def reopened(self) -> BankIndex:
        """Another index over the same bank and folder, as a restart makes it."""
        settings = IndexSettings(ranking=self.settings)
        return BankIndex.open(self.bank, self.folder, ANALYZER, settings, self.slot.current)


@contextmanager
def ranked_bank(
    path: Path,
    embedder: Embedder | None = None,
    settings: RankingSettings | None = None,
    vectors: VectorSettings | None = None,
) -> Iterator[RankedBank]:
    """An empty bank under `path`; without an embedder it embeds by hashing."""
    settings = settings or RankingSettings()
    clock, slot = StandingClock(), Slot(embedder or HashingEmbedder(1024))
    banks = Banks(path / "data", StorageSettings(), DiskFiles(), clock)
    bank = banks.create("default", "test")
    folder = path / "derived"
    parts = IndexSettings(ranking=settings, vectors=vectors or VectorSettings())
    index = BankIndex.open(bank, folder, ANALYZER, parts, slot.current)
    queries = QueryCache(slot)
    engine = Engine(settings, queries, slot, clock, monotonic=lambda: 0.0)
    try:
        yield RankedBank(bank, index, engine, slot, queries, clock, folder, settings)
    finally:
        queries.close()
        index.close()
        banks.close()


def turn(text: str, author: str, session: str, position: int, created_at: int | None = None) -> NewMemory:
    """One turn of a conversation."""
    source = Source(session=session, position=position)
    return NewMemory(text=text, author=author, source=source, created_at=created_at)
