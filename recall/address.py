"""A server's address: HOST:PORT."""

from __future__ import annotations

from typing import NamedTuple


class Address(NamedTuple):
    """A host (name, IPv4, or IPv6 without brackets) and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str) -> Address:
    """`127.0.0.1:50051`, `localhost:50051` or `[::1]:50051`. Raises ValueError that says what is wrong."""
    host, colon, port = text.strip().rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if bracketed:
        host = host[1:-1]
    if not colon or not host or (":" in host and not bracketed) or any(c.isspace() or c == "/" for c in host):
        raise ValueError(f"{text!r} is not HOST:PORT, for example 127.0.0.1:50051")
    if not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ValueError(f"{text!r} has no port from 0 to 65535")
    return Address(host, int(port))
