"""How clients reach a server: the token they send, and TLS. Read from the environment alone; imports grpc at need.

| variable | holds |
|---|---|
| `RECALL_TOKEN` | the token that every call brings; never logged, never shown |
| `RECALL_CA` | PEM file of the authority of the server's certificate; set, calls go over TLS |
| `RECALL_CERTIFICATE`, `RECALL_PRIVATE` | PEM files of the client's own certificate and key, where it is asked for |
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

TOKEN, CA, CERTIFICATE, PRIVATE = "RECALL_TOKEN", "RECALL_CA", "RECALL_CERTIFICATE", "RECALL_PRIVATE"
SOCKET = "unix:"
VARIABLES = (TOKEN, CA, CERTIFICATE, PRIVATE)

Metadata = tuple[tuple[str, str], ...]


def bearer(token: str = "") -> Metadata:
    """What a call carries to say who calls: the token given, else that of the environment; nothing without one."""
    token = (token or os.environ.get(TOKEN, "")).strip()
    return (("authorization", f"Bearer {token}"),) if token else ()


def open_channel(grpc: Any, server: str, options: list[tuple[str, Any]]) -> Any:
    """A channel made by `grpc` (the module, or grpc.aio). Raises OSError for a file that cannot be read."""
    credentials = None if server.startswith(SOCKET) else channel_credentials()  # a socket leaves no machine
    if credentials is None:
        return grpc.insecure_channel(server, options=options)
    return grpc.secure_channel(server, credentials, options=options)


def channel_credentials() -> Any | None:
    """TLS as the environment says; None for a connection in clear."""
    authority = os.environ.get(CA)
    if not authority:
        return None
    import grpc  # noqa: PLC0415

    return grpc.ssl_channel_credentials(_content(authority), _content(_set(PRIVATE)), _content(_set(CERTIFICATE)))


def _set(variable: str) -> str:
    return os.environ.get(variable, "")


def _content(path: str) -> bytes | None:
    return Path(path).read_bytes() if path else None
