"""Whether the vector leg runs, and if not why: asked at once, waited for no longer than the budget allows."""

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.embedder import EmbedderState
from index.query_cache import EmbedderSource, QueryCache
from recall.ranking.bank_index import BankIndex
from recall.ranking.embedded import Coverage
from recall.ranking.query import Mode
from recall.ranking.results import Degraded, DegradedReason

Vector = NDArray[np.float32]

_REASONS = {
    "off": DegradedReason.EMBEDDER_OFF,
    "loading": DegradedReason.EMBEDDER_LOADING,
    "down": DegradedReason.EMBEDDER_DOWN,
}
_DETAILS = {
    "off": "the service runs without an embedding model",
    "loading": "the embedding model is loading",
    "down": "the embedding model does not answer",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A query's vector that is on its way, or why none is."""

    model_id: str = ""
    future: Future[Vector] | None = None
    degraded: tuple[Degraded, ...] = ()

    @property
    def waits(self) -> bool:
        """The vector is not there yet."""
        return self.future is not None and not self.future.done()


@dataclass(frozen=True, slots=True)
class Arrived:
    """The vector, if it came in time, and what to say about it."""

    vector: Vector | None
    model_id: str
    degraded: tuple[Degraded, ...]


def ask(mode: Mode, text: str, index: BankIndex, slot: EmbedderSource, queries: QueryCache) -> Asked:
    """Begin to embed the query where the mode wants vectors and the bank has enough of them.

    The caller holds the index for reading.
    """
    if mode is Mode.LEXICAL:
        return Asked()
    embedder, state = slot.current(), slot.state()
    if embedder is None or state.state == "down":
        return Asked(degraded=(_unavailable(state),))
    embedded = index.embedded
    if embedded is None or embedded.model_id != embedder.model_id or not embedded.scored:
        return Asked(degraded=(behind(index.coverage_now(embedder.model_id)),))
    return Asked(embedder.model_id, queries.submit(text))


def wait(asked: Asked, until: float, monotonic: Callable[[], float]) -> Arrived:
    """The vector, waited for until `until` on the monotonic clock; a late one still goes into the cache."""
    if asked.future is None:
        return Arrived(None, asked.model_id, asked.degraded)
    started = monotonic()
    try:
        return Arrived(asked.future.result(max(0.0, until - started)), asked.model_id, ())
    except TimeoutError:
        asked.future.cancel()
        reason, detail = DegradedReason.EMBED_LATE, f"no vector after {(monotonic() - started) * 1_000.0:.0f} ms"
    except (Exception, CancelledError) as error:  # noqa: BLE001 - a recall never fails for want of vectors
        reason, detail = DegradedReason.EMBEDDER_DOWN, str(error) or type(error).__name__
    return Arrived(None, asked.model_id, (Degraded(reason, detail),))


def behind(coverage: Coverage) -> Degraded:
    """Memories without a vector, with figures."""
    lacking = coverage.total - coverage.embedded
    return Degraded(DegradedReason.BACKFILL_BEHIND, f"{lacking} of {coverage.total} memories have no vector yet")


def _unavailable(state: EmbedderState) -> Degraded:
    known = state.state if state.state in _REASONS else "loading"
    return Degraded(_REASONS[known], state.detail or _DETAILS[known])
