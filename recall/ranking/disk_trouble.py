"""What the disk refuses of derived data: told, tried again, never raised. The truth is in the log.

A part that could not be written goes on in RAM; the next flush tries again, and a success ends the trouble.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_logger = logging.getLogger(__name__)


class DiskTrouble:
    """Which parts of one bank's derived data are not kept on disk, and why. Thread-safe."""

    def __init__(self, bank: str) -> None:
        self._bank = bank
        self._lock = threading.Lock()
        self._problems: dict[str, str] = {}

    @property
    def reason(self) -> str | None:
        """What is not kept, and why; None when all is."""
        with self._lock:
            told = "; ".join(f"{part}: {problem}" for part, problem in sorted(self._problems.items()))
        return told or None

    @contextmanager
    def noting(self, part: str) -> Iterator[None]:
        """Notes an OSError or ValueError (Tantivy's word for one) inside; a run without one ends the trouble."""
        try:
            yield
        except (OSError, ValueError) as error:
            self._note(part, str(error) or type(error).__name__)
        else:
            with self._lock:
                self._problems.pop(part, None)

    def _note(self, part: str, problem: str) -> None:
        with self._lock:
            known = part in self._problems
            self._problems[part] = problem
        if not known:
            _logger.warning("derived data is not kept bank=%s part=%s problem=%s", self._bank, part, problem)
