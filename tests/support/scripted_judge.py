"""A chat endpoint on a real port that answers as a test scripts it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], "tuple[int, bytes] | str | dict[str, Any]"]
"""The question (the parsed user message) → (status, raw body), or the content of a well-formed reply."""


class ScriptedJudge:
    """Each question gets the answer of `script`; what was asked is kept in `asked`."""

    def __init__(self, script: Answer) -> None:
        self.script = script
        self.asked: list[dict[str, Any]] = []
        self.headers: list[str] = []
        self.url = ""

    def reply(self, body: bytes, authorization: str) -> tuple[int, bytes]:
        """Status and body."""
        request = json.loads(body)
        self.asked.append(request)
        self.headers.append(authorization)
        answer = self.script(json.loads(request["messages"][1]["content"]))
        if isinstance(answer, tuple):
            return answer
        content = answer if isinstance(answer, str) else json.dumps(answer)
        return 200, json.dumps({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}).encode()


@contextmanager
def judging(script: Answer) -> Iterator[ScriptedJudge]:
    """A judge that answers inside the `with`."""
    judge = ScriptedJudge(script)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, reply = judge.reply(body, self.headers.get("Authorization", ""))
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", judge.url)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    judge.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield judge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
