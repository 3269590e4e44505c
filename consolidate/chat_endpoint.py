"""One question to an OpenAI-compatible chat endpoint: POST BASE_URL/chat/completions, temperature 0, a JSON schema.

Redirects are refused (they would carry the key and the texts to an address nobody configured), replies are bounded in
bytes and in time however slowly they drip, and what is not a whole reply is an error.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from time import monotonic, sleep
from typing import Any

import msgspec

from consolidate.errors import BudgetSpent, JudgeError, JudgeUnavailable
from consolidate.settings import JudgeSettings

_RETRYABLE = frozenset({408, 409, 425, 429})
_READ_BYTES = 65_536


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Message
    finish_reason: str | None = None


class _Reply(msgspec.Struct, frozen=True):
    choices: list[_Choice]


class ChatEndpoint:
    """Asks, within the budget of one run. Make one for each run."""

    def __init__(
        self,
        settings: JudgeSettings,
        clock: Callable[[], float] = monotonic,
        wait: Callable[[float], object] = sleep,
    ) -> None:
        """`clock` gives monotonic seconds, `wait` sleeps some."""
        base_url, _, self._model = settings.endpoint.partition("#")
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._settings = settings
        self._clock = clock
        self._wait = wait
        self._opener = urllib.request.build_opener(_NoRedirects())
        self.calls = 0
        """Questions asked so far, further tries included."""

    def ask(self, instructions: str, question: bytes, name: str, schema: Mapping[str, Any]) -> bytes:
        """The content of the reply, which should be JSON of this schema.

        Raises BudgetSpent, JudgeUnavailable when nobody answers after all tries, JudgeError for a reply that is none.
        """
        body = msgspec.json.encode(self._request(instructions, question, name, schema))
        pause = self._settings.retry_wait_seconds
        for _ in range(self._settings.retries):
            try:
                return self._once(body)
            except JudgeUnavailable:
                self._wait(pause)
                pause *= 2
        return self._once(body)

    def _request(self, instructions: str, question: bytes, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        form = {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}
        return {
            "model": self._model,
            "temperature": 0,
            "max_tokens": self._settings.max_reply_tokens,
            "response_format": form,
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": question.decode()},
            ],
        }

    def _once(self, body: bytes) -> bytes:
        if self.calls >= self._settings.max_calls:
            raise BudgetSpent(f"the run's {self._settings.max_calls} questions are asked (judge.max_calls)")
        self.calls += 1
        raw = self._post(body)
        try:
            choice = msgspec.json.decode(raw, type=_Reply).choices[0]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, IndexError) as error:
            raise JudgeError("the judge's reply is not a chat completion") from error
        if choice.finish_reason == "length":
            raise JudgeError("the judge's reply was cut off (judge.max_reply_tokens)")
        return (choice.message.content or "").encode("utf-8", "replace")

    def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._settings.api_key:
            headers["Authorization"] = f"Bearer {self._settings.api_key}"
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        deadline = self._clock() + self._settings.timeout_seconds
        try:
            with self._opener.open(request, timeout=self._settings.timeout_seconds) as response:
                return self._read(response, deadline)
        except urllib.error.HTTPError as error:
            error.close()
            raise _refusal(error.code) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise JudgeUnavailable(f"the judge does not answer: {error}") from error

    def _read(self, response: http.client.HTTPResponse, deadline: float) -> bytes:
        reply = bytearray()
        while piece := response.read1(_READ_BYTES):
            reply += piece
            if len(reply) > self._settings.max_reply_bytes:
                raise JudgeError("the judge's reply is too long (judge.max_reply_bytes)")
            if self._clock() > deadline:
                raise JudgeUnavailable("the judge was too slow")
        return bytes(reply)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _refusal(status: int) -> JudgeError:
    problem = f"the judge answered with status {status}"
    return JudgeUnavailable(problem) if status >= 500 or status in _RETRYABLE else JudgeError(problem)
