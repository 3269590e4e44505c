"""How a command fails: one line on stderr that says what to do, and an exit code that a script can tell apart."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import grpc


class ExitCode(IntEnum):
    """What the command line exits with; the README has the table."""

    DONE = 0
    FAILED = 1
    WRONG_INPUT = 2
    NOT_REACHED = 3
    NOT_FOUND = 4
    REFUSED = 5
    NO_ROOM = 6
    DAMAGED = 7
    INTERRUPTED = 130


class CommandError(Exception):
    """Ends a command with a message of one line and an exit code."""

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.code = code


_EXIT_CODES = {
    "INVALID_ARGUMENT": ExitCode.WRONG_INPUT,
    "OUT_OF_RANGE": ExitCode.WRONG_INPUT,
    "UNAVAILABLE": ExitCode.NOT_REACHED,
    "DEADLINE_EXCEEDED": ExitCode.NOT_REACHED,
    "NOT_FOUND": ExitCode.NOT_FOUND,
    "ALREADY_EXISTS": ExitCode.REFUSED,
    "FAILED_PRECONDITION": ExitCode.REFUSED,
    "ABORTED": ExitCode.REFUSED,
    "PERMISSION_DENIED": ExitCode.REFUSED,
    "UNAUTHENTICATED": ExitCode.REFUSED,
    "RESOURCE_EXHAUSTED": ExitCode.NO_ROOM,
    "DATA_LOSS": ExitCode.DAMAGED,
    "CANCELLED": ExitCode.INTERRUPTED,
}


def from_rpc(error: grpc.RpcError, server: str, timeout_s: float) -> CommandError:
    """What a failed call means to the person who typed the command."""
    status = error.code().name
    details = " ".join((error.details() or "").split())
    code = _EXIT_CODES.get(status, ExitCode.FAILED)
    if status == "UNAVAILABLE" and not error.trailing_metadata():
        return CommandError(
            f"no server answers on {server}: start one with `recall serve`, or name it with --server or RECALL_SERVER",
            code,
        )
    if status == "DEADLINE_EXCEEDED":
        return CommandError(
            f"the server on {server} did not answer within {timeout_s:g} s: try a longer --timeout", code
        )
    if status == "UNIMPLEMENTED":
        return CommandError(f"the server on {server} does not know this call: is it an older release?", code)
    return CommandError(details or status.lower().replace("_", " "), code)
