"""One lock a name, made when somebody wants it and gone when nobody does."""

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager


class Doors:
    """At most one thread is behind the door of a name. A thread must not go through two."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._users: dict[Hashable, int] = {}

    @contextmanager
    def through(self, name: Hashable) -> Iterator[None]:
        """Be the only one behind this door."""
        with self._mutex:
            lock = self._locks.setdefault(name, threading.Lock())
            self._users[name] = self._users.get(name, 0) + 1
        try:
            with lock:
                yield
        finally:
            with self._mutex:
                self._users[name] -= 1
                if not self._users[name]:
                    del self._users[name], self._locks[name]
