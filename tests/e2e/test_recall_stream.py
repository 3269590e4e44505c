"""A stream of queries: answered in order, each for itself, without taking the threads of the calls."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import service_process
from google.protobuf.duration_pb2 import Duration

from recall.client import RecallClient
from recall.v1.memory_service_pb2 import NewMemory
from recall.v1.recall_service_pb2 import RecallRequest, RecallStreamRequest, RecallStreamResponse


def asking(*queries: RecallRequest) -> Iterator[RecallStreamRequest]:
    return (RecallStreamRequest(request=query) for query in queries)


def texts(answer: RecallStreamResponse) -> list[str]:
    return [one.memory.text for one in answer.response.results]


def test_each_query_is_answered_as_a_call_would_be_and_a_bad_one_ends_nothing(client: RecallClient, bank: str) -> None:
    for text in ("tea is green", "coffee is black"):
        client.save(bank=bank, memory=NewMemory(text=text))
    answers = client.recall_stream(
        asking(
            RecallRequest(bank=bank, query="tea"),
            RecallRequest(bank=bank, query="tea", limit=101),
            RecallRequest(bank="no-such-bank", query="tea"),
            RecallRequest(),
            RecallRequest(bank=bank, query="coffee", time_budget=Duration(seconds=2)),
        )
    )
    first, bad, missing, empty, last = answers
    assert texts(first) == [one.memory.text for one in client.recall(bank=bank, query="tea").results]
    assert texts(last)[0] == "coffee is black"
    assert (bad.error.place, bad.error.code) == (1, grpc.StatusCode.INVALID_ARGUMENT.value[0])
    assert bad.error.message.startswith("request.limit: ")
    assert (missing.error.place, missing.error.code) == (2, grpc.StatusCode.NOT_FOUND.value[0])
    assert "request.bank" in empty.error.message


def test_an_answer_comes_before_the_next_query_and_knows_what_was_saved_meanwhile(
    client: RecallClient, bank: str
) -> None:
    asked: queue.SimpleQueue[RecallStreamRequest | None] = queue.SimpleQueue()
    answers = client.recall_stream(iter(asked.get, None))
    for text in ("first snow", "second snow"):
        client.save(bank=bank, memory=NewMemory(text=text))
        asked.put(RecallStreamRequest(request=RecallRequest(bank=bank, query=text)))
        assert texts(next(answers))[0] == text
    asked.put(None)
    assert list(answers) == []


def test_streams_have_places_of_their_own_and_one_too_many_is_refused_at_once(tmp_path: Path) -> None:
    settings = ("server.max_recall_streams=1", "server.workers=1")
    with (
        service_process.serving(tmp_path / "data", service_process.HASHING, *settings) as running,
        running.client() as client,
    ):
        client.save(bank="b", memory=NewMemory(text="one"))
        asked: queue.SimpleQueue[RecallStreamRequest | None] = queue.SimpleQueue()
        staying = client.recall_stream(iter(asked.get, None))
        asked.put(RecallStreamRequest(request=RecallRequest(bank="b", query="one")))
        assert texts(next(staying)) == ["one"]
        assert client.recall(bank="b", query="one").results
        with pytest.raises(grpc.RpcError) as refused:
            next(client.recall_stream(asking(RecallRequest(bank="b", query="one"))))
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "server.max_recall_streams" in (refused.value.details() or "")
        asked.put(None)
        assert list(staying) == []
        assert texts(next(client.recall_stream(asking(RecallRequest(bank="b", query="one"))))) == ["one"]
