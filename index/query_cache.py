"""Query text → vector, remembered: equal queries in flight are encoded once, a late vector serves the next asker.

Encoding runs on its own few threads, so a recall can stop waiting at its deadline without stopping the work.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from index.embedder import Embedder, EmbedderState
from index.errors import EmbedderUnavailable

Vector = NDArray[np.float32]
_Key = tuple[str, str]  # model id, text


class EmbedderSource(Protocol):
    """Where the embedder of the moment comes from; EmbedderSlot is one."""

    def current(self) -> Embedder | None:
        """The loaded embedder, also while it is down; None before that."""

    def state(self) -> EmbedderState:
        """Whether asking it makes sense."""

    def report_failure(self, error: Exception) -> None:
        """It gave no answer."""

    def report_success(self) -> None:
        """It answered."""


@dataclass(frozen=True, slots=True)
class QueryCacheSettings:
    """How much is remembered and how much may wait."""

    entries: int = 4_096
    """Vectors kept, the least recently used goes first; 1.5 kB each at 384 dimensions."""
    threads: int = 2
    """Encodes at once."""
    most_pending: int = 64
    """Different queries that may wait for a thread; one more is refused at once."""


class QueryCache:
    """Bounded LRU over (model, text). Vectors are read-only arrays (dimensions,)."""

    def __init__(self, slot: EmbedderSource, settings: QueryCacheSettings | None = None) -> None:
        self._slot = slot
        self._settings = settings if settings is not None else QueryCacheSettings()
        self._lock = threading.Lock()
        self._vectors: OrderedDict[_Key, Vector] = OrderedDict()
        self._waiting: dict[_Key, list[Future[Vector]]] = {}
        self._executor = ThreadPoolExecutor(self._settings.threads, thread_name_prefix="encode-query")
        self._closed = False

    def __len__(self) -> int:
        """Vectors remembered."""
        return len(self._vectors)

    def get(self, text: str) -> Vector | None:
        """The vector if it is remembered for the current model; never encodes."""
        embedder = self._slot.current()
        if embedder is None:
            return None
        with self._lock:
            return self._remembered((embedder.model_id, text))

    def submit(self, text: str) -> Future[Vector]:
        """A future of the caller's own: cancelling it harms no other asker, and the vector is remembered anyway.

        It fails with EmbedderUnavailable (not loaded, down, queue full) or EmbeddingError.
        """
        future: Future[Vector] = Future()
        embedder = self._slot.current()
        if embedder is None:
            future.set_exception(EmbedderUnavailable("embedder", self._slot.state().detail or "not loaded yet"))
            return future
        with self._lock:
            self._join(embedder, (embedder.model_id, text), future)
        return future

    def close(self) -> None:
        """Encodes that have begun end; those that wait fail with EmbedderUnavailable."""
        with self._lock:
            self._closed = True
            waiting = [future for futures in self._waiting.values() for future in futures]
        self._executor.shutdown(wait=False, cancel_futures=True)
        for future in waiting:
            _fail(future, EmbedderUnavailable("embedder", "closing"))

    def _remembered(self, key: _Key) -> Vector | None:
        vector = self._vectors.get(key)
        if vector is not None:
            self._vectors.move_to_end(key)
        return vector

    def _join(self, embedder: Embedder, key: _Key, future: Future[Vector]) -> None:
        """Answers from memory, joins an encode in flight or starts one. Under the lock."""
        vector = self._remembered(key)
        if vector is not None:
            future.set_result(vector)
        elif key in self._waiting:
            self._waiting[key].append(future)
        elif refusal := self._refusal():
            future.set_exception(refusal)
        else:
            self._waiting[key] = [future]
            self._executor.submit(self._encode, embedder, key)

    def _refusal(self) -> EmbedderUnavailable | None:
        state = self._slot.state()
        if self._closed:
            return EmbedderUnavailable("embedder", "closing")
        if state.state == "down":  # whoever tends the embedder finds out when it is back; a query does not wait for it
            return EmbedderUnavailable(state.backend, state.detail)
        if len(self._waiting) >= self._settings.most_pending:
            return EmbedderUnavailable(state.backend, f"{len(self._waiting)} queries wait already")
        return None

    def _encode(self, embedder: Embedder, key: _Key) -> None:
        try:
            vector = embedder.encode([key[1]])[0].copy()
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who wait
            if isinstance(error, EmbedderUnavailable):
                self._slot.report_failure(error)
            for future in self._leave(key, None):
                _fail(future, error)
            return
        self._slot.report_success()
        vector.setflags(write=False)
        for future in self._leave(key, vector):
            if future.set_running_or_notify_cancel():
                future.set_result(vector)

    def _leave(self, key: _Key, vector: Vector | None) -> list[Future[Vector]]:
        with self._lock:
            if vector is not None:
                self._vectors[key] = vector
                while len(self._vectors) > self._settings.entries:
                    self._vectors.popitem(last=False)
            return self._waiting.pop(key, [])


def _fail(future: Future[Vector], error: Exception) -> None:
    """Unless its owner gave up, or an answer came first."""
    if not future.done() and future.set_running_or_notify_cancel():
        future.set_exception(error)
