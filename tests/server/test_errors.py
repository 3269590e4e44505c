"""Every error has its row in the one table, and its status carries the details that the row promises."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from google.rpc import error_details_pb2 as details
from google.rpc.code_pb2 import Code

from recall.memory import errors as memory
from recall.ranking import errors as ranking
from recall.server import errors, refusals
from recall.server.refusals import InvalidRequest, Violation

DAMAGED = memory.Damaged(Path("log.jsonl"), 3, 120, "the checksum is wrong", "run recall repair")

CASES: list[tuple[Exception, str, list[Any]]] = [
    (InvalidRequest((Violation("limit", "too large"),)), "INVALID_ARGUMENT", [details.BadRequest]),
    (memory.InvalidField("text", "is empty"), "INVALID_ARGUMENT", [details.BadRequest]),
    (memory.TextTooLong(9_000, 8_000), "INVALID_ARGUMENT", [details.BadRequest]),
    (ranking.QueryHasNoWords(3), "INVALID_ARGUMENT", [details.BadRequest]),
    (memory.BankNotFound("demo"), "NOT_FOUND", [details.ResourceInfo]),
    (memory.MemoryNotFound("demo", "m"), "NOT_FOUND", [details.ResourceInfo]),
    (memory.TrashNotFound("demo-1"), "NOT_FOUND", [details.ResourceInfo]),
    (memory.BankExists("demo"), "ALREADY_EXISTS", [details.ResourceInfo]),
    (memory.IllegalTransition("m", "retired", "pin", "admin"), "FAILED_PRECONDITION", [details.PreconditionFailure]),
    (memory.PinnedMemory("m", "supersede"), "FAILED_PRECONDITION", [details.PreconditionFailure]),
    (memory.NotLive("m", "retired", "update"), "FAILED_PRECONDITION", [details.PreconditionFailure]),
    (memory.SelfSupersede("m"), "FAILED_PRECONDITION", [details.PreconditionFailure]),
    (memory.ReadOnly("demo", "fsync failed"), "FAILED_PRECONDITION", [details.PreconditionFailure]),
    (memory.StaleRevision("m", 1, 2), "ABORTED", [details.ErrorInfo]),
    (memory.DiskFull(Path("f"), "write", "no space"), "RESOURCE_EXHAUSTED", [details.QuotaFailure, details.RetryInfo]),
    (refusals.TooManyWatchers(4), "RESOURCE_EXHAUSTED", [details.QuotaFailure, details.RetryInfo]),
    (memory.StorageFailure(Path("f"), "write", "I/O"), "UNAVAILABLE", [details.ErrorInfo, details.RetryInfo]),
    (refusals.BankOpening("demo"), "UNAVAILABLE", [details.RetryInfo]),
    (refusals.Stopping(), "UNAVAILABLE", [details.RetryInfo]),
    (memory.Closed("bank"), "UNAVAILABLE", [details.RetryInfo]),
    (memory.BankDamaged("demo", DAMAGED), "DATA_LOSS", [details.ErrorInfo]),
]


@pytest.mark.parametrize(("error", "code", "kinds"), CASES, ids=lambda case: type(case).__name__)
def test_an_error_becomes_its_status_with_its_details(error: Exception, code: str, kinds: list[Any]) -> None:
    status = errors.status_of(error)
    assert status is not None
    assert Code.Name(status.code) == code
    assert status.message == str(error)
    assert len(status.details) == len(kinds)
    for packed, kind in zip(status.details, kinds, strict=True):
        assert packed.Unpack(kind())


@pytest.mark.parametrize("module", [memory, ranking, refusals])
def test_every_error_that_can_reach_a_caller_has_a_row(module: Any) -> None:
    startup = memory.DataFolderUnusable
    kinds = [kind for _, kind in inspect.getmembers(module, inspect.isclass) if issubclass(kind, Exception)]
    leaves = [kind for kind in kinds if not any(other is not kind and issubclass(other, kind) for other in kinds)]
    without = [
        kind.__name__
        for kind in leaves
        if not issubclass(kind, startup) and not any(above in errors.TABLE for above in kind.__mro__)
    ]
    assert without == []


def test_a_violation_names_field_and_problem() -> None:
    refused = InvalidRequest((Violation("limit", "must be 0 to 100"), Violation("bank", "is required")))
    status = errors.status_or_bug(refused)
    bad = details.BadRequest()
    status.details[0].Unpack(bad)
    told = [(violation.field, violation.description) for violation in bad.field_violations]
    assert told == [("limit", "must be 0 to 100"), ("bank", "is required")]
    assert status.message == "limit: must be 0 to 100; bank: is required"


def test_a_damaged_log_tells_file_line_and_offset() -> None:
    status = errors.status_or_bug(DAMAGED)
    info = details.ErrorInfo()
    status.details[0].Unpack(info)
    assert info.reason == "DAMAGED"
    facts = {"file": "log.jsonl", "line": "3", "offset": "120", "remedy": "run recall repair"}
    assert dict(info.metadata) == facts


def test_what_has_no_row_is_a_bug_and_says_nothing_of_itself() -> None:
    assert errors.status_of(ValueError("a memory's text")) is None
    assert "text" not in errors.status_or_bug(ValueError("a memory's text")).message
