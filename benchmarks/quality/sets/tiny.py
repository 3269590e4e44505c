"""A tiny set of our own, in LoCoMo's layout: it runs in the tests, and shows a newcomer what a run looks like."""

from __future__ import annotations

from pathlib import Path

from benchmarks.quality.dataset import Dataset
from benchmarks.quality.sets import locomo

PATH = Path(__file__).parent / "tiny.json"


def load(path: Path, unit: str) -> Dataset:
    """Units: turn, session."""
    read = locomo.load(path, unit)
    return Dataset("tiny", read.unit, read.haystacks, read.dropped, read.headline, read.headline_label)
