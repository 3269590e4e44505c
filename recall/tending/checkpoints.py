"""When each bank last had a clean pass: one small file a bank, beside what is derived from it.

```
<data>/<tenant>/<bank>/derived/consolidated.json    {"last_run": µs UTC, "run": "…", "log_bytes": n}
```

It may be deleted at any time: the bank is then due. `log_bytes` is the size of a log in which the pass found nothing
more to do (0: not known), so that banks nobody wrote to need not be opened to find nothing again.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from recall.memory.files import Files
from recall.memory.log import LOG_NAME

_DERIVED = "derived"
_NAME = "consolidated.json"


class Checkpoint(msgspec.Struct, frozen=True):
    """A clean pass."""

    last_run: int = 0
    run: str = ""
    log_bytes: int = 0


NEVER = Checkpoint()


class Checkpoints:
    """The checkpoints of banks, by their folder."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def read(self, bank: Path) -> Checkpoint:
        """The last clean pass; NEVER when there was none, or the file cannot be read."""
        try:
            return msgspec.json.decode(self._files.read(bank / _DERIVED / _NAME), type=Checkpoint)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return NEVER

    def write(self, bank: Path, checkpoint: Checkpoint) -> None:
        """Replaces it. Raises OSError."""
        folder = bank / _DERIVED
        self._files.make_dir(folder)
        part = folder / f"{_NAME}.part"
        self._files.write(part, msgspec.json.encode(checkpoint))
        self._files.rename(part, folder / _NAME)
        self._files.sync_dir(folder)

    def unchanged(self, bank: Path, checkpoint: Checkpoint) -> bool:
        """Whether nothing was written to the bank since a pass found nothing to do."""
        try:
            return checkpoint.log_bytes != 0 and self._files.size(bank / LOG_NAME) == checkpoint.log_bytes
        except OSError:
            return False
