import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import numpy as np
import pytest

from index.embedding_settings import EmbeddingSettings
from index.errors import EmbedderUnavailable, EmbeddingError, ModelUnusable
from index.openai_endpoint import OpenAIEndpoint

DIMENSIONS = 3
SETTINGS = EmbeddingSettings(api_key="secret-key", request_timeout_s=0.3, request_batch=2)


@dataclass
class Request:
    path: str
    key: str | None
    body: dict[str, Any]


@dataclass
class Script:
    """What the server does with each request: status and body by the request, and what it saw."""

    answer: Callable[[Request], tuple[int, bytes]]
    seen: list[Request] = field(default_factory=list)
    drip: threading.Event | None = None


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.5]


def honest(request: Request) -> tuple[int, bytes]:
    items = [{"index": at, "embedding": vector_of(text)} for at, text in enumerate(request.body["input"])]
    return 200, json.dumps({"object": "list", "data": items[::-1], "model": "m", "usage": {}}).encode()


class Handler(BaseHTTPRequestHandler):
    script: ClassVar[Script]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = Request(self.path, self.headers["Authorization"], body)
        self.script.seen.append(request)
        status, reply = self.script.answer(request)
        try:
            self.send(status, reply)
        except OSError:  # the client gave up
            self.close_connection = True

    def send(self, status: int, reply: bytes) -> None:
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", "/elsewhere")
        if self.script.drip is None:
            self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        if self.script.drip is None:
            self.wfile.write(reply)
            return
        while not self.script.drip.wait(0.05):
            self.wfile.write(b" ")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def script() -> Script:
    return Script(honest)


@pytest.fixture
def address(script: Script, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Scripted", (Handler,), {"script": script}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    if script.drip is not None:
        script.drip.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def endpoint(address: str) -> OpenAIEndpoint:
    return OpenAIEndpoint(f"{address}#small", SETTINGS)


def test_vectors_come_normalised_in_the_order_asked_and_in_batches(endpoint: OpenAIEndpoint, script: Script) -> None:
    texts = ["a", "bb", "ccc", "dddd", "eeeee"]
    vectors = endpoint.encode(texts)
    expected = np.array([vector_of(text) for text in texts])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    assert vectors.dtype == np.float32
    assert [request.body["input"] for request in script.seen[1:]] == [texts[:2], texts[2:4], texts[4:]]
    assert {(r.path, r.key, r.body["model"]) for r in script.seen} == {("/v1/embeddings", "Bearer secret-key", "small")}


def test_it_knows_its_dimensions_and_names_its_model(endpoint: OpenAIEndpoint, address: str) -> None:
    assert endpoint.dimensions == DIMENSIONS
    assert endpoint.model_id == f"openai:{address}#small/{DIMENSIONS}"
    assert endpoint.windows("x" * 100_000) == ["x" * 100_000]
    assert endpoint.encode([]).shape == (0, DIMENSIONS)


@pytest.mark.parametrize("text", ["", "\0", "a\ud800b", "🎉", "x" * 200_000])
def test_any_text_can_be_sent(endpoint: OpenAIEndpoint, text: str) -> None:
    assert endpoint.encode([text]).shape == (1, DIMENSIONS)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_status_that_may_pass_means_unavailable(endpoint: OpenAIEndpoint, script: Script, status: int) -> None:
    script.answer = lambda _: (status, b"{}")
    with pytest.raises(EmbedderUnavailable, match=str(status)):
        endpoint.encode(["a"])


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 403, 404, 413])
def test_a_status_that_stays_is_an_error_and_no_redirect_is_followed(
    endpoint: OpenAIEndpoint, script: Script, status: int
) -> None:
    script.answer = lambda _: (status, b"{}")
    before = len(script.seen)
    with pytest.raises(EmbeddingError, match=str(status)) as caught:
        endpoint.encode(["a"])
    assert not isinstance(caught.value, EmbedderUnavailable)
    assert len(script.seen) == before + 1


