"""LoCoMo: ten very long conversations, questions in five categories.

The file is a list of samples, each with ``conversation``, ``qa`` and ``sample_id``. Category 5 is adversarial (the
question twists what was said), so the headline is over categories 1 to 4; figures with it stand beside. Some evidence
strings hold several ids, or one that does not exist: they are split on white space, ";" and ",", and what does not
resolve is dropped.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchmarks.quality.dataset import Dataset, Dropped, LayoutError
from benchmarks.quality.sets import dialogue

CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", "5": "adversarial"}
HEADLINE = frozenset("1234")


def load(path: Path, unit: str) -> Dataset:
    """``path`` is the JSON file. Units: turn, session."""
    samples = msgspec.json.decode(path.read_bytes())
    dropped = Dropped()
    try:
        haystacks = tuple(
            dialogue.haystack(sample["sample_id"], sample["conversation"], sample["qa"], unit, dropped)
            for sample in samples
        )
    except (KeyError, TypeError) as problem:
        raise LayoutError(path, f"not LoCoMo's layout: {problem!r}") from problem
    return Dataset("locomo", unit, haystacks, dropped, HEADLINE, "categories 1-4")
