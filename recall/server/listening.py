"""Taking the address on which the server answers, with one clear line where it cannot be had."""

from __future__ import annotations

import errno
import os
import socket

import grpc

from recall.address import Address, parse_address


class CannotListen(Exception):  # noqa: N818 - named for what is wrong
    """The address cannot be taken."""

    def __init__(self, address: Address, problem: str) -> None:
        super().__init__(f"cannot listen on {address}: {problem}")
        self.address = address


def listen(server: grpc.Server, text: str) -> Address:
    """Binds the server to HOST:PORT and gives the address taken (port 0 takes a free one). Raises CannotListen."""
    address = parse_address(text)
    probe(address)
    try:
        return Address(address.host, server.add_insecure_port(str(address)))
    except RuntimeError as error:
        raise CannotListen(address, "the port was taken meanwhile") from error


def probe(address: Address) -> None:
    """Binds and lets go: the system says why an address cannot be taken, gRPC only that it cannot."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(where)
            trial.listen(1)
    except socket.gaierror as error:
        raise CannotListen(address, f"no such host ({error.strerror})") from error
    except OSError as error:
        raise CannotListen(address, _told(error)) from error


def _told(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is in use; stop what uses it or choose another with --listen"
    if error.errno == errno.EACCES:
        return "this user may not use the port; choose one above 1023"
    if error.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address"
    return os.strerror(error.errno) if error.errno else str(error)