def reply(*items: object) -> bytes:
    return json.dumps({"data": list(items)}).encode()


def item(embedding: object, index: object = 0) -> dict[str, object]:
    return {"embedding": embedding, "index": index}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"<html>sorry</html>", id="no JSON"),
        pytest.param(b"[]", id="another shape"),
        pytest.param(b'{"error": "quota"}', id="an error with status 200"),
        pytest.param(b"\xff\xfe\x00", id="no text"),
        pytest.param(b'{"data": ' + b"[" * 20_000, id="deeply nested"),
        pytest.param(reply(), id="no vector"),
        pytest.param(reply(item([1, 2, 3]), item([1, 2, 3], 1)), id="one vector too many"),
        pytest.param(reply(item([1, 2, 3], 1)), id="another index"),
        pytest.param(reply(item([1, 2, 3], -1)), id="negative index"),
        pytest.param(reply(item([1, 2, 3], "0")), id="index of another type"),
        pytest.param(reply(item([1, 2])), id="too few dimensions"),
        pytest.param(reply(item([1, 2, 3, 4])), id="too many dimensions"),
        pytest.param(reply(item([])), id="no dimensions"),
        pytest.param(reply(item([0, 0, 0])), id="zero"),
        pytest.param(reply(item([1e-300, 0, 0])), id="as good as zero"),
        pytest.param(reply(item([1, float("nan"), 0])), id="NaN"),
        pytest.param(reply(item([1, float("inf"), 0])), id="infinite"),
        pytest.param(b'{"data": [{"index": 0, "embedding": [1e999, 0, 0]}]}', id="overflowing number"),
        pytest.param(reply(item([1e308, 1e308, 1e308])), id="overflowing norm"),
        pytest.param(reply(item([1, None, 3])), id="null"),
        pytest.param(reply(item([1, "2", 3])), id="text for a number"),
        pytest.param(reply(item("AAAA")), id="base64"),
        pytest.param(b" " * 1_000_000, id="endless"),
    ],
)
def test_a_reply_that_is_not_whole_is_never_a_vector(endpoint: OpenAIEndpoint, script: Script, body: bytes) -> None:
    script.answer = lambda _: (200, body)
    with pytest.raises(EmbeddingError) as caught:
        endpoint.encode(["a"])
    assert not isinstance(caught.value, EmbedderUnavailable)
    script.answer = honest
    assert endpoint.encode(["a"]).shape == (1, DIMENSIONS)


def test_a_silent_server_costs_one_timeout(endpoint: OpenAIEndpoint, script: Script) -> None:
    silence = threading.Event()
    script.answer = lambda _: (200, b"{}") if silence.wait(5.0) else (200, b"")
    with pytest.raises(EmbedderUnavailable):
        endpoint.encode(["a"])
    silence.set()


def test_a_reply_that_drips_for_ever_is_given_up(endpoint: OpenAIEndpoint, script: Script) -> None:
    script.drip = threading.Event()
    with pytest.raises(EmbedderUnavailable, match="slow"):
        endpoint.encode(["a"])


def test_nobody_listening_means_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(EmbedderUnavailable):
        OpenAIEndpoint("http://127.0.0.1:9/v1#m", SETTINGS)


@pytest.mark.parametrize("address", ["", "x", "http://h/v1", "file:///etc/passwd#m", "ftp://h#m", "http://#m", "#m"])
def test_an_address_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(ModelUnusable, match="BASE_URL#MODEL"):
        OpenAIEndpoint(address, SETTINGS)


def test_the_key_is_in_no_error_and_no_settings_text(endpoint: OpenAIEndpoint, script: Script) -> None:
    script.answer = lambda _: (401, b"secret-key is wrong")
    with pytest.raises(EmbeddingError) as caught:
        endpoint.encode(["a"])
    assert "secret-key" not in f"{caught.value} {SETTINGS}"
