"""The way to the server that every client command takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recall.commands.failure import CommandError, ExitCode, from_rpc

if TYPE_CHECKING:
    from recall.client import RecallClient


@contextmanager
def connected(server: str, timeout_s: float) -> Iterator[RecallClient]:
    """A client of `server` (HOST:PORT) whose calls take `timeout_s` at most. Raises CommandError for a failed call."""
    from recall.address import parse_address

    try:
        address = str(parse_address(server))
    except ValueError as error:
        raise CommandError(f"--server: {error}", ExitCode.WRONG_INPUT) from error
    import grpc

    from recall.client import ClientOptions, RecallClient

    try:
        with RecallClient(address, ClientOptions(timeout_s=timeout_s)) as client:
            yield client
    except grpc.RpcError as error:
        raise from_rpc(error, address, timeout_s) from error
