"""The command line against the shared server."""

from __future__ import annotations

import pytest
from command_line import CommandLine
from service_process import ServiceProcess


@pytest.fixture
def recall(service: ServiceProcess, bank: str, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """Commands on a new empty bank."""
    return CommandLine(service.address, bank, monkeypatch)
