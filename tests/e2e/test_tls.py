"""Calls over TLS with certificates of our own: who brings the right one gets in, and only with a token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import certificates
import grpc
import pytest
import service_process
from certificates import Signed
from service_process import ServiceProcess

from recall.client import ClientOptions, RecallClient
from recall.connection import CA, CERTIFICATE, PRIVATE
from recall.memory.files import DiskFiles
from recall.memory.lifecycle import Role
from recall.tokens import TokenFile

UNREACHABLE = grpc.StatusCode.UNAVAILABLE


@dataclass
class Secured:
    """A server that asks for certificates and tokens."""

    service: ServiceProcess
    token: str
    ca: Signed
    client: Signed
    stranger: Signed
    """Signed by an authority that the server does not know."""


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("tls")
    ca, elsewhere = certificates.authority(folder, "ca"), certificates.authority(folder, "elsewhere")
    server = certificates.signed_by(ca, folder, "server")
    token, _ = TokenFile(folder / "data", DiskFiles()).create(Role.ADMIN, "default", (), "dana", 1)
    settings = (
        f"access.tls_certificate={server.certificate}",
        f"access.tls_private={server.private}",
        f"access.tls_client_ca={ca.certificate}",
    )
    with service_process.serving(folder / "data", "none", *settings) as service:
        yield Secured(
            service,
            token,
            ca,
            certificates.signed_by(ca, folder, "client"),
            certificates.signed_by(elsewhere, folder, "stranger"),
        )
        assert token not in service.logged()


def code_of(secured: Secured, token: str) -> grpc.StatusCode:
    """The status of a call with a certificate as the environment says."""
    options = ClientOptions(timeout_s=5, attempts=1, token=token)
    try:
        with RecallClient(secured.service.address, options) as client:
            client.status()
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def told(monkeypatch: pytest.MonkeyPatch, ca: Path | None, own: Signed | None) -> None:
    """The environment of a client."""
    for variable, file in ((CA, ca), (CERTIFICATE, own and own.certificate), (PRIVATE, own and own.private)):
        if file is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, str(file))


def test_a_client_with_the_right_certificate_and_token_gets_in(
    secured: Secured, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(monkeypatch, secured.ca.certificate, secured.client)
    assert code_of(secured, secured.token) is grpc.StatusCode.OK


def test_the_certificate_alone_is_not_enough(secured: Secured, monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, secured.ca.certificate, secured.client)
    assert code_of(secured, "") is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize("case", ["no certificate", "another authority's", "in clear", "a server that is not trusted"])
def test_whoever_cannot_prove_who_they_are_never_gets_to_say_a_token(
    secured: Secured, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    ca: Path | None = secured.ca.certificate
    own: Signed | None = secured.client
    if case == "no certificate":
        own = None
    elif case == "another authority's":
        own = secured.stranger
    elif case == "in clear":
        ca = None
    else:
        ca = secured.stranger.certificate
    told(monkeypatch, ca, own)
    assert code_of(secured, secured.token) in (UNREACHABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
