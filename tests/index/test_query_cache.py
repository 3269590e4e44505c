import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

import numpy as np
import pytest
from numpy.typing import NDArray

from index.embedder import Embedder, EmbedderState
from index.errors import EmbedderUnavailable, EmbeddingError
from index.hashing import HashingEmbedder
from index.query_cache import QueryCache, QueryCacheSettings

WAIT_S = 10.0


class Gated(HashingEmbedder):
    """Encodes when told to, and remembers what it was asked."""

    def __init__(self, dimensions: int = 16) -> None:
        super().__init__(dimensions)
        self.gate = threading.Event()
        self.gate.set()
        self.asked: list[str] = []
        self.failure: Exception | None = None

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.extend(texts)
        assert self.gate.wait(WAIT_S)
        if self.failure is not None:
            raise self.failure
        return super().encode(texts)


class Slot:
    """An embedder source whose state the test sets."""

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self.down = ""

    def current(self) -> Embedder | None:
        return self.embedder

    def state(self) -> EmbedderState:
        if self.embedder is None:
            return EmbedderState("loading")
        return EmbedderState("down", "test", detail=self.down) if self.down else EmbedderState("ready", "test")

    def report_failure(self, error: Exception) -> None:
        self.down = str(error)

    def report_success(self) -> None:
        self.down = ""


@pytest.fixture
def embedder() -> Gated:
    return Gated()


@pytest.fixture
def slot(embedder: Gated) -> Slot:
    return Slot(embedder)


@pytest.fixture
def cache(slot: Slot) -> Iterator[QueryCache]:
    cache = QueryCache(slot, QueryCacheSettings(entries=3, threads=1, most_pending=2))
    yield cache
    cache.close()


def test_an_answered_query_is_remembered(cache: QueryCache, embedder: Gated) -> None:
    first = cache.submit("a").result(WAIT_S)
    assert cache.submit("a").result(0) is first
    assert cache.get("a") is first
    assert embedder.asked == ["a"]
    np.testing.assert_array_equal(first, HashingEmbedder(16).encode(["a"])[0])
    assert not first.flags.writeable


def test_equal_queries_in_flight_are_encoded_once(cache: QueryCache, embedder: Gated) -> None:
    embedder.gate.clear()
    futures = [cache.submit("a") for _ in range(20)]
    embedder.gate.set()
    results = [future.result(WAIT_S) for future in futures]
    assert embedder.asked == ["a"]
    assert all(result is results[0] for result in results)


def test_a_late_vector_serves_the_next_asker(cache: QueryCache, embedder: Gated) -> None:
    embedder.gate.clear()
    late = cache.submit("a")
    assert late.cancel()
    patient = cache.submit("a")
    embedder.gate.set()
    patient.result(WAIT_S)
    assert cache.get("a") is not None
    assert embedder.asked == ["a"]


def test_one_asker_that_gives_up_harms_no_other(cache: QueryCache, embedder: Gated) -> None:
    embedder.gate.clear()
    impatient, patient = cache.submit("a"), cache.submit("a")
    impatient.cancel()
    embedder.gate.set()
    assert patient.result(WAIT_S).shape == (16,)


def test_the_least_recently_used_vector_goes_first(cache: QueryCache) -> None:
    for text in ("a", "b", "c", "a", "d"):
        cache.submit(text).result(WAIT_S)
    assert [cache.get(text) is not None for text in "abcd"] == [True, False, True, True]
    assert len(cache) == 3


def test_a_query_too_many_is_refused_at_once(cache: QueryCache, embedder: Gated) -> None:
    embedder.gate.clear()
    waiting = [cache.submit("a"), cache.submit("b")]
    refused = cache.submit("c").exception(0)
    assert isinstance(refused, EmbedderUnavailable)
    embedder.gate.set()
    assert [future.result(WAIT_S).shape for future in waiting] == [(16,), (16,)]


def test_without_an_embedder_the_answer_is_no_at_once(cache: QueryCache, slot: Slot) -> None:
    slot.embedder = None
    assert isinstance(cache.submit("a").exception(0), EmbedderUnavailable)
    assert cache.get("a") is None


@pytest.mark.parametrize(
    ("failure", "down"), [(EmbedderUnavailable("test", "gone"), True), (EmbeddingError("test", "bad text"), False)]
)
def test_a_failure_reaches_every_asker_and_is_not_remembered(
    cache: QueryCache, slot: Slot, embedder: Gated, failure: EmbeddingError, down: bool
) -> None:
    embedder.gate.clear()
    embedder.failure = failure
    futures = [cache.submit("a"), cache.submit("a")]
    embedder.gate.set()
    assert [future.exception(WAIT_S) for future in futures] == [failure, failure]
    assert bool(slot.down) is down
    embedder.failure = None
    slot.report_success()
    assert cache.submit("a").result(WAIT_S).shape == (16,)


def test_while_the_embedder_is_down_only_remembered_queries_are_answered(
    cache: QueryCache, slot: Slot, embedder: Gated
) -> None:
    cache.submit("known").result(WAIT_S)
    slot.report_failure(EmbedderUnavailable("test", "gone"))
    assert cache.submit("known").result(0).shape == (16,)
    assert isinstance(cache.submit("new").exception(0), EmbedderUnavailable)
    assert embedder.asked == ["known"]


def test_vectors_of_another_model_are_not_answered(cache: QueryCache, slot: Slot) -> None:
    cache.submit("a").result(WAIT_S)
    slot.embedder = Gated(8)
    assert cache.get("a") is None
    assert cache.submit("a").result(WAIT_S).shape == (8,)


def test_closing_lets_nobody_wait_for_ever(slot: Slot, embedder: Gated) -> None:
    cache = QueryCache(slot, QueryCacheSettings(threads=1))
    embedder.gate.clear()
    futures: list[Future[NDArray[np.float32]]] = [cache.submit(text) for text in "abc"]
    cache.close()
    errors = [future.exception(WAIT_S) for future in futures]
    embedder.gate.set()
    assert all(isinstance(error, EmbedderUnavailable) for error in errors)
    assert isinstance(cache.submit("d").exception(WAIT_S), EmbedderUnavailable)
