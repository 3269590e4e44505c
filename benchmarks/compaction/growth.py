"""Planning time and peak memory by bank size: a process each, so that one size leaves nothing to the next.

The memories are made up: topics of a few dozen sentences each, a tenth of them restated. Vectors are drawn around
their topic's, so that there are neighbours to look at. Everything comes from one seed.
"""

from __future__ import annotations

import gc
import itertools
import math
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from consolidate.candidates import find_candidates
from consolidate.memo import Memo
from consolidate.plan import make_plan
from consolidate.settings import ConsolidateSettings

SIZES = (1_000, 10_000, 100_000)
_SEED = 5
_DIMENSIONS = 384
_WORDS = 16
_VOCABULARY = 20_000
_LONGEST_WORD = 4
_TOPIC = 40
_SPREAD = 0.5
_RESTATED = 10
_SYLLABLES = [c + v for c in "bcdfglmnprst" for v in "aeiou"]


class Growth(msgspec.Struct, frozen=True):
    """One size: CPU and wall seconds for candidates and plan together, and the peak resident memory."""

    memories: int
    pairs: int
    merges: int
    seconds: float
    cpu_seconds: float
    peak_mib: float


class GrowthFigures(msgspec.Struct, frozen=True):
    """All sizes, and the log-log slope of seconds between each two that follow each other."""

    sizes: tuple[Growth, ...]
    slopes: tuple[float, ...]


def measure(sizes: Sequence[int]) -> GrowthFigures:
    """Plans a bank of each size. Raises CalledProcessError when a process breaks."""
    found = tuple(_measured_apart(size) for size in sizes)
    slopes = tuple(
        math.log(after.seconds / before.seconds) / math.log(after.memories / before.memories)
        for before, after in itertools.pairwise(found)
    )
    return GrowthFigures(found, slopes)


def show(found: GrowthFigures, console: Console) -> None:
    """Prints a row a size."""
    table = Table("memories", title="planning by size", title_justify="left")
    for name in ("pairs", "merges", "seconds", "CPU seconds", "peak MiB", "slope"):
        table.add_column(name, justify="right")
    for each, slope in zip(found.sizes, (math.nan, *found.slopes), strict=True):
        cells = (f"{each.pairs}", f"{each.merges}", f"{each.seconds:.2f}", f"{each.cpu_seconds:.2f}")
        table.add_row(f"{each.memories}", *cells, f"{each.peak_mib:.0f}", "" if math.isnan(slope) else f"{slope:.2f}")
    console.print(table)


def write(found: GrowthFigures, path: Path) -> None:
    """Writes the JSON."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")


def _measured_apart(size: int) -> Growth:
    command = [sys.executable, "-m", "benchmarks.compaction.growth", str(size)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return msgspec.json.decode(done.stdout, type=Growth)


def plan_made_up(size: int) -> Growth:
    """Plans a made-up bank in this process."""
    memos, vectors = made_up(size)
    settings = ConsolidateSettings()
    wall, cpu = time.perf_counter(), time.process_time()
    candidates = find_candidates(memos, vectors, settings)
    plan = make_plan(memos, candidates, settings)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Growth(size, len(candidates), sum(len(group.losers) for group in plan.merges), wall, cpu, peak)


def made_up(size: int) -> tuple[list[Memo], NDArray[np.float32]]:
    """Memories and their vectors (size, 384); the last tenth restates the first in capitals."""
    rng = np.random.default_rng(_SEED)
    syllables = rng.integers(0, len(_SYLLABLES), (_VOCABULARY, _LONGEST_WORD))
    lengths = rng.integers(1, _LONGEST_WORD + 1, _VOCABULARY)
    vocabulary = ["".join(_SYLLABLES[at] for at in row[:n]) for row, n in zip(syllables, lengths, strict=True)]
    weights = 1.0 / np.arange(1, _VOCABULARY + 1)
    drawn = rng.choice(_VOCABULARY, (size, _WORDS), p=weights / weights.sum())
    texts = [" ".join(vocabulary[word] for word in row).capitalize() for row in drawn]
    topics = rng.standard_normal((size // _TOPIC + 1, _DIMENSIONS), np.float32)
    vectors = rng.standard_normal((size, _DIMENSIONS), np.float32)
    vectors *= _SPREAD
    vectors += topics[rng.integers(0, len(topics), size)]
    restated = size // _RESTATED
    for at in range(restated):
        texts[-1 - at] = f"{texts[at].upper()}!"
    vectors[size - restated :] = vectors[:restated][::-1]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [Memo(f"{at:08d}", text) for at, text in enumerate(texts)], vectors


if __name__ == "__main__":
    gc.disable()  # as the process that plans for the service
    sys.stdout.buffer.write(msgspec.json.encode(plan_made_up(int(sys.argv[1]))))
