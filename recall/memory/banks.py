"""All banks of one data folder: found by tenant and name, opened when asked for, closed when room is short.

At most `max_open_banks` are open; the least recently used goes first, but never one that is leased. A bank that was
closed while somebody still holds it hands its callers on to its successor, so nobody needs to care.

Whoever opens a bank does not wait for another one to be closed in its stead, where `later` puts that off: the banks
that are open meanwhile are an eighth more at most.

A bank that cannot be opened is reported by `trouble` and does not touch the others.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uuid_utils
from msgspec.structs import replace

from recall.memory.bank import Bank
from recall.memory.clock import Clock
from recall.memory.data_folder import DataFolder
from recall.memory.doors import Doors
from recall.memory.errors import (
    BankDamaged,
    BankExists,
    BankNotFound,
    Closed,
    Damaged,
    InvalidField,
    MemoryServiceError,
    TrashNotFound,
)
from recall.memory.events import Body, Entry, Sum, encode
from recall.memory.files import Files
from recall.memory.imaging import image_of
from recall.memory.log import LOG_NAME
from recall.memory.log_image import BankImage
from recall.memory.moving import settle
from recall.memory.names import bank_name, checked_info
from recall.memory.place import Outfit, Place
from recall.memory.record import LOCAL, Actor, BankInfo, BankName
from recall.memory.refusal import refusals
from recall.memory.settings import StorageSettings
from recall.memory.verifying import Verifying

DEFAULT_TENANT = "default"
NO_INFO = BankInfo()
_OVER_SHARE = 1 / 8
"""Banks that may be open beyond `max_open_banks` until others are closed, as a part of it."""


@dataclass(frozen=True, slots=True)
class Trashed:
    """A deleted bank; `deleted_at` in microseconds UTC."""

    name: BankName
    trash_id: str
    deleted_at: int


def _ignore(_bank: Bank) -> None:
    return None


def _at_once(work: Callable[[], None]) -> None:
    work()


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
        on_surplus: Callable[[Bank], None] = _ignore,
        later: Callable[[Callable[[], None]], None] = _at_once,
    ) -> None:
        """Take the data folder. Raises ForeignDataFolder, DataFolderInUse, UnwritableDataFolder.

        `on_open` is called with each bank before anybody else gets it, `on_close` before it is closed, and before
        that `on_surplus` with one that is to be closed for want of room, while it still answers: what its next opening
        wants is written then. None of them may ask for other banks. `later` carries work out, if need be after a while.
        """
        self._folder = DataFolder(data, files)
        self._files = files
        self._clock = clock
        self._settings = settings
        self._on_open = on_open
        self._on_close = on_close
        self._on_surplus = on_surplus
        self._later = later
        self._outfit = Outfit(files, clock, settings, self._successor)
        self._doors = Doors()
        self.verifying = Verifying()
        self._mutex = threading.Lock()
        self._open: OrderedDict[tuple[str, str], Bank] = OrderedDict()  # least recently used first
        self._leases: dict[tuple[str, str], int] = {}
        self._trouble: dict[tuple[str, str], str] = {}
        self._closed = False

    def open(self, tenant: str, name: str) -> Bank:
        """The bank, opened if need be. Raises InvalidField, BankNotFound, BankDamaged, StorageFailure."""
        bank = self._opened_already(tenant, name)
        if bank is None:
            place = self._place(tenant, name)
            with self._doors.through((tenant, name)):
                bank = self._opened_already(tenant, name)
                fresh = bank is None
                bank = bank or self._opened_now(place)
            if fresh and bank.arrivals():  # behind no door: it asks for other banks
                settle(bank, partial(self.open, tenant))
            self._see_to_room()
        return bank

    def open_or_create(self, tenant: str, name: str, actor: Actor = LOCAL) -> Bank:
        """As open, but a bank that does not exist is made."""
        try:
            return self.open(tenant, name)
        except BankNotFound:
            pass
        try:
            return self.create(tenant, name, actor=actor)
        except BankExists:
            return self.open(tenant, name)

    def create(self, tenant: str, name: str, info: BankInfo = NO_INFO, actor: Actor = LOCAL) -> Bank:
        """Make an empty bank. Raises InvalidField, BankExists, StorageFailure."""
        self._check_running()
        place = self._place(tenant, name)
        checked = replace(checked_info(info), created_at=self._clock.now())
        entry = Entry(Body(op="bank", info=checked), checked.created_at, actor)
        line, _ = encode(entry, 1, Sum(""), 1)
        with self._doors.through((tenant, name)):
            if self._files.exists(place.folder):
                raise BankExists(name)
            with refusals(place.folder, "create"):
                self._folder.make_bank(place.folder, str(uuid_utils.uuid7()), LOG_NAME, line)
            bank = self._opened_now(place)
        self._see_to_room()
        return bank

    @contextmanager
    def lease(self, tenant: str, name: str) -> Iterator[Bank]:
        """As open; the bank is not closed for want of room inside the `with`."""
        key = (tenant, name)
        with self._mutex:
            self._leases[key] = self._leases.get(key, 0) + 1
        try:
            yield self.open(tenant, name)
        finally:
            with self._mutex:
                self._leases[key] -= 1
                if not self._leases[key]:
                    del self._leases[key]

    def delete(self, tenant: str, name: str) -> Trashed:
        """Move a bank to the trash; one that cannot be opened too. Raises BankNotFound, StorageFailure."""
        self._check_running()
        place = self._place(tenant, name)
        with self._doors.through((tenant, name)):
            if not self._files.exists(place.folder):
                raise BankNotFound(name)
            self._shut((tenant, name))
            with refusals(place.folder, "trash"):
                trashed = self._free_trash(tenant, place.name)
                self._folder.move(place.folder, self._folder.trash(tenant) / trashed.trash_id)
            self._trouble.pop((tenant, name), None)
        return trashed

    def restore(self, tenant: str, trash_id: str, name: str = "") -> Bank:
        """Bring a bank back, under its own or another name. Raises TrashNotFound, BankExists, StorageFailure."""
        self._check_running()
        trashed = next((found for found in self.trashed(tenant) if found.trash_id == trash_id), None)
        if trashed is None:
            raise TrashNotFound(trash_id)
        place = self._place(tenant, name or trashed.name)
        with self._doors.through((tenant, place.name)):
            if self._files.exists(place.folder):
                raise BankExists(place.name)
            with refusals(place.folder, "restore"):
                if not self._files.exists(self._folder.trash(tenant) / trash_id):
                    raise TrashNotFound(trash_id)  # somebody restored it meanwhile
                self._folder.move(self._folder.trash(tenant) / trash_id, place.folder)
            bank = self._opened_now(place)
        self._see_to_room()
        return bank

    def reload(self, tenant: str, name: str) -> Sequence[str]:
        """Read a bank's log again, open or not; one line for each hand edit taken in. Raises as open does."""
        place = self._place(tenant, name)
        with self._doors.through((tenant, name)):
            bank = self._opened_already(tenant, name)
            if bank is not None:
                return self._reloaded(bank)
            try:
                self._check_there(place)
                bank, changes = Bank.open_edited(place, self._outfit)
            except Damaged as error:
                raise self._in_trouble(place, error) from error
            self._admit(bank)
        self._see_to_room()
        return changes

    def image(self, tenant: str, name: str) -> BankImage:
        """The bank as it stands now, for a backup; it is not opened for that. Raises as open does."""
        place = self._place(tenant, name)
        with self._doors.through((tenant, name)):
            bank = self._opened_already(tenant, name)
            self._check_there(place)
            try:
                return image_of(place, self._files, self._settings, bank)
            except Damaged as error:
                raise self._in_trouble(place, error) from error

    def tenants(self) -> Sequence[str]:
        """Tenants that have or had a bank."""
        with refusals(self._folder.root, "list"):
            return self._folder.tenants()

    def trashed(self, tenant: str = DEFAULT_TENANT) -> Sequence[Trashed]:
        """What is in the trash, newest first."""
        folder = self._folder.trash(_tenant(tenant))
        with refusals(folder, "list"):
            found = [_trashed(entry) for entry in self._files.list_dir(folder)]
        return sorted((t for t in found if t is not None), key=lambda t: (-t.deleted_at, t.name))

    def opened(self) -> Sequence[Bank]:
        """The banks that are open now."""
        with self._mutex:
            return tuple(self._open.values())

    def folder(self, tenant: str, name: str) -> Path:
        """Where the bank lies. Raises InvalidField."""
        return self._place(tenant, name).folder

    def exists(self, tenant: str, name: str) -> bool:
        """Whether there is such a bank, open or not; False for what is no name."""
        try:
            return self._files.exists(self._place(tenant, name).folder)
        except InvalidField:
            return False

    def trouble(self, tenant: str = DEFAULT_TENANT) -> dict[BankName, str]:
        """Banks that could not be opened when last tried, each with the reason and what to do."""
        with self._mutex:
            return {BankName(name): reason for (owner, name), reason in self._trouble.items() if owner == tenant}

    def close(self) -> None:
        """Close every bank and give up the lock; later calls raise Closed."""
        self._closed = True
        self.verifying.close()
        for key in list(self._open):
            with self._doors.through(key):
                self._shut(key)
        self._folder.release()

    def _reloaded(self, bank: Bank) -> Sequence[str]:
        """Of an open bank, which goes on as it was where its log cannot be taken in."""
        try:
            changes = bank.reload()
        except Damaged as error:
            raise BankDamaged(bank.name, error) from error
        with self._mutex:
            self._trouble.pop((bank.tenant, bank.name), None)
        return changes

    def _successor(self, place: Place) -> Bank:
        return self.open(place.tenant, place.name)

    def _check_running(self) -> None:
        if self._closed:
            raise Closed("the service")

    def _place(self, tenant: str, name: str) -> Place:
        checked = bank_name(name)
        return Place(_tenant(tenant), checked, self._folder.bank(tenant, checked))

    def _opened_already(self, tenant: str, name: str) -> Bank | None:
        self._check_running()
        with self._mutex:
            bank = self._open.get((tenant, name))
            if bank is not None:
                self._open.move_to_end((tenant, name))
            return bank

    def _opened_now(self, place: Place) -> Bank:
        self._check_there(place)
        try:
            bank = Bank.open(place, self._outfit)
        except Damaged as error:
            raise self._in_trouble(place, error) from error
        except MemoryServiceError as error:
            self._note_trouble(place, str(error))
            raise
        return self._admit(bank)

    def _check_there(self, place: Place) -> None:
        if not self._files.exists(place.folder):
            raise BankNotFound(place.name)
        if not self._files.exists(place.log):
            missing = Damaged(place.log, 1, 0, "the file is missing", "bring it back from a backup, or delete the bank")
            raise self._in_trouble(place, missing)

    def _admit(self, bank: Bank) -> Bank:
        self._on_open(bank)
        key = (bank.tenant, bank.name)
        with self._mutex:
            self._trouble.pop(key, None)
            self._open[key] = bank
        self.verifying.add(bank)
        return bank

    def _in_trouble(self, place: Place, error: Damaged) -> BankDamaged:
        self._note_trouble(place, str(error))
        return BankDamaged(place.name, error)

    def _note_trouble(self, place: Place, reason: str) -> None:
        with self._mutex:
            self._trouble[place.tenant, place.name] = reason

    def _shut(self, key: tuple[str, str]) -> None:
        """Close a bank if it is open; the caller is behind its door."""
        with self._mutex:
            bank = self._open.pop(key, None)
        self._let_go(bank)

    def _let_go(self, bank: Bank | None) -> None:
        if bank is not None:
            self._on_close(bank)
            bank.close()

    def _see_to_room(self) -> None:
        most = self._settings.max_open_banks
        over = len(self._open) - most
        if over > most * _OVER_SHARE:
            self._make_room()
        elif over > 0:
            self._later(self._make_room)

    def _make_room(self) -> None:
        while (key := self._surplus()) is not None:
            with self._mutex:
                surplus = self._open.get(key)
            if surplus is not None:
                self._on_surplus(surplus)
            with self._doors.through(key):
                with self._mutex:  # a lease is counted before it asks for the bank, so it gets this one or the next
                    bank = None if key in self._leases else self._open.pop(key, None)
                self._let_go(bank)

    def _surplus(self) -> tuple[str, str] | None:
        with self._mutex:
            if len(self._open) <= self._settings.max_open_banks:
                return None
            *candidates, _newest = self._open
            return next((key for key in candidates if key not in self._leases), None)

    def _free_trash(self, tenant: str, name: BankName) -> Trashed:
        taken = set(self._files.list_dir(self._folder.trash(tenant)))
        deleted_ms = self._clock.now() // 1_000
        while f"{name}-{deleted_ms}" in taken:
            deleted_ms += 1
        return Trashed(name, f"{name}-{deleted_ms}", deleted_ms * 1_000)

    def list(self, tenant: str = DEFAULT_TENANT) -> Sequence[BankName]:
        """Names of the banks, sorted; also of those that cannot be opened."""
        with refusals(self._folder.root / _tenant(tenant), "list"):
            return self._folder.bank_names(tenant)


def _tenant(tenant: str) -> str:
    return bank_name(tenant, "tenant")


def _trashed(entry: str) -> Trashed | None:
    name, _, deleted_ms = entry.rpartition("-")
    if not name or not deleted_ms.isdigit():
        return None
    return Trashed(BankName(name), entry, int(deleted_ms) * 1_000)
