"""What the banks of a tenant are for, without opening each of them for every turn.

The settings of a bank change only while it is open. So those of an open bank are read from it, and those that it had
when it was closed hold until it opens again; a bank that was not open yet is opened once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from recall.memory.bank import Bank
from recall.memory.banks import Banks
from recall.memory.errors import MemoryServiceError
from recall.memory.record import BankInfo


@dataclass(frozen=True, slots=True)
class Manifest:
    """The settings of banks by name, and of those that could not be read why."""

    infos: dict[str, BankInfo]
    failed: dict[str, str]


class Catalogue:
    """Remembers the settings of banks. Safe in any thread."""

    def __init__(self) -> None:
        self._closed: dict[tuple[str, str], BankInfo] = {}

    def before(self, closed: Callable[[Bank], None]) -> Callable[[Bank], None]:
        """What is to be called with each bank that is about to close: it is remembered, then `closed` is called."""

        def closing(bank: Bank) -> None:
            with suppress(MemoryServiceError):
                self._closed[bank.tenant, bank.name] = bank.info
            closed(bank)

        return closing

    def manifest(self, banks: Banks, tenant: str, names: Iterable[str], read: Callable[[str], BankInfo]) -> Manifest:
        """The banks of these names, which are there. `read` opens one; what it raises is told in `failed`."""
        opened = {bank.name: bank for bank in banks.opened() if bank.tenant == tenant}
        made = Manifest({}, {})
        for name in names:
            bank, kept = opened.get(name), self._closed.get((tenant, name))  # type: ignore[call-overload]
            try:
                made.infos[name] = bank.info if bank is not None else kept if kept is not None else read(name)
            except Exception as error:  # noqa: BLE001 - one bank never fails a turn; it is named with the reason
                made.failed[name] = str(error)
        return made
