"""Guards for servers in the tests' own process."""

from __future__ import annotations

from pathlib import Path

from recall.access_settings import AccessSettings
from recall.memory.clock import SystemClock
from recall.server.edge import DESCRIPTORS
from recall.server.guard import Guard
from recall.server.requirements import requirements
from recall.tokens import Tokens

NOWHERE = Path("/no/such/data/folder")


def guard(data: Path = NOWHERE, settings: AccessSettings | None = None) -> Guard:
    """A guard of a data folder; of none it lets everybody in."""
    return Guard(requirements(DESCRIPTORS), Tokens(data), SystemClock(), settings or AccessSettings())
