"""A flame graph of the server under recalls: a start of its own on the filled folder, so no figure pays for it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.ending import temporary_folder
from benchmarks.latency.flame import svg, tree
from benchmarks.latency.probes import Target
from benchmarks.latency.sampled_server import STACKS
from benchmarks.service import LaunchSettings, ServerProcess, ServiceError, serving
from recall.v1 import recall_service_pb2 as pb

_READY_S = 120.0
_WARM_UP_S = 0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """What the server under the sampler is asked; hybrid where it has an encoder, each query once, then again."""

    bank: str
    queries: Sequence[str]
    hybrid: bool

    @property
    def mode(self) -> pb.RecallMode.ValueType:
        return pb.RECALL_MODE_HYBRID if self.hybrid else pb.RECALL_MODE_LEXICAL


def write_flame(path: Path, data: Path, launch: LaunchSettings, asked: Asked, seconds: float) -> None:
    """Writes the SVG, and the stacks beside it, `.txt`. Raises ServiceError when the server told no stacks."""
    with temporary_folder("recall-flame-") as folder:
        stacks = folder / "stacks"
        sampled = replace(
            launch,
            command=(sys.executable, "-m", "benchmarks.latency.sampled_server"),
            extra={**launch.extra, STACKS: str(stacks)},
        )
        with ServerProcess(data, sampled) as process, serving(process.address) as service:
            service.wait_until_embedder_is_ready(_READY_S)
            target = Target(service, asked.bank)
            _ask(target, asked, _WARM_UP_S)
            os.kill(process.pid, signal.SIGUSR1)
            calls = _ask(target, asked, seconds)
        if not stacks.is_file():
            raise ServiceError("the server under the sampler ended without its stacks")
        told = stacks.read_text(encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".txt").write_text(told, encoding="utf-8")
    title = f"processor time of the server in {calls} recalls of one caller; width is time, callers below"
    path.write_text(svg(tree(told.splitlines()), title), encoding="utf-8")


def _ask(target: Target, asked: Asked, seconds: float) -> int:
    ends_at, calls = time.perf_counter() + seconds, 0
    while time.perf_counter() < ends_at:
        target.recall(asked.queries[calls % len(asked.queries)], asked.mode)
        calls += 1
    return calls
