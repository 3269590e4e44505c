"""Corpus, percentiles, ratios and loops of the latency benchmark."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent import futures

import grpc
import numpy as np
import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from benchmarks.latency import load, report
from benchmarks.latency.corpus import ZipfSettings, corpus
from benchmarks.latency.percentiles import Percentiles, Recorder
from benchmarks.latency.restart import Restart
from benchmarks.quality.sets import registry
from benchmarks.service import Service

_SMALL = ZipfSettings(vocabulary=2_000)


def test_the_same_seed_makes_the_same_distinct_texts_and_queries() -> None:
    first, second = (corpus(300, 50, None, _SMALL) for _ in range(2))
    assert first == second
    assert (len(set(first.texts)), len(set(first.queries)), first.real) == (300, 50, 0)
    assert corpus(300, 50, None, ZipfSettings(vocabulary=2_000, seed=8)).texts != first.texts


def test_a_longer_corpus_begins_with_the_shorter_one() -> None:
    assert corpus(100, 1, None, _SMALL).texts == corpus(200, 1, None, _SMALL).texts[:100]


def test_word_frequencies_fall_off_as_zipf_says() -> None:
    words = Counter(word for text in corpus(3_000, 1, None, _SMALL).texts for word in text.lower().rstrip(".").split())
    counts = sorted(words.values(), reverse=True)
    expected = (10 + 2.7) ** 1.07 / (100 + 2.7) ** 1.07
    assert counts[99] / counts[9] == pytest.approx(expected, rel=0.25)


def test_a_query_is_made_of_words_of_one_text() -> None:
    made = corpus(40, 10, None, _SMALL)
    for query in made.queries:
        words = set(query.removeprefix("What about ").rsplit(" (", 1)[0].split())
        assert any(words <= set(text.rstrip(".").split()) for text in made.texts)


def test_real_text_comes_first_and_is_topped_up() -> None:
    tiny = registry.load("tiny", None)
    made = corpus(100, 30, tiny, _SMALL)
    assert made.texts[0] == tiny.haystacks[0].documents[0].text
    assert 20 < made.real < 100
    assert (len(made.texts), len(set(made.texts))) == (100, 100)
    assert made.queries[0] == tiny.haystacks[0].questions[0].text


def test_percentiles_are_of_the_measurements_themselves() -> None:
    found = Percentiles.of([float(value) for value in range(1, 1_002)])
    assert (found.n, found.p50, found.p90, found.p99, found.p999, found.max) == (1001, 501, 901, 991, 1000, 1001)


def test_a_recorder_keeps_what_the_clock_says_and_returns_the_answer() -> None:
    ticks = iter([0, 2_000_000, 5_000_000, 9_000_000])
    recorder = Recorder(lambda: next(ticks))
    assert recorder.measure("call", lambda: "answer") == "answer"
    recorder.measure("call", lambda: None)
    assert recorder.percentiles()["call"].p50 == 3.0
    assert recorder.percentiles()["call"].max == 4.0


def _constant(milliseconds: float) -> Percentiles:
    return Percentiles.of([milliseconds])


def test_ratios_are_over_the_sums_they_name() -> None:
    measured = {
        "empty": _constant(0.5),
        "lexical": _constant(1.0),
        "encode": _constant(3.5),
        "hybrid": _constant(8.0),
        "cached": _constant(2.0),
        "empty beside saves": _constant(0.6),
        "save": _constant(1.8),
        "fdatasync": _constant(0.3),
    }
    restart = Restart(1, 0.9, 1.0, 1.9, 0.4, 1.5)
    found = {name: (ratio.value, ratio.holds) for name, ratio in report.ratios(measured, restart).items()}
    assert found == {
        "lexical / empty": (2.0, True),
        "hybrid, uncached / (empty + encode)": (2.0, False),
        "hybrid, cached / empty": (4.0, False),
        "save / (empty + fdatasync)": (2.0, True),
        "restart to hybrid, model load aside": (1.5, True),
    }


def test_without_an_encoder_the_lexical_ratio_stands_alone() -> None:
    found = report.ratios({"empty": _constant(1.0), "lexical": _constant(2.0)}, None)
    assert list(found) == ["lexical / empty"]


class _Stalling(health.HealthServicer):  # type: ignore[misc]
    """Keeps the first caller waiting until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.release = threading.Event()
        self.calls = 0

    def Check(
        self, request: health_pb2.HealthCheckRequest, context: grpc.ServicerContext
    ) -> health_pb2.HealthCheckResponse:
        self.calls += 1
        if self.calls == 1:
            self.release.wait(10.0)
        return super().Check(request, context)


@pytest.fixture
def stalling() -> Iterator[tuple[str, _Stalling]]:
    servicer = _Stalling()
    server = grpc.server(futures.ThreadPoolExecutor(1))
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}", servicer
    server.stop(None).wait()


def _check(service: Service, _number: int) -> grpc.Future[health_pb2.HealthCheckResponse]:
    future: grpc.Future[health_pb2.HealthCheckResponse] = service.health.Check.future(
        health_pb2.HealthCheckRequest(), timeout=20.0
    )
    return future


def test_an_open_loop_charges_a_stall_to_every_call_that_was_due(stalling: tuple[str, _Stalling]) -> None:
    address, servicer = stalling
    threading.Timer(0.4, servicer.release.set).start()
    found = load.open_loop(address, "check", _check, per_s=100.0, seconds=0.3, seed=3)
    assert (found.failed, found.latency_ms.n) == (0, 30)
    assert found.latency_ms.p50 > 100.0


def test_a_closed_loop_counts_what_was_answered(stalling: tuple[str, _Stalling]) -> None:
    address, servicer = stalling
    servicer.release.set()
    found = load.closed_loop(address, "check", lambda service, number: _check(service, number).result(), 2, 0.3)
    assert found.failed == 0
    assert found.latency_ms.n == servicer.calls
    assert found.done_per_s > 10


def test_the_times_of_an_open_loop_are_the_same_every_run_and_at_the_rate_asked_for() -> None:
    first = load._poisson_times(200.0, 10.0, seed=5)
    assert first == load._poisson_times(200.0, 10.0, seed=5)
    assert len(first) == 2_000
    assert np.diff(first).mean() == pytest.approx(1 / 200, rel=0.1)
