"""What a process holds: memory, descriptors, threads, second by second. Linux only (`/proc`)."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

_KIB = 1024


class Footprint(msgspec.Struct, frozen=True):
    """Of one moment; ``at_s`` counts from the start of the watch."""

    at_s: float
    rss_mib: float
    fds: int
    threads: int


class Drift(msgspec.Struct, frozen=True):
    """The same figure early (once settled) and late (medians), and its highest value in between."""

    early: float
    late: float
    highest: float

    @property
    def growth(self) -> float:
        """Late by early."""
        return round(self.late / self.early, 3)


def footprint(pid: int, at_s: float = 0.0) -> Footprint:
    """What the process holds now. Raises OSError when it is gone."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    fds = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return Footprint(round(at_s, 1), round(int(status["VmRSS"].split()[0]) / _KIB, 1), fds, int(status["Threads"]))


def processor_s(pid: int) -> float:
    """Processor time that the process has used, seconds. Raises OSError when it is gone."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def own_mib(pid: int) -> float:
    """Resident memory that is no page of a file (RssAnon). Raises OSError when the process is gone."""
    told = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return round(int(told["RssAnon"].split()[0]) / _KIB, 1)


def shared_out_mib(pid: int) -> float:
    """Resident memory, of which pages shared with other processes count in parts (PSS). Raises OSError."""
    told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) for line in told.splitlines() if line.startswith("Pss:")) / _KIB


def drift(samples: Sequence[Footprint], figure: str, settled_s: float, window_s: float) -> Drift:
    """How a figure moved after ``settled_s``; early and late are medians over ``window_s``."""
    after = [sample for sample in samples if sample.at_s >= settled_s] or list(samples)
    early = [getattr(sample, figure) for sample in after if sample.at_s <= after[0].at_s + window_s]
    late = [getattr(sample, figure) for sample in after if sample.at_s >= after[-1].at_s - window_s]
    highest = max(getattr(sample, figure) for sample in after)
    return Drift(statistics.median(early), statistics.median(late), highest)


class FootprintWatch:
    """Samples a process inside the ``with``."""

    def __init__(self, pid: int, every_s: float = 1.0) -> None:
        self.samples: list[Footprint] = []
        self._pid = pid
        self._every_s = every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def _work(self) -> None:
        began = time.perf_counter()
        while not self._over.wait(self._every_s):
            self.samples.append(footprint(self._pid, time.perf_counter() - began))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
