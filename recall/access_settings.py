"""What shapes who may call, and how they reach the server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """How calls are secured. Tokens themselves are made with `recall token create`."""

    tls_certificate: str = ""
    """PEM file of the server's certificate chain; empty serves without TLS."""
    tls_private: str = ""
    """PEM file of the certificate's private key."""
    tls_client_ca: str = ""
    """PEM file of the authority that signs clients' certificates; set, a client without one is refused (mTLS)."""
    allow_open_network: bool = False
    """Serve other machines without tokens or TLS, so that whoever reaches the port may do what the port allows."""
    max_failures: int = 10
    """Refused tokens of one host, by token id, within `failure_window_s`; past it the next are refused unread."""
    failure_window_s: float = 60.0
    """Seconds that a refused token counts."""

    def __post_init__(self) -> None:
        if bool(self.tls_certificate) != bool(self.tls_private):
            raise ValueError("tls_certificate and tls_private go together")
        if self.tls_client_ca and not self.tls_certificate:
            raise ValueError("tls_client_ca needs tls_certificate and tls_private")
        if self.max_failures < 1 or self.failure_window_s <= 0:
            raise ValueError("max_failures must be at least 1 and failure_window_s above 0")
