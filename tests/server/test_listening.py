"""An address that cannot be had is told in one line."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from guarding import guard

from recall.access_settings import AccessSettings
from recall.address import parse_address
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


def test_a_socket_is_its_owners_alone_and_answers(tmp_path: Path) -> None:
    server, path = new_server(ServerSettings(), Telemetry(), guard()), tmp_path / "recall.sock"
    path_left_over(path)
    address = listen(server, f"unix:{path}", AccessSettings(), False)
    server.start()
    try:
        assert str(address) == f"unix:{path}"
        assert path.stat().st_mode & 0o777 == 0o600
        with grpc.insecure_channel(str(address)) as channel:
            grpc.channel_ready_future(channel).result(10.0)
        with pytest.raises(CannotListen, match="the socket is in use"):
            listen(new_server(ServerSettings(), Telemetry(), guard()), f"unix:{path}", AccessSettings(), False)
    finally:
        server.stop(None).wait()


def path_left_over(path: Path) -> None:
    """A socket of a server that was killed."""
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))


def test_a_file_is_never_replaced_by_a_socket(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(CannotListen, match="no socket"):
        listen(new_server(ServerSettings(), Telemetry(), guard()), f"unix:{tmp_path}/notes", AccessSettings(), False)
    assert (tmp_path / "notes").read_text() == "mine"


@pytest.mark.parametrize("text", ["unix:", "unix:" + "x" * 108])
def test_a_path_that_no_socket_can_have_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="unix:"):
        parse_address(text)
