"""A server's address: HOST:PORT, or unix:PATH for a socket that this user alone may open."""

from __future__ import annotations

from typing import NamedTuple

UNIX = "unix:"
LONGEST_PATH = 107
"""Bytes of the path of a socket that the system takes."""


class Address(NamedTuple):
    """A host (name, IPv4, or IPv6 without brackets) and a port; or `unix:PATH` and port 0."""

    host: str
    port: int

    @property
    def path(self) -> str:
        """Of the socket; empty for a host."""
        return self.host.removeprefix(UNIX) if self.host.startswith(UNIX) else ""

    def __str__(self) -> str:
        if self.path:
            return self.host
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str) -> Address:
    """`127.0.0.1:50051`, `localhost:50051`, `[::1]:50051` or `unix:/run/recall.sock`.

    Raises ValueError that says what is wrong.
    """
    if text.strip().startswith(UNIX):
        return _unix(text.strip())
    host, colon, port = text.strip().rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if bracketed:
        host = host[1:-1]
    if not colon or not host or (":" in host and not bracketed) or any(c.isspace() or c == "/" for c in host):
        raise ValueError(f"{text!r} is not HOST:PORT or unix:PATH, for example 127.0.0.1:50051")
    if not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ValueError(f"{text!r} has no port from 0 to 65535")
    return Address(host, int(port))


def _unix(text: str) -> Address:
    path = text.removeprefix(UNIX)
    if not path or "\0" in path:
        raise ValueError(f"{text!r} is not unix:PATH, for example unix:/run/user/1000/recall.sock")
    if len(path.encode()) > LONGEST_PATH:
        raise ValueError(f"{text!r} has a path of more than {LONGEST_PATH} bytes, which no socket can have")
    return Address(f"{UNIX}{path}", 0)
