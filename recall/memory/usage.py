"""When a bank was last used: a stamp in RAM, kept beside the log now and then.

A stamp is no write of the bank: it moves no `updated_at`, costs no sync on the path of a turn, and a crash may lose the
last of it. The file `last-used` holds microseconds UTC in decimal, is written when the bank is flushed and when it
closes, and goes where the bank goes.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from recall.memory.files import Files

LAST_USED = "last-used"
MOST_DIGITS = 18
_FRESH = ".new"


class LastUsed:
    """The stamp of one bank. Safe in any thread: a later stamp wins."""

    def __init__(self, folder: Path, files: Files) -> None:
        self._file = folder / LAST_USED
        self._files = files
        self._at: int | None = None  # None: the file was not looked at yet
        self._kept = 0

    @property
    def at(self) -> int:
        """Microseconds UTC; 0 for never."""
        if self._at is None:
            self._kept = self._read()
            self._at = max(self._at or 0, self._kept)
        return self._at

    def stamp(self, now: int) -> None:
        """It is used at `now`."""
        self._at = max(self.at, now)

    def keep(self) -> None:
        """Write the stamp to its file when it moved; a disk that refuses loses the stamp and nothing else."""
        at = self._at
        if not at or at <= self._kept:
            return
        with suppress(OSError):
            fresh = self._file.with_name(LAST_USED + _FRESH)
            self._files.write(fresh, str(at).encode())
            self._files.rename(fresh, self._file)
            self._kept = at

    def _read(self) -> int:
        try:
            content = self._files.read(self._file) if self._files.exists(self._file) else b""
        except OSError:
            return 0
        return int(content) if content.isdigit() and len(content) <= MOST_DIGITS else 0
