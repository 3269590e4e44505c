"""How much do concurrent writers share? Rates of one and of 16 writers, taken in turn."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import msgspec

from benchmarks.environment import machine, versions
from benchmarks.latency.load import Connected, LoopResult, at_once, closed_loop
from benchmarks.load.bars import AtLeast, AtMost, Bar
from benchmarks.service import LaunchSettings, ServerProcess, Service
from index.analyzer import Analyzer
from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import SystemClock
from recall.memory.errors import MemoryServiceError
from recall.memory.files import DiskFiles
from recall.memory.record import NewMemory
from recall.memory.settings import StorageSettings
from recall.ranking.bank_index import BankIndex, IndexSettings
from recall.server.app import DERIVED
from recall.v1 import memory_service_pb2 as pb

BUSY, QUIET = "busy", "quiet"

Loop = Callable[[str, str, int, float], LoopResult]
"""(label, bank, writers, seconds) → what they got done."""


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """How much is measured."""

    writers: int = 16
    rounds: int = 8
    round_s: float = 1.5


QUICK = GroupPlan(rounds=3, round_s=0.6)


class Shared(msgspec.Struct, frozen=True):
    """Medians over the rounds. Rates are saves a second, times milliseconds."""

    alone_per_s: float
    together_per_s: float
    ratio: float
    alone_p50_ms: float
    together_p50_ms: float
    together_p99_ms: float
    quiet_per_s: float
    busy_writer_per_s: float
    quiet_p50_ms: float
    quiet_p99_ms: float
    failed: int


class GroupFigures(msgspec.Struct, frozen=True):
    """In process: the bank alone, and with its index. Over gRPC: a server process, and all writers in another one."""

    writers: int
    bank: Shared
    indexed: Shared
    over_grpc: Shared
    bars: dict[str, Bar]
    machine: str
    versions: dict[str, str]


def run(plan: GroupPlan) -> GroupFigures:
    """Measures both. Raises ServiceError."""
    with in_process() as loop:
        bank = measure(loop, plan)
    with in_process(_index) as loop:
        indexed = measure(loop, plan)
    with over_grpc() as loop:
        outside = measure(loop, plan)
    bars = shares("bank", bank) | shares("with its index", indexed)
    bars |= fair("bank", bank) | fair("with its index", indexed) | fair("over gRPC", outside)
    return GroupFigures(plan.writers, bank, indexed, outside, bars, machine(), versions())


def measure(loop: Loop, plan: GroupPlan) -> Shared:
    """One writer, all writers, then all of them beside a quiet one; again and again."""
    loop("warm", BUSY, plan.writers, plan.round_s / 2)
    loop("warm", QUIET, 1, plan.round_s / 4)
    rounds = [_round(loop, plan) for _ in range(plan.rounds)]
    alone, together, busy, quiet = zip(*rounds, strict=True)
    return Shared(
        alone_per_s=_median([one.done_per_s for one in alone]),
        together_per_s=_median([one.done_per_s for one in together]),
        ratio=_median([many.done_per_s / one.done_per_s for one, many in zip(alone, together, strict=True)]),
        alone_p50_ms=_median([one.latency_ms.p50 for one in alone]),
        together_p50_ms=_median([one.latency_ms.p50 for one in together]),
        together_p99_ms=_median([one.latency_ms.p99 for one in together]),
        quiet_per_s=_median([one.done_per_s for one in quiet]),
        busy_writer_per_s=_median([one.done_per_s / plan.writers for one in busy]),
        quiet_p50_ms=_median([one.latency_ms.p50 for one in quiet]),
        quiet_p99_ms=_median([one.latency_ms.p99 for one in quiet]),
        failed=sum(one.failed for four in rounds for one in four),
    )


def shares(where: str, found: Shared) -> dict[str, Bar]:
    """What has to hold where the disk is what a save waits for. (Over gRPC it is the processor, call by call.)"""
    return {
        f"{where}: rate together / alone": AtLeast(found.ratio, 6.0, "x"),
        f"{where}: p99 together / p50 alone": AtMost(found.together_p99_ms / found.alone_p50_ms, 5.0, "x"),
    }


def fair(where: str, found: Shared) -> dict[str, Bar]:
    """What has to hold for the writer of a quiet bank beside a busy one."""
    return {
        f"{where}: quiet writer / busy writer": AtLeast(found.quiet_per_s / found.busy_writer_per_s, 0.5, "x"),
        f"{where}: failed saves": AtMost(found.failed, 0),
    }


def _nothing(_bank: Bank) -> None:
    return None


def _index(bank: Bank) -> None:
    """What a server builds of the bank, less the vectors."""
    BankIndex.open(bank, bank.place.folder / DERIVED, Analyzer(), IndexSettings(), lambda: None)


@contextmanager
def in_process(on_open: Callable[[Bank], None] = _nothing) -> Iterator[Loop]:
    """Banks in this process, on the real disk."""
    numbers = count()
    with tempfile.TemporaryDirectory(prefix="recall-load-") as folder:
        banks = Banks(Path(folder) / "data", StorageSettings(), DiskFiles(), SystemClock(), on_open)

        @contextmanager
        def connected(bank: str) -> Iterator[Callable[[int], object]]:
            writes = banks.open_or_create(DEFAULT_TENANT, bank)

            def save(_number: int) -> None:
                result = writes.save([NewMemory(text=_text(next(numbers)))])[0]
                if isinstance(result, MemoryServiceError):
                    raise result

            yield save

        def loop(name: str, bank: str, writers: int, seconds: float) -> LoopResult:
            reach: Callable[[], Connected] = partial(connected, bank)
            return at_once(name, reach, writers, seconds, MemoryServiceError)

        yield loop
        banks.close()


@contextmanager
def over_grpc() -> Iterator[Loop]:
    """A server process without an encoder, so that nothing is measured but saving."""
    numbers = count()
    launch = LaunchSettings({"embedding.model": "none"})
    with (
        tempfile.TemporaryDirectory(prefix="recall-load-") as folder,
        ServerProcess(Path(folder) / "data", launch) as process,
    ):

        def loop(name: str, bank: str, writers: int, seconds: float) -> LoopResult:
            def save(service: Service, _number: int) -> object:
                memory = pb.NewMemory(text=_text(next(numbers)))
                return service.memories.Save(pb.SaveRequest(bank=bank, memory=memory), timeout=30.0)

            return closed_loop(process.address, name, save, writers, seconds)

        yield loop


def _round(loop: Loop, plan: GroupPlan) -> tuple[LoopResult, LoopResult, LoopResult, LoopResult]:
    alone = loop("alone", BUSY, 1, plan.round_s)
    together = loop("together", BUSY, plan.writers, plan.round_s)
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(loop, "quiet", QUIET, 1, plan.round_s)
        busy = loop("busy", BUSY, plan.writers, plan.round_s)
        return alone, together, busy, beside.result()


def _text(number: int) -> str:
    return f"memory number {number}: blog posts go out on Tuesday mornings"


def _median(values: Sequence[float]) -> float:
    return round(statistics.median(values), 3)
