"""Of which log something derived is; and for the lexical snapshot one small file beside it, written after it.

    {"seq": 1042, "stamp": "<checksum of event 1042>"}

The checksum stands for the whole log up to that event. A snapshot counts only when the log still has that event with
that checksum and the snapshot holds no more than it; otherwise the words are indexed anew.
"""

from pathlib import Path

import msgspec

from recall.memory.bank import Bank
from recall.memory.beginning import KEPT
from recall.memory.errors import HistoryArchived
from recall.memory.files import DiskFiles, Files

_NAME = "lexical.stamp"


class Stamp(msgspec.Struct, frozen=True):
    """A place in a log, and what stands for everything up to it."""

    seq: int
    stamp: str

    def is_of(self, bank: Bank, last_seq: int) -> bool:
        """Whether the bank's log, read up to `last_seq`, has this place."""
        try:
            return 0 < self.seq <= last_seq and bank.stamp(self.seq) == self.stamp
        except HistoryArchived:
            return False


def touched_after(bank: Bank, seq: int) -> frozenset[str]:
    """Ids of the memories that something happened to since: to keep one through a vacuum changes nothing of it."""
    return frozenset(event.id for event in bank.events(seq + 1) if event.id and event.op != KEPT)


def can_be_read(bank: Bank, seq: int) -> bool:
    """Whether the log can be read from here: not when a vacuum archived it and that was taken away."""
    try:
        next(bank.events(seq), None)
    except HistoryArchived:
        return False
    return True


def stamp_path(folder: Path) -> Path:
    """Where the stamp lies."""
    return folder / _NAME


def save_stamp(folder: Path, stamp: Stamp, files: Files | None = None) -> None:
    """Replace the stamp in one step. Raises OSError."""
    files = files or DiskFiles()
    files.make_dir(folder)
    fresh = folder / f"{_NAME}.new"
    files.write(fresh, msgspec.json.encode(stamp))
    files.rename(fresh, stamp_path(folder))


def load_stamp(folder: Path) -> Stamp | None:
    """The stamp; None when there is none that can be read."""
    try:
        return msgspec.json.decode(stamp_path(folder).read_bytes(), type=Stamp)
    except (OSError, msgspec.DecodeError):
        return None
