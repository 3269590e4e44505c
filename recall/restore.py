"""Making a data folder out of a backup, without a server.

All of it is written beside the folder, verified (the sum of every file, every log from its first byte, its last seq)
and synced; then one rename puts it in its place. So the folder is there whole or not at all, and one that holds
anything is never touched.
"""

import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec
import uuid_utils

from recall.backup import APP
from recall.backup_format import (
    LARGEST_MANIFEST,
    MANIFEST,
    MARKER,
    VERSION,
    BackupDamaged,
    FileEntry,
    Manifest,
    Place,
)
from recall.memory.data_folder import DataFolder
from recall.memory.errors import MemoryServiceError
from recall.memory.files import Files
from recall.memory.log import LOG_NAME
from recall.memory.opening import open_bank
from recall.memory.refusal import refusals
from recall.memory.scan import CHUNK_BYTES
from recall.memory.settings import StorageSettings


class NotEmpty(MemoryServiceError):  # noqa: N818 (a fact, as those of recall.memory.errors)
    """There is something where the backup should go."""

    def __init__(self, folder: Path, found: str) -> None:
        super().__init__(
            f"{folder} is not empty (it holds {found!r}): restore into a folder that is empty or not there yet"
        )
        self.folder = folder
        self.found = found


def restore(source: IO[bytes], data: Path, files: Files, settings: StorageSettings) -> Manifest:
    """Make the data folder `data` out of a backup; what the backup holds.

    Raises NotEmpty, BackupDamaged, StorageFailure; nothing is left then.
    """
    data = data.absolute()
    with refusals(data, "restore into"):
        _check_empty(data, files)
        beside = data.with_name(f"{data.name}.restoring-{uuid_utils.uuid7()}")
        try:
            manifest = _Unpacking(beside, files).unpack(source)
            _check_banks(manifest, beside, files, settings)
            _check_empty(data, files)
            files.rename(beside, data)
        except BaseException:
            files.remove_tree(beside)
            raise
        files.sync_dir(data.parent)
    return manifest


def _check_empty(data: Path, files: Files) -> None:
    if files.exists(data) and not files.is_dir(data):
        raise NotEmpty(data, "no folder, but a file")
    found = files.list_dir(data)
    if found:
        raise NotEmpty(data, found[0])


class _Unpacking:
    """Writes the files of one backup below a new folder."""

    def __init__(self, root: Path, files: Files) -> None:
        self._root = root
        self._files = files
        self._written: list[FileEntry] = []

    def unpack(self, source: IO[bytes]) -> Manifest:
        """All files, each synced, and the manifest that agrees with them. Raises BackupDamaged, OSError."""
        self._make(self._root)
        manifest: Manifest | None = None
        with _reading(source) as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isreg() else None
                if content is None or manifest is not None:
                    raise BackupDamaged(f"{member.name[:200]!r} does not belong there")
                if member.name == MANIFEST:
                    manifest = _manifest_of(content.read(LARGEST_MANIFEST))
                else:
                    self._take(member.name, content)
        if manifest is None:
            raise BackupDamaged("it ends before its manifest")
        self._compare(manifest)
        return manifest

    def _take(self, path: str, content: IO[bytes]) -> None:
        target = self._root / MARKER if path == MARKER else self._target(Place.of(path))
        if self._files.exists(target):
            raise BackupDamaged(f"it holds {path!r} twice")
        size, digest = 0, sha256()
        with closing(self._files.open_append(target)) as handle:
            while chunk := content.read(CHUNK_BYTES):
                handle.append(chunk)
                digest.update(chunk)
                size += len(chunk)
            handle.sync()
        self._files.sync_dir(target.parent)
        self._written.append(FileEntry(path, size, digest.hexdigest()))

    def _target(self, place: Place) -> Path:
        folder = self._root / place.tenant / place.bank / place.folder
        self._make(folder)
        return folder / place.name

    def _make(self, folder: Path) -> None:
        if not self._files.exists(folder):
            self._make(folder.parent)
            self._files.make_dir(folder)
            self._files.sync_dir(folder.parent)

    def _compare(self, manifest: Manifest) -> None:
        written = {entry.path: entry for entry in self._written}
        for entry in manifest.files:
            if written.pop(entry.path, None) != entry:
                raise BackupDamaged(f"{entry.path!r} is missing or was altered: its sum does not hold")
        if written:
            raise BackupDamaged(f"{next(iter(written))!r} is not in the manifest")
        if MARKER not in {entry.path for entry in manifest.files}:
            raise BackupDamaged("it holds no marker of a data folder")


@contextmanager
def _reading(source: IO[bytes]) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(fileobj=source, mode="r|") as tar:
            yield tar
    except (tarfile.TarError, EOFError, UnicodeError) as error:
        raise BackupDamaged(f"it is not a whole tar file ({error})") from error


def _manifest_of(content: bytes) -> Manifest:
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BackupDamaged(f"its manifest cannot be read ({error})") from None
    if manifest.app != APP or manifest.backup > VERSION:
        raise BackupDamaged(f"it is a backup of {manifest.app} in format {manifest.backup}, made by a later release")
    return manifest


def _check_banks(manifest: Manifest, root: Path, files: Files, settings: StorageSettings) -> None:
    """Every log opens, and ends where the backup says. The folder is taken as a server would, so FORMAT is judged."""
    DataFolder(root, files).release()
    for bank in manifest.banks:
        path = root / bank.tenant / bank.bank / LOG_NAME
        if not files.exists(path):
            raise BackupDamaged(f"the log of bank {bank.bank!r} is missing")
        opened = open_bank(path, files, settings)
        opened.log.close()
        if opened.log.last_seq != bank.last_seq:
            raise BackupDamaged(f"bank {bank.bank!r} ends at {opened.log.last_seq}, not at {bank.last_seq}")
