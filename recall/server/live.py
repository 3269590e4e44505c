"""Banks as the services use them: the truth and its index together, opened when first asked for.

Opening reads a whole log, so it runs on threads of its own: a call waits for it no longer than it has time, and is
then told that the bank is being opened while the opening goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.ranking.bank_index import BankIndex
from recall.server.refusals import BankOpening, Stopping

LONGEST_WAIT_S = 60.0
"""Longest wait of a call without a deadline for a bank that is being opened, in seconds."""

Key = tuple[str, str]
"""(tenant, bank name)."""


@dataclass(frozen=True, slots=True)
class LiveBank:
    """An open bank and what was built from it."""

    bank: Bank
    index: BankIndex

    @property
    def name(self) -> str:
        """The bank's name."""
        return self.bank.name


class Indexes:
    """The index of every open bank; `Banks` calls `opened` and `closed`."""

    def __init__(
        self,
        make: Callable[[Bank], BankIndex],
        dispose: Callable[[BankIndex], None],
        last: Callable[[BankIndex], None] = lambda _: None,
    ) -> None:
        """`last` gets an index while its bank still answers, before that is closed for want of room."""
        self._make = make
        self._last = last
        self._dispose = dispose
        self._by_key: dict[Key, BankIndex] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._by_key

    def opened(self, bank: Bank) -> None:
        """Builds what is derived from a bank that was just opened."""
        self._by_key[bank.tenant, bank.name] = self._make(bank)

    def closed(self, bank: Bank) -> None:
        """Lets go of what was derived from a bank that is about to close."""
        index = self._by_key.pop((bank.tenant, bank.name), None)
        if index is not None:
            self._dispose(index)

    def surplus(self, bank: Bank) -> None:
        """Does what is to be done with the index of a bank before it is closed for want of room."""
        index = self._by_key.get((bank.tenant, bank.name))
        if index is not None:
            self._last(index)

    def of(self, bank: Bank) -> BankIndex:
        """The index of an open bank. Raises BankOpening when the bank was closed or deleted a moment ago."""
        index = self._by_key.get((bank.tenant, bank.name))
        if index is None or index.bank is not bank:
            raise BankOpening(bank.name)
        return index


class LiveBanks:
    """Leases live banks to calls."""

    def __init__(self, banks: Banks, indexes: Indexes, create_on_save: bool, openers: int = 2) -> None:
        self.banks = banks
        self._indexes = indexes
        self._create_on_save = create_on_save
        self._openers = ThreadPoolExecutor(openers, "recall-open")
        self._lock = threading.Lock()
        self._opening: dict[Key, Future[object]] = {}

    @contextmanager
    def lease(self, name: str, wait_s: float, tenant: str = DEFAULT_TENANT) -> Iterator[LiveBank]:
        """The bank, which stays open inside the `with`. Raises BankOpening when it is not open in `wait_s` seconds."""
        if (tenant, name) not in self._indexes:
            self._open((tenant, name), self.banks.open, wait_s)
        with self.banks.lease(tenant, name) as bank:
            yield LiveBank(bank, self._indexes.of(bank))

    @contextmanager
    def lease_to_save(self, name: str, wait_s: float, tenant: str = DEFAULT_TENANT) -> Iterator[LiveBank]:
        """As `lease`; a bank that does not exist is made when the settings allow it."""
        if self._create_on_save and (tenant, name) not in self._indexes:
            self._open((tenant, name), self.banks.open_or_create, wait_s)
        with self.lease(name, wait_s, tenant) as live:
            yield live

    def is_open(self, name: str, tenant: str = DEFAULT_TENANT) -> bool:
        """Whether a call on the bank would not wait for its log to be read."""
        return (tenant, name) in self._indexes

    def opened(self) -> list[LiveBank]:
        """The banks that are open now, by name."""
        found: list[LiveBank] = []
        for bank in sorted(self.banks.opened(), key=lambda bank: bank.name):
            with suppress(BankOpening):  # it was closed meanwhile
                found.append(LiveBank(bank, self._indexes.of(bank)))
        return found

    def close(self) -> None:
        """Waits for openings that run; none begins after this."""
        self._openers.shutdown(wait=True, cancel_futures=True)

    def _open(self, key: Key, opening: Callable[[str, str], object], wait_s: float) -> None:
        with self._lock:
            future = self._opening.get(key)
            if future is None:
                future = self._opening[key] = self._submit(opening, key)
                future.add_done_callback(lambda _: self._opening.pop(key, None))
        try:
            future.result(min(wait_s, LONGEST_WAIT_S))
        except NotYet:
            if not future.done():
                raise BankOpening(key[1]) from None
            raise

    def _submit(self, opening: Callable[[str, str], object], key: Key) -> Future[object]:
        try:
            return self._openers.submit(opening, *key)
        except RuntimeError:  # the pool was shut down
            raise Stopping from None
