"""How much do concurrent writers share? Rates of one and of 16 writers, taken in turn.

Sharing saves waiting for the disk, and nothing of the processor's time, which one interpreter gives to one save at a
time. So at most (processor + disk) / processor can be won, see `Ground.most`: the faster the disk, the less. The bank
is measured on the disk as it is, and on the same disk made slower by what an fdatasync takes on many an SSD.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
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
from benchmarks.latency.percentiles import Percentiles
from benchmarks.load.bars import AtLeast, AtMost, Bar
from benchmarks.service import LaunchSettings, ServerProcess, Service
from index.analyzer import Analyzer
from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import SystemClock
from recall.memory.errors import MemoryServiceError
from recall.memory.files import AppendHandle, DiskFiles, DiskHandle, Files
from recall.memory.record import NewMemory
from recall.memory.settings import StorageSettings
from recall.ranking.bank_index import BankIndex
from recall.ranking.index_settings import IndexSettings
from recall.server.app import DERIVED
from recall.v1 import memory_service_pb2 as pb

BUSY, QUIET = "busy", "quiet"
SLOWER_S = 0.002
SLOWER = "on a disk 2 ms slower"
LINE_BYTES = 360
"""About what a save adds to the log."""

Loop = Callable[[str, str, int, float], LoopResult]
"""(label, bank, writers, seconds) → what they got done."""


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """How much is measured."""

    writers: int = 16
    rounds: int = 8
    round_s: float = 1.5


QUICK = GroupPlan(rounds=3, round_s=0.6)


class Ground(msgspec.Struct, frozen=True):
    """What a save stands on: the bare fdatasync of as many bytes as a save adds, and the processor's time of a save."""

    fdatasync_p50_ms: float
    fdatasync_p99_ms: float
    save_cpu_ms: float

    @property
    def most(self) -> float:
        """What sharing can win at most, as a ratio of rates."""
        return round((self.save_cpu_ms + self.fdatasync_p50_ms) / self.save_cpu_ms, 2)


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
    ground: Ground
    bank: Shared
    slower: Shared
    indexed: Shared
    over_grpc: Shared
    bars: dict[str, Bar]
    machine: str
    versions: dict[str, str]


def run(plan: GroupPlan) -> GroupFigures:
    """Measures both. Raises ServiceError."""
    with in_process() as loop:
        ground = stood_on(loop, plan)
        bank = measure(loop, plan)
    with in_process(files=_SlowFiles()) as loop:
        slower = measure(loop, plan)
    with in_process(_index) as loop:
        indexed = measure(loop, plan)
    with over_grpc() as loop:
        outside = measure(loop, plan)
    bars = shares("bank", bank) | shares(SLOWER, slower) | shares("with its index", indexed)
    bars |= fair("bank", bank) | fair("with its index", indexed) | fair("over gRPC", outside)
    return GroupFigures(plan.writers, ground, bank, slower, indexed, outside, bars, machine(), versions())


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


def stood_on(loop: Loop, plan: GroupPlan) -> Ground:
    """Bare fdatasyncs, before and after a lone writer whose processor time is taken."""
    loop("warm", BUSY, 1, plan.round_s / 2)
    synced = _fdatasyncs(plan.round_s)
    started = time.process_time()
    alone = loop("processor", BUSY, 1, plan.round_s)
    cpu_ms = (time.process_time() - started) * 1e3 / max(1.0, alone.done_per_s * plan.round_s)
    bare = Percentiles.of(synced + _fdatasyncs(plan.round_s))
    return Ground(round(bare.p50, 3), round(bare.p99, 3), round(cpu_ms, 3))


def _fdatasyncs(seconds: float) -> list[float]:
    took: list[float] = []
    with tempfile.TemporaryFile(prefix="recall-load-") as file:
        ends_at = time.perf_counter() + seconds
        while time.perf_counter() < ends_at:
            os.write(file.fileno(), bytes(LINE_BYTES))
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - started) * 1e3)
    return took


class _SlowHandle(DiskHandle):
    def sync(self) -> None:
        super().sync()
        time.sleep(SLOWER_S)


class _SlowFiles(DiskFiles):
    def open_append(self, path: Path) -> AppendHandle:
        return _SlowHandle.open(path)


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
def in_process(on_open: Callable[[Bank], None] = _nothing, files: Files | None = None) -> Iterator[Loop]:
    """Banks in this process, on the real disk unless `files` is given."""
    numbers = count()
    with tempfile.TemporaryDirectory(prefix="recall-load-") as folder:
        banks = Banks(Path(folder) / "data", StorageSettings(), files or DiskFiles(), SystemClock(), on_open)

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
