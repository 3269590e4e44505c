"""What is built from a bank and can be thrown away: how it hears of changes."""

import logging
from collections.abc import Sequence
from typing import Protocol

from recall.memory.record import Change

_logger = logging.getLogger(__name__)


class Derived(Protocol):
    """Something built from a bank's memories that can be thrown away."""

    def apply(self, changes: Sequence[Change], last_seq: int) -> None:
        """Take in changes, in seq order: after the fdatasync, before the acknowledgement, under the write lock.

        `changes` is empty when only the bank's own settings changed.
        """

    def rebuild(self, last_seq: int) -> None:
        """The log was changed by hand and read again: seqs and ordinals may be others. Start over."""


class Subscribers:
    """The derived structures of one bank. Used under the bank's write lock only."""

    def __init__(self, bank: str) -> None:
        self._bank = bank
        self._told: list[Derived] = []
        self._stale: list[Derived] = []

    @property
    def stale(self) -> Sequence[Derived]:
        """What failed to take a change in and is told no more until the bank is reloaded."""
        return tuple(self._stale)

    def add(self, derived: Derived) -> None:
        """Tell it from now on."""
        self._told.append(derived)

    def remove(self, derived: Derived) -> None:
        """Tell it no more."""
        for kept in (self._told, self._stale):
            if derived in kept:
                kept.remove(derived)

    def clear(self) -> None:
        """Tell nobody any more."""
        self._told.clear()
        self._stale.clear()

    def tell(self, changes: Sequence[Change], last_seq: int) -> None:
        """Hand changes on. One that fails becomes stale; the write itself is safe and goes on."""
        for derived in tuple(self._told):
            try:
                derived.apply(changes, last_seq)
            except Exception:
                _logger.exception("derived data failed to take a change in bank=%s seq=%d", self._bank, last_seq)
                self._set_aside(derived)

    def rebuild(self, last_seq: int) -> None:
        """The log was read again: all start over, stale ones too."""
        self._told += self._stale
        self._stale.clear()
        for derived in tuple(self._told):
            self._rebuilt(derived, last_seq)

    def rebuild_stale(self, last_seq: int) -> None:
        """Those that failed start over."""
        stale, self._stale = self._stale, []
        for derived in stale:
            self._told.append(derived)
            self._rebuilt(derived, last_seq)

    def _rebuilt(self, derived: Derived, last_seq: int) -> None:
        try:
            derived.rebuild(last_seq)
        except Exception:
            _logger.exception("derived data failed to rebuild bank=%s seq=%d", self._bank, last_seq)
            self._set_aside(derived)

    def _set_aside(self, derived: Derived) -> None:
        self._told.remove(derived)
        self._stale.append(derived)
