"""The words of a large bank indexed anew beside its recalls, newest memories first.

A bank whose lexical snapshot is lost answers at once with what is indexed so far, and says so, until all is.
"""

import logging
import threading
from collections.abc import Callable, Sequence

from recall.memory.errors import MemoryServiceError

_logger = logging.getLogger(__name__)
_RETRY_S = 1.0


class Rebuilding:
    """A thread that hands out ordinals in small steps until none waits. Made anew for every rebuild."""

    def __init__(self, ordinals: Sequence[int], step: int, bank: str) -> None:
        """`ordinals` ascending."""
        self.total = len(ordinals)
        self._waiting = list(ordinals)
        self._step = step
        self._bank = bank
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def remaining(self) -> int:
        """Memories whose words are not indexed yet."""
        return len(self._waiting)

    def start(self, take: Callable[["Rebuilding", Sequence[int]], bool]) -> None:
        """Begins. `take` indexes some ordinals, and says False when this rebuild is void."""
        self._thread = threading.Thread(target=self._run, args=(take,), name="recall-rebuild", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends after the step under way; returns at once."""
        self._stopping.set()

    def wait(self, timeout_s: float) -> bool:
        """Whether it has ended within `timeout_s` seconds."""
        if self._thread is None:
            return False
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self, take: Callable[["Rebuilding", Sequence[int]], bool]) -> None:
        while not self._stopping.is_set():
            try:
                if not take(self, self._waiting[-self._step :]):
                    return
                del self._waiting[-self._step :]
            except MemoryServiceError as error:  # the log cannot be read now
                _logger.warning("rebuild waits bank=%s problem=%s", self._bank, error)
                self._stopping.wait(_RETRY_S)
