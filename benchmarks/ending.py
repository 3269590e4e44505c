"""A benchmark that is ended leaves nothing behind: SIGTERM unwinds like Ctrl-C, so servers stop and folders go."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

_BY_SIGTERM = 128 + signal.SIGTERM


def ended_by_sigterm() -> None:
    """From now on SIGTERM raises SystemExit(143) in the main thread; a second one ends the process at once."""

    def heard(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature is the system's
        signal.signal(signum, signal.SIG_DFL)
        raise SystemExit(_BY_SIGTERM)

    signal.signal(signal.SIGTERM, heard)


@contextmanager
def temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """An empty folder, gone afterwards; what still writes into it while it goes is no error."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
