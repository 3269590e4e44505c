"""Taking the address on which the server answers, with one clear line where it cannot be had."""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
from ipaddress import ip_address
from pathlib import Path

import grpc

from recall.access_settings import AccessSettings
from recall.address import Address, parse_address

NO_TOKENS = (
    "recall: no tokens: every caller on this machine is the admin of the tenant `default`; "
    "`recall token create` ends that\n"
)
_OWNER_ONLY, _OTHERS = 0o600, 0o177
"""Permissions of a socket, and what is taken away while it is made."""


class CannotListen(Exception):  # noqa: N818 - named for what is wrong
    """The address cannot be taken."""

    def __init__(self, address: Address, problem: str) -> None:
        super().__init__(f"cannot listen on {address}: {problem}")
        self.address = address


def listen(server: grpc.Server, text: str, access: AccessSettings, tokens: bool) -> Address:
    """Binds the server to HOST:PORT (port 0 takes a free one) or unix:PATH, and gives the address taken.

    Raises CannotListen.

    `tokens` says whether calls need one: other machines are served only with tokens and TLS, or when
    `access.allow_open_network` says so.
    """
    address = parse_address(text)
    check_protected(address, access, tokens)
    credentials = server_credentials(address, access)
    if address.path:
        return listen_on_socket(server, address, tokens)
    probe(address)
    if not tokens:
        sys.stderr.write(NO_TOKENS)
    try:
        if credentials is not None:
            return Address(address.host, server.add_secure_port(str(address), credentials))
        return Address(address.host, server.add_insecure_port(str(address)))
    except RuntimeError as error:
        raise CannotListen(address, "the port was taken meanwhile") from error


def listen_on_socket(server: grpc.Server, address: Address, tokens: bool) -> Address:
    """Binds to a socket in the file system that its owner alone may open. Raises CannotListen.

    A socket that nobody answers on is left over and replaced; anything else at the path stays.
    """
    path = Path(address.path)
    _make_way(path, address)
    if not tokens:
        sys.stderr.write(NO_TOKENS)
    before = os.umask(_OTHERS)
    try:
        server.add_insecure_port(str(address))
    except RuntimeError as error:
        raise CannotListen(address, "the socket cannot be made: does its folder exist, and is it yours?") from error
    finally:
        os.umask(before)
    path.chmod(_OWNER_ONLY)
    return address


def _make_way(path: Path, address: Address) -> None:
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise CannotListen(address, os.strerror(error.errno or 0)) from error
    if not stat.S_ISSOCK(kind):
        raise CannotListen(address, "there is a file of that name that is no socket")
    with socket.socket(socket.AF_UNIX) as trial:
        try:
            trial.connect(str(path))
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise CannotListen(address, "the socket is in use; stop what uses it or choose another with --listen")


def check_protected(address: Address, access: AccessSettings, tokens: bool) -> None:
    """Raises CannotListen for an address that other machines reach while calls need no token or travel in clear."""
    missing = [what for what, there in (("tokens", tokens), ("TLS", bool(access.tls_certificate))) if not there]
    if missing and not address.path and not is_loopback(address.host) and not access.allow_open_network:
        raise CannotListen(
            address,
            f"other machines would reach it without {' and '.join(missing)}: make tokens with `recall token create`, "
            "set access.tls_certificate and access.tls_private, or say access.allow_open_network=true",
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host; names other than localhost are taken to be reached by others."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def server_credentials(address: Address, access: AccessSettings) -> grpc.ServerCredentials | None:
    """The certificate to answer with, and the authority of clients' certificates. Raises CannotListen."""
    if not access.tls_certificate:
        return None
    try:
        pair = (Path(access.tls_private).read_bytes(), Path(access.tls_certificate).read_bytes())
        authority = Path(access.tls_client_ca).read_bytes() if access.tls_client_ca else None
    except OSError as error:
        raise CannotListen(address, f"cannot read {error.filename}: {error.strerror}") from error
    return grpc.ssl_server_credentials([pair], authority, require_client_auth=authority is not None)


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
