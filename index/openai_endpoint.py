"""Vectors from an OpenAI-compatible HTTP endpoint: POST BASE_URL/embeddings {"model", "input"}.

A reply is believed only when it is whole: one vector of the known length for each text, each index once, every
number finite, no vector zero. Anything less is an error, never a vector.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.errors import EmbedderUnavailable, EmbeddingError, ModelUnusable
from index.windows import encodable

if TYPE_CHECKING:
    from index.embedding_settings import EmbeddingSettings

BACKEND = "openai"
PREFIX = "openai:"
_BYTES_PER_NUMBER = 40  # generous for one JSON float; bounds what a hostile endpoint can make us hold
_LARGEST_DIMENSIONS = 65_536
_RETRYABLE = frozenset({408, 409, 425, 429})
_WINDOW_CHARACTERS = 8_000
_LEAST_NORM = 1e-12
_READ_BYTES = 65_536


class _Item(msgspec.Struct, frozen=True):
    embedding: list[float]
    index: int


class _Reply(msgspec.Struct, frozen=True):
    data: list[_Item]


class _Request(msgspec.Struct, frozen=True):
    model: str
    input: list[str]
    encoding_format: str = "float"


class OpenAIEndpoint:
    """An Embedder over HTTP; its dimensions are learnt from a first reply while loading."""

    def __init__(self, address: str, settings: EmbeddingSettings, clock: Callable[[], float] = monotonic) -> None:
        """`address` is BASE_URL#MODEL.

        Raises ModelUnusable for another form of address, EmbedderUnavailable when nobody answers.
        """
        base_url, _, self._model = address.partition("#")
        if urlsplit(base_url).scheme not in ("http", "https") or not urlsplit(base_url).hostname or not self._model:
            raise ModelUnusable(BACKEND, f"{PREFIX}{address} is not {PREFIX}BASE_URL#MODEL with an http(s) address")
        self._url = base_url.rstrip("/") + "/embeddings"
        self._settings = settings
        self._clock = clock
        self._opener = urllib.request.build_opener(_NoRedirects())
        self._dimensions = len(self._ask(["size"], _LARGEST_DIMENSIONS)[0])

    @property
    def model_id(self) -> str:
        return f"{PREFIX}{self._url.removesuffix('/embeddings')}#{self._model}/{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def window_tokens(self) -> int:
        return 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self._dimensions), dtype=np.float32)
        size = self._settings.request_batch
        for start in range(0, len(texts), size):
            rows = self._ask(texts[start : start + size], self._dimensions)
            if rows.shape[1] != self._dimensions:
                raise EmbeddingError(BACKEND, f"a reply has {rows.shape[1]} dimensions instead of {self._dimensions}")
            vectors[start : start + size] = rows
        return vectors

    def windows(self, text: str) -> list[str]:
        return [text]  # the endpoint's tokenizer is unknown, its window far longer than a memory

    def _ask(self, texts: Sequence[str], dimensions: int) -> NDArray[np.float32]:
        """Unit vectors (n, dimensions as replied)."""
        question = [encodable(text[: self._settings.max_encode_characters]) or " " for text in texts]
        body = msgspec.json.encode(_Request(self._model, question))
        reply = self._post(body, limit=(len(texts) * (dimensions * _BYTES_PER_NUMBER + 1024)) + 65_536)
        try:
            items = msgspec.json.decode(reply, type=_Reply).data
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise EmbeddingError(BACKEND, f"{self._url} sent no embeddings: {error}") from error
        return _unit_rows(items, len(texts))

    def _post(self, body: bytes, limit: int) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._settings.api_key:
            headers["Authorization"] = f"Bearer {self._settings.api_key}"
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        deadline = self._clock() + self._settings.request_timeout_s
        try:
            with self._opener.open(request, timeout=self._settings.request_timeout_s) as response:
                return self._read(response, limit, deadline)
        except urllib.error.HTTPError as error:
            error.close()
            raise self._refusal(error.code) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise EmbedderUnavailable(BACKEND, f"{self._url} does not answer: {error}") from error

    def _read(self, response: http.client.HTTPResponse, limit: int, deadline: float) -> bytes:
        """The body, within `limit` bytes and, however slowly it drips, within the deadline."""
        reply = bytearray()
        while piece := response.read1(_READ_BYTES):
            reply += piece
            if len(reply) > limit:
                raise EmbeddingError(BACKEND, f"{self._url} sent more than {limit} bytes")
            if self._clock() > deadline:
                raise EmbedderUnavailable(BACKEND, f"{self._url} was too slow")
        return bytes(reply)

    def _refusal(self, status: int) -> EmbeddingError:
        problem = f"{self._url} answered with status {status}"
        again = status >= 500 or status in _RETRYABLE
        return EmbedderUnavailable(BACKEND, problem) if again else EmbeddingError(BACKEND, problem)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key and the texts to an address nobody configured."""

    def redirect_request(self, *_: object) -> None:
        return None


def _unit_rows(items: list[_Item], count: int) -> NDArray[np.float32]:
    if sorted(item.index for item in items) != list(range(count)):
        raise EmbeddingError(BACKEND, f"a reply names other texts than the {count} that were sent")
    lengths = {len(item.embedding) for item in items}
    if len(lengths) != 1 or not 0 < min(lengths) <= _LARGEST_DIMENSIONS:
        raise EmbeddingError(BACKEND, f"a reply mixes vectors of {sorted(lengths)[:4]} dimensions")
    rows = np.array([item.embedding for item in sorted(items, key=lambda item: item.index)], dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise EmbeddingError(BACKEND, "a reply holds a vector that is not finite")
    if not (norms > _LEAST_NORM).all():
        raise EmbeddingError(BACKEND, "a reply holds a zero vector")
    unit: NDArray[np.float32] = (rows / norms).astype(np.float32)
    return unit
