"""Which bank, where it lies, and what it works with."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import uuid_utils

from recall.memory.clock import Clock
from recall.memory.files import Files
from recall.memory.log import LOG_NAME
from recall.memory.record import BankName
from recall.memory.settings import StorageSettings

if TYPE_CHECKING:
    from recall.memory.bank import Bank


@dataclass(frozen=True, slots=True)
class Place:
    """Which bank, and where it lies."""

    tenant: str
    name: BankName
    folder: Path

    @property
    def log(self) -> Path:
        """The log file."""
        return self.folder / LOG_NAME


def _uuid7() -> str:
    return str(uuid_utils.uuid7())


@dataclass(frozen=True, slots=True)
class Outfit:
    """What a bank works with. `successor` opens the bank anew after it was closed for want of room."""

    files: Files
    clock: Clock
    settings: StorageSettings
    successor: Callable[[Place], "Bank"]
    new_id: Callable[[], str] = _uuid7
    rule_lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Held while a rule is written."""
    vacuum_lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Held while a log is written anew: one at a time over all banks."""
