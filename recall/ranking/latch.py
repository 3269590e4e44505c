"""Many readers beside one writer, in RAM: a recall sees all of a write or none of it.

Held for the length of a scoring pass or of a small write, never across a disk access. A waiting writer goes before
readers that come later; readers that waited for a writer go before the next writer, so that neither side starves.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Latch:
    """A readers–writer latch that is fair to both sides; not reentrant."""

    def __init__(self) -> None:
        self._condition = threading.Condition(threading.Lock())
        self._readers = 0
        self._writing = False
        self._writers_waiting = 0
        self._readers_waiting = 0
        self._turn_of_readers = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Inside, nothing is written."""
        with self._condition:
            if self._writing or (self._writers_waiting and not self._turn_of_readers):
                self._wait_to_read()
            self._readers += 1
        try:
            yield
        finally:
            with self._condition:
                self._readers -= 1
                if self._readers == 0 and self._writers_waiting:
                    self._condition.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Inside, nobody else reads or writes."""
        with self._condition:
            self._writers_waiting += 1
            while self._writing or self._readers or (self._turn_of_readers and self._readers_waiting):
                self._condition.wait()
            self._writers_waiting -= 1
            self._writing = True
            self._turn_of_readers = False
        try:
            yield
        finally:
            with self._condition:
                self._writing = False
                self._turn_of_readers = True
                self._condition.notify_all()

    def _wait_to_read(self) -> None:
        self._readers_waiting += 1
        while self._writing or (self._writers_waiting and not self._turn_of_readers):
            self._condition.wait()
        self._readers_waiting -= 1
        if self._readers_waiting == 0:
            self._turn_of_readers = False
            self._condition.notify_all()
