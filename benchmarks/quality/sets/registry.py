"""The sets by the name that the command line, the figures and the tests use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.dataset import Dataset
from benchmarks.quality.sets import beam, beir, devbench, locomo, longmemeval, memdaily, realtalk, tiny, trec


@dataclass(frozen=True, slots=True)
class SetEntry:
    """A loader, the units it offers (the first is the default) and where its data comes from."""

    load: Callable[[Path, str], Dataset]
    units: tuple[str, ...]
    origin: str


SETS: dict[str, SetEntry] = {
    "locomo": SetEntry(locomo.load, ("turn", "session"), "snap-research/locomo, CC BY-NC 4.0"),
    "longmemeval": SetEntry(longmemeval.load, ("session", "turn"), "xiaowu0162/LongMemEval, MIT"),
    "beam": SetEntry(beam.load, ("message",), "mohammadtavakoli78/BEAM"),
    "realtalk": SetEntry(realtalk.load, ("turn", "session"), "danny911kr/REALTALK"),
    "vaswani": SetEntry(trec.load, ("document",), "the Vaswani (NPL) test collection"),
    "trec": SetEntry(trec.load, ("document",), "any folder of TREC documents, topics and qrels"),
    "beir": SetEntry(beir.load, ("document",), "any folder with corpus.jsonl, queries.jsonl and qrels/"),
    "devbench": SetEntry(devbench.load, ("memory",), "doobidoo/mcp-memory-service, Apache-2.0"),
    "memdaily": SetEntry(memdaily.load, ("message",), "nuster1128/MemSim (Chinese)"),
    "tiny": SetEntry(tiny.load, ("turn", "session"), "our own, in the repository"),
}


class UnknownSetError(Exception):
    """No such set, or no such unit of it."""


def load(name: str, path: Path | None, unit: str | None = None) -> Dataset:
    """Reads a set. Raises UnknownSetError, LayoutError or OSError."""
    entry = SETS.get(name)
    if entry is None:
        raise UnknownSetError(f"no set is called {name!r}; there are {', '.join(SETS)}")
    chosen = unit or entry.units[0]
    if chosen not in entry.units:
        raise UnknownSetError(f"{name} has no unit {chosen!r}; it has {', '.join(entry.units)}")
    if path is None:
        if name != "tiny":
            raise UnknownSetError(f"--data is missing: the path of {entry.origin}")
        path = tiny.PATH
    return entry.load(path, chosen)
