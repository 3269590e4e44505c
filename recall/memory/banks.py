"""All banks of one data folder (signatures; the body follows)."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from recall.memory.bank import Bank
from recall.memory.clock import Clock
from recall.memory.files import Files
from recall.memory.record import LOCAL, Actor, BankInfo, BankName
from recall.memory.settings import StorageSettings

DEFAULT_TENANT = "default"
NO_INFO = BankInfo()


@dataclass(frozen=True, slots=True)
class Trashed:
    """A deleted bank; `deleted_at` in microseconds UTC."""

    name: BankName
    trash_id: str
    deleted_at: int


def _ignore(_bank: Bank) -> None:
    return None


class Banks:
    """The banks of one data folder, locked for this process. Every method may be called from any thread."""

    def __init__(
        self,
        data: Path,
        settings: StorageSettings,
        files: Files,
        clock: Clock,
        on_open: Callable[[Bank], None] = _ignore,
        on_close: Callable[[Bank], None] = _ignore,
    ) -> None:
        raise NotImplementedError

    def open(self, tenant: str, name: str) -> Bank:
        """The bank, opened if need be. Raises BankNotFound, BankDamaged, InvalidField."""
        raise NotImplementedError

    def open_or_create(self, tenant: str, name: str, actor: Actor = LOCAL) -> Bank:
        """As open, but a bank that does not exist is made."""
        raise NotImplementedError

    def create(self, tenant: str, name: str, info: BankInfo = NO_INFO, actor: Actor = LOCAL) -> Bank:
        """Make an empty bank. Raises BankExists."""
        raise NotImplementedError

    def lease(self, tenant: str, name: str) -> AbstractContextManager[Bank]:
        """As open; the bank is not closed for want of room inside the `with`."""
        raise NotImplementedError

    def delete(self, tenant: str, name: str) -> Trashed:
        """Move a bank to the trash."""
        raise NotImplementedError

    def restore(self, tenant: str, trash_id: str, name: str = "") -> Bank:
        """Bring a bank back, under its own or another name. Raises TrashNotFound, BankExists."""
        raise NotImplementedError

    def trashed(self, tenant: str = DEFAULT_TENANT) -> list[Trashed]:
        """What is in the trash, newest first."""
        raise NotImplementedError

    def opened(self) -> Iterator[Bank]:
        """The banks that are open now."""
        raise NotImplementedError

    def reload(self, tenant: str, name: str) -> list[str]:
        """Read a bank's log again; one line for each hand edit taken in."""
        raise NotImplementedError

    def folder(self, tenant: str, name: str) -> Path:
        """Where the bank lies."""
        raise NotImplementedError

    def trouble(self) -> dict[BankName, str]:
        """Banks that could not be opened when last tried, each with the reason."""
        raise NotImplementedError

    def close(self) -> None:
        """Close every bank and give up the lock."""
        raise NotImplementedError

    def list(self, tenant: str = DEFAULT_TENANT) -> list[BankName]:
        """Names of the banks, sorted; also of those that cannot be opened."""
        raise NotImplementedError
