"""REALTALK: real chats of some weeks, in LoCoMo's layout with ``clean_text`` and a time on every turn.

``path`` is one chat file or the folder of them. A chat holds its sessions and its ``qa`` at the top, beside ``name``
and ``events_session_N``, which are not read. Categories: 1 multi-hop, 2 temporal, 3 commonsense.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchmarks.quality.dataset import Dataset, Dropped, LayoutError
from benchmarks.quality.sets import dialogue


def load(path: Path, unit: str) -> Dataset:
    """Units: turn, session."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise LayoutError(path, "no *.json in this folder")
    dropped = Dropped()
    haystacks = []
    for file in files:
        chat = msgspec.json.decode(file.read_bytes())
        if not isinstance(chat, dict) or "qa" not in chat:
            raise LayoutError(file, "not REALTALK's layout: no `qa` at the top")
        try:
            haystacks.append(dialogue.haystack(file.stem, chat, chat["qa"], unit, dropped))
        except (KeyError, TypeError, AttributeError) as problem:
            raise LayoutError(file, f"not REALTALK's layout: {problem!r}") from problem
    return Dataset("realtalk", unit, tuple(haystacks), dropped)
