"""Embeds in the background what has no vector yet, over many banks, without getting into a recall's way.

`Backfill.step` does one thing and returns how long to wait: 0 more work, else seconds. The thread only calls it.
Banks take turns, a batch each, newest memories first. While a recall runs no batch begins, unless recalls never
pause. A down embedder is retried with doubling waits, by real work or, when nothing is missing, by a probe. A text
that no retry helps is left out for a while and counted.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from index.embedder import Embedder
from index.errors import EmbedderUnavailable, EmbeddingError
from index.query_cache import EmbedderSource

_log = logging.getLogger(__name__)
_PROBE_TEXT = "Is anybody there?"

Keyed = tuple[bytes, NDArray[np.float32]]


class BackfillSource(Protocol):
    """One bank, as far as its missing vectors go. Called from the backfill thread."""

    def missing(self, model_id: str, limit: int) -> Sequence[tuple[bytes, str]]:
        """(key, text) of at most `limit` texts without a vector of this model, newest first."""

    def store(self, model_id: str, items: Sequence[Keyed]) -> None:
        """Takes (key, unit vectors (windows, dimensions)); keys no longer wanted are ignored."""


@dataclass(frozen=True, slots=True)
class BackfillSettings:
    """Pace and patience of the backfill."""

    batch: int = 16
    """Texts embedded before recalls and other banks get their turn."""
    idle_s: float = 2.0
    """Wait when nothing is missing or there is no embedder; a poke ends it at once."""
    loading_s: float = 0.02
    """Wait while the embedder loads: banks that are open already take up their vectors right after it."""
    longest_yield_s: float = 5.0
    """Longest time that running recalls can hold up the next batch."""
    yield_s: float = 0.05
    """Wait before looking again whether recalls still run."""
    retry_first_s: float = 1.0
    """Wait after the first failure; doubles up to `retry_longest_s`."""
    retry_longest_s: float = 60.0
    """Longest wait between two tries."""
    retry_text_s: float = 3_600.0
    """Wait before a text that could not be embedded is tried again."""
    most_bad_texts: int = 10_000
    """Such texts remembered for each bank."""


@dataclass(slots=True)
class _Retry:
    """Doubling waits."""

    at: float = -math.inf
    wait_s: float = 0.0

    def failed(self, now: float, settings: BackfillSettings) -> None:
        doubled = max(settings.retry_first_s, 2.0 * self.wait_s)
        self.wait_s = min(doubled, settings.retry_longest_s)
        self.at = now + self.wait_s

    def succeeded(self) -> None:
        self.at, self.wait_s = -math.inf, 0.0


@dataclass(slots=True)
class _Bank:
    source: BackfillSource
    retry: _Retry = field(default_factory=_Retry)
    given: list[bytes] = field(default_factory=list)  # keys of the last batch stored
    bad: dict[bytes, float] = field(default_factory=dict)  # key → when to try again


class _NotKept(Exception):  # noqa: N818 - a bank that stores nothing is waited for like one that fails
    """A source asks for the batch it was just given."""


class Backfill:
    """One thread, many banks."""

    def __init__(
        self, slot: EmbedderSource, settings: BackfillSettings | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        """`clock` gives monotonic seconds."""
        self._slot = slot
        self._settings = settings if settings is not None else BackfillSettings()
        self._clock = clock
        self._lock = threading.Lock()
        self._banks: list[_Bank] = []
        self._recalls = 0
        self._held_up_since: float | None = None
        self._embedder_retry = _Retry()
        self._wake = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="backfill", daemon=True)

    def start(self) -> None:
        """Begins to work in the background."""
        self._thread.start()

    def register(self, source: BackfillSource) -> None:
        """Takes a bank in."""
        with self._lock:
            self._banks.append(_Bank(source))
        self.poke()

    def unregister(self, source: BackfillSource) -> None:
        """Lets a bank go; a batch under way may still be stored."""
        with self._lock:
            self._banks = [bank for bank in self._banks if bank.source is not source]

    def poke(self) -> None:
        """Something new may be missing."""
        self._wake.set()

    def pause(self) -> None:
        """A recall begins: no batch starts until it ends."""
        with self._lock:
            self._recalls += 1

    def resume(self) -> None:
        """A recall ended."""
        with self._lock:
            self._recalls -= 1
            if self._recalls == 0:
                self._held_up_since = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """`pause` and `resume` around a recall."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def bad_texts(self) -> int:
        """Texts left out for now because no vector could be made of them."""
        with self._lock:
            return sum(len(bank.bad) for bank in self._banks)

    def close(self, timeout_s: float = 5.0) -> None:
        """Ends after the batch under way."""
        self._closed = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def step(self) -> float:
        """One batch of one bank, or the reason not to; seconds to wait before the next step."""
        embedder = self._slot.current()
        if embedder is None:
            loading = self._slot.state().state == "loading"
            return self._settings.loading_s if loading else self._settings.idle_s
        now = self._clock()
        if self._must_yield(now):
            return self._settings.yield_s
        if now < self._embedder_retry.at:
            return self._embedder_retry.at - now
        for bank in self._in_turn():
            if now >= bank.retry.at and self._work(bank, embedder, now):
                return max(0.0, self._embedder_retry.at - now)
        return self._idle(embedder, now)

    def _run(self) -> None:
        while not self._closed:
            self._wake.clear()
            wait_s = self.step()
            if wait_s > 0.0:
                self._wake.wait(wait_s)

    def _must_yield(self, now: float) -> bool:
        with self._lock:
            if not self._recalls:
                return False
            if self._held_up_since is None:
                self._held_up_since = now
            if now - self._held_up_since < self._settings.longest_yield_s:
                return True
            self._held_up_since = now  # one batch, then it is the recalls' turn again
            return False

    def _in_turn(self) -> list[_Bank]:
        """The banks, the one served last at the end."""
        with self._lock:
            return list(self._banks)

    def _work(self, bank: _Bank, embedder: Embedder, now: float) -> bool:
        """True when a batch was tried; False when this bank lacks nothing, or cannot be asked."""
        try:
            texts = self._missing(bank, embedder.model_id, now)
            if not texts:
                return False
            self._to_the_end(bank)
            self._refuse_to_spin(bank, texts)
            if vectors := self._encode(bank, embedder, texts, now):
                bank.source.store(embedder.model_id, vectors)
                bank.given = [key for key, _ in vectors]
                bank.retry.succeeded()
        except EmbedderUnavailable as error:
            self._embedder_failed(error, now)
        except Exception as error:  # noqa: BLE001 - a bank that closes or a full disk must not stop the others
            bank.retry.failed(now, self._settings)
            _log.warning("backfill of a bank failed problem=%s retry_s=%s", type(error).__name__, bank.retry.wait_s)
        return True

    def _refuse_to_spin(self, bank: _Bank, texts: Sequence[tuple[bytes, str]]) -> None:
        """A bank that lacks again what it was just given must not keep a core busy."""
        if bank.given == [key for key, _ in texts]:
            bank.given = []
            raise _NotKept

    def _missing(self, bank: _Bank, model_id: str, now: float) -> list[tuple[bytes, str]]:
        for key in [key for key, again in bank.bad.items() if again <= now]:
            del bank.bad[key]
        found = bank.source.missing(model_id, self._settings.batch + len(bank.bad))
        return [(key, text) for key, text in found if key not in bank.bad][: self._settings.batch]

    def _to_the_end(self, bank: _Bank) -> None:
        with self._lock:
            if bank in self._banks:
                self._banks.remove(bank)
                self._banks.append(bank)

    def _encode(self, bank: _Bank, embedder: Embedder, texts: Sequence[tuple[bytes, str]], now: float) -> list[Keyed]:
        """The whole batch at once; when one text spoils it, one by one."""
        try:
            vectors = _encode_windows(embedder, texts)
        except EmbedderUnavailable:
            raise
        except EmbeddingError:
            vectors = [each for key, text in texts for each in self._encode_alone(bank, embedder, key, text, now)]
        if vectors:
            self._embedder_answered()
        return vectors

    def _encode_alone(self, bank: _Bank, embedder: Embedder, key: bytes, text: str, now: float) -> list[Keyed]:
        try:
            return _encode_windows(embedder, [(key, text)])
        except EmbedderUnavailable:
            raise
        except EmbeddingError as error:
            _log.warning("a text cannot be embedded key=%s problem=%s", key.hex(), error.problem)
            if len(bank.bad) < self._settings.most_bad_texts:
                bank.bad[key] = now + self._settings.retry_text_s
            return []

    def _idle(self, embedder: Embedder, now: float) -> float:
        """Nothing to embed: look whether an embedder that was down is back."""
        if self._slot.state().state == "down":
            try:
                embedder.encode([_PROBE_TEXT])
            except EmbeddingError as error:
                self._embedder_failed(error, now)
                return self._embedder_retry.wait_s
            self._embedder_answered()
        return self._settings.idle_s

    def _embedder_failed(self, error: EmbeddingError, now: float) -> None:
        self._embedder_retry.failed(now, self._settings)
        self._slot.report_failure(error)

    def _embedder_answered(self) -> None:
        self._embedder_retry.succeeded()
        self._slot.report_success()


def _encode_windows(embedder: Embedder, texts: Sequence[tuple[bytes, str]]) -> list[Keyed]:
    """One call over the windows of all texts, dealt out again by key."""
    windows = [embedder.windows(text) for _, text in texts]
    rows = embedder.encode([window for pieces in windows for window in pieces])
    ends = np.cumsum([len(pieces) for pieces in windows])[:-1]
    return [(key, part) for (key, _), part in zip(texts, np.split(rows, ends), strict=True)]
