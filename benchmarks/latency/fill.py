"""Fills the bank, and says how fast."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.progress import Progress

from benchmarks.latency.probes import Target
from benchmarks.quality.loading import LoadSettings, wait_for_coverage
from recall.v1 import bank_service_pb2, memory_service_pb2

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Filled:
    """Memories a second: saved by SaveBatch, and embedded in the background (0 without an encoder)."""

    saved_per_s: float
    embedded_per_s: float


IN_PROCESS = Filled(0.0, 0.0)
"""The bank was there before the server: neither was measured."""


def fill(target: Target, texts: Sequence[str], has_encoder: bool, progress: Progress) -> Filled:
    """Returns when every memory is saved and, with an encoder, has a vector."""
    target.service.banks.Create(bank_service_pb2.BankServiceCreateRequest(name=target.bank), timeout=60.0)
    began = time.perf_counter()
    for batch in progress.track([texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)], description="save"):
        memories = [memory_service_pb2.NewMemory(text=text) for text in batch]
        request = memory_service_pb2.SaveBatchRequest(bank=target.bank, memories=memories)
        target.service.memories.SaveBatch(request, timeout=120.0)
    saved = time.perf_counter()
    if has_encoder:
        wait_for_vectors(target, progress)
    embedded = time.perf_counter()
    rate = len(texts) / (embedded - began) if has_encoder else 0.0
    return Filled(round(len(texts) / (saved - began), 1), round(rate, 1))


def wait_for_vectors(target: Target, progress: Progress) -> None:
    """Returns when every memory has a vector."""
    task = progress.add_task("embed", total=None)
    wait_for_coverage(
        target.service,
        target.bank,
        LoadSettings(),
        lambda done, total: progress.update(task, completed=done, total=total),
    )
