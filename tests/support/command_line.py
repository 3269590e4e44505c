"""Runs the command line in this process, as `recall …` would, and gives back what it printed."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from recall.commands.run import run

COLUMNS = 80


@dataclass(frozen=True, slots=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its output as one JSON document."""
        return json.loads(self.out)


class CommandLine:
    """Commands against one server and one bank, in a terminal of 80 columns."""

    def __init__(self, address: str, bank: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bank = bank
        self._monkeypatch = monkeypatch
        for name, value in {"RECALL_SERVER": address, "RECALL_BANK": bank, "COLUMNS": str(COLUMNS)}.items():
            monkeypatch.setenv(name, value)

    def __call__(self, *arguments: str, stdin: str = "") -> Done:
        out, err = io.StringIO(), io.StringIO()
        with self._monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            patched.setattr(sys, "stdout", out)
            patched.setattr(sys, "stderr", err)
            code = run(arguments)
        return Done(code, out.getvalue(), err.getvalue())

    def ok(self, *arguments: str, stdin: str = "") -> Done:
        """As a call, but the command must succeed."""
        done = self(*arguments, stdin=stdin)
        assert done.code == 0, done.err
        return done

    def save(self, *arguments: str) -> str:
        """Saves a text; its id."""
        saved: str = self.ok("save", *arguments, "--json").document["memory"]["id"]
        return saved
