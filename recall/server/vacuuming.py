"""Vacuums by themselves: the log of a bank in use is written anew once enough of it is superseded. Off by default."""

from __future__ import annotations

import logging

from recall.memory.bank import Bank
from recall.memory.beginning import History
from recall.memory.lifecycle import Role
from recall.memory.record import Actor
from recall.memory.vacuum import bulk, vacuum

VACUUM = Actor("vacuum", Role.JOB)
logger = logging.getLogger(__name__)


class Vacuuming:
    """Looks at banks now and then. One thread calls it."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], int] = {}

    def look(self, bank: Bank) -> bool:
        """Vacuum a bank that is due, its history kept; whether it was. Raises as `vacuum` does."""
        settings, key, last_seq = bank.outfit.settings, (bank.tenant, bank.name), bank.last_seq
        if not settings.vacuum_share or bank.log_bytes < settings.vacuum_least_bytes or self._seen.get(key) == last_seq:
            return False
        self._seen[key] = last_seq
        if bulk(bank).share < settings.vacuum_share:
            return False
        done = vacuum(bank, History.KEEP, VACUUM)
        self._seen[key] = bank.last_seq
        logger.info("vacuumed bank=%s bytes_before=%d bytes_after=%d", bank.name, done.bytes_before, done.bytes_after)
        return True
