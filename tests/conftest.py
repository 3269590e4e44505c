"""Fixtures that every test may use: real servers, shared by a test session, and a client and a bank for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
import service_process
from service_process import ServiceProcess

from recall.client import RecallClient

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A server with the hashing embedder. Nobody stops or kills it; use `service_process.serving` for that."""
    with service_process.serving(tmp_path_factory.mktemp("service") / "data") as running:
        yield running
        assert running.stop() == 0, running.logged()


@pytest.fixture(scope="session")
def model_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A server with the bundled model; tests that use it are marked `model`."""
    with service_process.serving(tmp_path_factory.mktemp("model-service") / "data", "default") as running:
        yield running
        assert running.stop() == 0, running.logged()


@pytest.fixture(scope="session")
def client(service: ServiceProcess) -> Iterator[RecallClient]:
    """A client of the shared server."""
    with service.client() as connected:
        yield connected


@pytest.fixture
def bank(client: RecallClient) -> str:
    """A new empty bank of the shared server."""
    name = f"bank-{next(_numbers)}"
    client.create_bank(name=name)
    return name
