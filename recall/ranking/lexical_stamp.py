"""Of which log a lexical snapshot is: one small file beside it, written after it.

    {"seq": 1042, "stamp": "<checksum of event 1042>"}

The checksum stands for the whole log up to that event. A snapshot counts only when the log still has that event with
that checksum and the snapshot holds no more than it; otherwise the words are indexed anew.
"""

import os
from pathlib import Path

import msgspec

_NAME = "lexical.stamp"


class Stamp(msgspec.Struct, frozen=True):
    """A place in a log, and what stands for everything up to it."""

    seq: int
    stamp: str


def save_stamp(folder: Path, stamp: Stamp) -> None:
    """Replace the stamp in one step. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{_NAME}.new"
    fresh.write_bytes(msgspec.json.encode(stamp))
    os.replace(fresh, folder / _NAME)  # noqa: PTH105 - the atomic rename, by its name


def load_stamp(folder: Path) -> Stamp | None:
    """The stamp; None when there is none that can be read."""
    try:
        return msgspec.json.decode((folder / _NAME).read_bytes(), type=Stamp)
    except (OSError, msgspec.DecodeError):
        return None
