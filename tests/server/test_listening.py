"""An address that cannot be had is told in one line."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from guarding import guard

from recall.access_settings import AccessSettings
from recall.server.edge import new_server
from recall.server.listening import CannotListen, listen
from recall.server.settings import ServerSettings
from recall.telemetry import Telemetry


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen(1)
        yield holder.getsockname()[1]


def test_port_zero_takes_a_free_port_and_says_which() -> None:
    server = new_server(ServerSettings(), Telemetry(), guard())
    address = listen(server, "127.0.0.1:0", AccessSettings(), False)
    assert address.host == "127.0.0.1"
    assert address.port > 0
    server.stop(None)


def test_a_port_in_use_is_named(taken: int) -> None:
    with pytest.raises(CannotListen, match=f"127.0.0.1:{taken}: the port is in use"):
        listen(new_server(ServerSettings(), Telemetry(), guard()), f"127.0.0.1:{taken}", AccessSettings(), False)


@pytest.mark.parametrize(
    ("address", "problem"),
    [("203.0.113.7:0", "this machine has no such address"), ("no-such-host.invalid:50051", "no such host")],
)
def test_an_address_that_is_not_ours_is_named(address: str, problem: str) -> None:
    with pytest.raises(CannotListen, match=problem):
        listen(
            new_server(ServerSettings(), Telemetry(), guard()), address, AccessSettings(allow_open_network=True), False
        )
