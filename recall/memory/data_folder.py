"""The folder all banks lie in: taken by one server, recognised as ours, proved writable, laid out here.

```
<data>/LOCK                              flock of the one server; freed by a kill
<data>/FORMAT                            {"app":"recall","format":1}: this folder is ours
<data>/.write-probe                      written and removed at every start
<data>/.new/<id>/                        a bank being made; leftovers of a crash are removed at start
<data>/<tenant>/<bank>/log.jsonl
<data>/<tenant>/<bank>/rules/<n>.md
<data>/.trash/<tenant>/<bank>-<ms>/      a deleted bank
<data>/.access/                          who may call; may be there before the first start
```
A bank is made beside its place and renamed into it, so it is there whole or not at all.
"""

from contextlib import suppress
from pathlib import Path

import msgspec

from recall.memory.errors import DataFolderInUse, ForeignDataFolder, InvalidField, UnwritableDataFolder
from recall.memory.files import Files, Lock
from recall.memory.names import bank_name
from recall.memory.record import BankName

FORMAT = 1
RULES = "rules"
RULE_SUFFIX = ".md"
_MARKER = "FORMAT"
_LOCK = "LOCK"
_PROBE = ".write-probe"
_NEW = ".new"
_TRASH = ".trash"
ACCESS = ".access"
_OURS_BEFORE_THE_MARKER = frozenset({_LOCK, _PROBE, _MARKER + ".new", ACCESS})


class _Marker(msgspec.Struct, frozen=True):
    app: str
    format: int


MARKER_CONTENT = msgspec.json.encode(_Marker("recall", FORMAT)) + b"\n"
"""What says that a folder is ours."""


class Layout:
    """Where things lie in a data folder. Only looks; nothing is locked or made."""

    def __init__(self, root: Path, files: Files) -> None:
        self.root = root
        self._files = files

    def bank(self, tenant: str, name: BankName) -> Path:
        """Where a bank lies."""
        return self.root / tenant / name

    def trash(self, tenant: str) -> Path:
        """Where a tenant's deleted banks lie."""
        return self.root / _TRASH / tenant

    def tenants(self) -> list[str]:
        """Tenants that have or had a bank."""
        return [name for name in self._files.list_folders(self.root) if _is_name(name)]

    def bank_names(self, tenant: str) -> list[BankName]:
        """A tenant's banks, sorted; also those that cannot be opened."""
        return [BankName(name) for name in self._files.list_folders(self.root / tenant) if _is_name(name)]

    def trash_root(self) -> Path:
        """Where deleted banks lie, by tenant."""
        return self.root / _TRASH


class DataFolder(Layout):
    """A data folder that this process holds."""

    def __init__(self, root: Path, files: Files) -> None:
        """Take the folder; made when missing.

        Raises ForeignDataFolder, DataFolderInUse, UnwritableDataFolder.
        """
        super().__init__(root, files)
        try:
            self._make(root)
            self._check_ours()
            self._lock = self._taken_lock()
        except OSError as error:
            raise UnwritableDataFolder(root, error.strerror or str(error)) from error
        try:
            self._prepare()
        except OSError as error:
            self._lock.release()
            raise UnwritableDataFolder(root, error.strerror or str(error)) from error

    def make_bank(self, target: Path, new_id: str, log_name: str, first_line: bytes) -> None:
        """Durably make a bank's folder with its first event. Raises OSError."""
        beside = self.root / _NEW / new_id
        self._make(beside)
        self._files.write(beside / log_name, first_line)
        self._files.sync_dir(beside)
        self.move(beside, target)

    def move(self, source: Path, target: Path) -> None:
        """Durably give a bank's folder another place. Raises OSError; the folder is then where it was, if it can be."""
        self._make(target.parent)
        self._files.rename(source, target)
        try:
            self._files.sync_dir(target.parent)
            self._files.sync_dir(source.parent)
        except OSError:
            with suppress(OSError):
                self._files.rename(target, source)
            raise

    def release(self) -> None:
        """Let another server take the folder."""
        self._lock.release()

    def _make(self, folder: Path) -> None:
        """Make a folder and its missing parents, each name synced."""
        if self._files.exists(folder):
            return
        self._make(folder.parent)
        self._files.make_dir(folder)
        self._files.sync_dir(folder.parent)

    def _check_ours(self) -> None:
        found = self._files.list_dir(self.root)
        if _MARKER in found:
            self._check_marker()
            return
        foreign = [name for name in found if name not in _OURS_BEFORE_THE_MARKER]
        if foreign:
            raise ForeignDataFolder(self.root, foreign[0])

    def _check_marker(self) -> None:
        try:
            marker = msgspec.json.decode(self._files.read(self.root / _MARKER), type=_Marker)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise ForeignDataFolder(self.root, _MARKER) from None
        if marker.app != "recall" or marker.format > FORMAT:
            raise ForeignDataFolder(self.root, f"{_MARKER} of {marker.app} format {marker.format}")

    def _taken_lock(self) -> Lock:
        lock = self._files.lock(self.root / _LOCK)
        if lock is None:
            raise DataFolderInUse(self.root)
        return lock

    def _prepare(self) -> None:
        probe = self.root / _PROBE
        self._files.write(probe, b"recall\n")
        self._files.remove(probe)
        if _MARKER not in self._files.list_dir(self.root):
            fresh = self.root / (_MARKER + ".new")
            self._files.write(fresh, MARKER_CONTENT)
            self._files.rename(fresh, self.root / _MARKER)
            self._files.sync_dir(self.root)
        for left in self._files.list_dir(self.root / _NEW):
            self._files.remove_tree(self.root / _NEW / left)


def _is_name(text: str) -> bool:
    try:
        bank_name(text)
    except InvalidField:
        return False
    return True
