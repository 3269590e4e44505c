"""Puts a haystack into a bank of its own, and knows afterwards which memory holds which document.

The service keeps a text once: saying it again reinforces the memory that is there. So the map from documents to
memories goes through the ids that SaveBatch returns, and may be many to one. A document longer than a memory may be
is saved in parts, so it may be one to many. Documents with the same memories are one *unit*; units are what is ranked
and judged.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC

from google.protobuf.timestamp_pb2 import Timestamp

from benchmarks.quality.dataset import Document, DocumentId, Dropped, Haystack
from benchmarks.quality.parts import parts
from benchmarks.service import Service, ServiceError
from recall.v1 import bank_service_pb2, memory_pb2, memory_service_pb2


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """``batch_items`` and ``batch_chars`` bound one SaveBatch; ``coverage_timeout_s`` bounds the wait for vectors."""

    batch_items: int = 200
    batch_chars: int = 500_000
    call_timeout_s: float = 120.0
    coverage_timeout_s: float = 3_600.0
    coverage_poll_s: float = 0.1


@dataclass(frozen=True, slots=True)
class Loaded:
    """A bank and what lies in it. ``units`` names each document's unit; ``holds`` the units of each memory."""

    bank: str
    units: dict[DocumentId, int]
    holds: dict[str, tuple[int, ...]]
    memories: int
    parted: int

    def ranked_units(self, memory_ids: Iterable[str]) -> Iterator[int]:
        """The units behind a ranking of memories, each once, at its best memory."""
        seen: set[int] = set()
        for memory_id in memory_ids:
            for unit in self.holds.get(memory_id, ()):
                if unit not in seen:
                    seen.add(unit)
                    yield unit


@dataclass(frozen=True, slots=True)
class _Part:
    document: DocumentId
    memory: memory_service_pb2.NewMemory


def load(
    service: Service,
    bank: str,
    haystack: Haystack,
    dropped: Dropped,
    settings: LoadSettings,
    saved: Callable[[int], None],
) -> Loaded:
    """Saves every document. ``saved`` is told how many documents a batch brought further."""
    service.banks.Create(bank_service_pb2.BankServiceCreateRequest(name=bank), timeout=settings.call_timeout_s)
    ids: dict[DocumentId, list[str]] = {document.id: [] for document in haystack.documents}
    cut = list(_parts(haystack.documents))
    for batch in _batches(cut, settings):
        request = memory_service_pb2.SaveBatchRequest(bank=bank, memories=[part.memory for part in batch])
        answer = service.memories.SaveBatch(request, timeout=settings.call_timeout_s)
        for part, result in zip(batch, answer.results, strict=True):
            if result.HasField("saved"):
                ids[part.document].append(result.saved.memory.id)
            else:
                dropped.add(f"document: refused: {result.error.message}", f"{haystack.name}:{part.document}")
        saved(len(batch))
    parted = len(cut) - len({part.document for part in cut})
    return _loaded(bank, ids, parted)


def _parts(documents: Iterable[Document]) -> Iterator[_Part]:
    """What is saved, in order. A source id that is used again would replace the memory that has it: none is."""
    positions: Counter[str] = Counter()
    pieces: Counter[DocumentId] = Counter()
    for document in documents:
        for text in parts(document.text):
            piece = pieces[document.id]
            source_id = f"{document.id}/{piece}" if piece else document.id
            yield _Part(document.id, _memory(document, text, source_id, positions[document.session]))
            positions[document.session] += 1
            pieces[document.id] += 1


def _memory(document: Document, text: str, source_id: str, position: int) -> memory_service_pb2.NewMemory:
    source = memory_pb2.Source(kind=memory_pb2.SOURCE_KIND_CONVERSATION, id=source_id)
    if document.session:
        source.session = document.session
        source.position = position
    memory = memory_service_pb2.NewMemory(text=text, author=document.author, source=source, tags=document.tags)
    if document.at is not None:
        stamp = Timestamp()
        stamp.FromDatetime(document.at.astimezone(UTC))
        memory.created_at.CopyFrom(stamp)
    return memory


def _batches(cut: list[_Part], settings: LoadSettings) -> Iterator[list[_Part]]:
    batch: list[_Part] = []
    chars = 0
    for part in cut:
        full = len(batch) >= settings.batch_items or chars + len(part.memory.text) > settings.batch_chars
        if batch and full:
            yield batch
            batch, chars = [], 0
        batch.append(part)
        chars += len(part.memory.text)
    if batch:
        yield batch


def _loaded(bank: str, ids: dict[DocumentId, list[str]], parted: int) -> Loaded:
    numbers: dict[tuple[str, ...], int] = {}
    units = {document: numbers.setdefault(tuple(memories), len(numbers)) for document, memories in ids.items()}
    holds: dict[str, dict[int, None]] = {}
    for memories, unit in numbers.items():
        for memory_id in memories:
            holds.setdefault(memory_id, {})[unit] = None
    return Loaded(bank, units, {memory: tuple(found) for memory, found in holds.items()}, len(holds), parted)


def wait_for_coverage(
    service: Service, bank: str, settings: LoadSettings, progress: Callable[[int, int], None]
) -> bank_service_pb2.Coverage:
    """Returns once every live memory has a vector. Raises ServiceError when the backfill stands still too long."""
    deadline = time.monotonic() + settings.coverage_timeout_s
    while True:
        request = bank_service_pb2.BankServiceGetRequest(name=bank)
        coverage = service.banks.Get(request, timeout=settings.call_timeout_s).bank.coverage
        progress(coverage.embedded, coverage.total)
        if coverage.model and coverage.embedded == coverage.total:
            return coverage
        if time.monotonic() > deadline:
            raise ServiceError(
                f"bank {bank}: {coverage.embedded} of {coverage.total} memories have a vector after "
                f"{settings.coverage_timeout_s:g} s ({coverage.stalled_reason or 'no reason given'})"
            )
        time.sleep(settings.coverage_poll_s)
