"""The one door to the disk. Every read and write of the truth, of rules, trash and sidecars goes through `Files`.

Durability is explicit: bytes are safe after `sync` of their file, and a name (a new file, a new folder, a rename, a
removal) is safe after `sync_dir` of the folder that holds it. Nothing here syncs on its own.

Errors are OSError with errno, as the system gives them; the callers name what they were doing.
"""

import mmap
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout


class HandleClosed(Exception):  # noqa: N818
    """The file was let go of."""


class AppendHandle(Protocol):
    """An open file that grows at its end and can be read anywhere."""

    def append(self, data: bytes) -> None:
        """Write all of `data` at the end. On an error a part of it may have been written."""

    def sync(self) -> None:
        """fdatasync."""

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes."""

    def read_at(self, offset: int, length: int) -> bytes:
        """At most `length` bytes from `offset`; fewer at the end of the file. Any thread. Raises HandleClosed."""

    def map(self, length: int) -> memoryview:
        """The first `length` bytes as the file has them, read-only, for as long as somebody holds it: nobody may cut
        the file to fewer. Raises HandleClosed.
        """

    def size(self) -> int:
        """Bytes in the file."""

    def same_as(self, path: Path) -> bool:
        """True while `path` still names this very file."""

    def share(self) -> "AppendHandle":
        """Another handle on the same open file, to be closed on its own. Raises HandleClosed."""

    def close(self) -> None:
        """Let go of the file; again is no error. A read that runs in another thread still ends well."""


class Lock(Protocol):
    """A held lock."""

    def release(self) -> None:
        """Give it up."""


class Files(Protocol):
    """The operations the service needs of a file system."""

    def open_append(self, path: Path) -> AppendHandle:
        """Open for reading and appending; made when missing."""

    def read(self, path: Path) -> bytes:
        """The whole file."""

    def write(self, path: Path, data: bytes) -> None:
        """A new file with this content (an old one is emptied first), synced; its name is not."""

    def rename(self, source: Path, target: Path) -> None:
        """Atomically give a file or folder another name; a file at `target` is replaced."""

    def remove(self, path: Path) -> None:
        """Remove a file."""

    def remove_tree(self, path: Path) -> None:
        """Remove a folder and all in it; no error when it is missing."""

    def make_dir(self, path: Path) -> None:
        """Make one folder; no error when it is there."""

    def sync_dir(self, path: Path) -> None:
        """Make the names in a folder safe."""

    def list_dir(self, path: Path) -> list[str]:
        """Names in a folder, sorted; [] when it is missing."""

    def list_folders(self, path: Path) -> list[str]:
        """Names of the folders in a folder, sorted; [] when it is missing."""

    def exists(self, path: Path) -> bool:
        """True for a file or folder."""

    def is_dir(self, path: Path) -> bool:
        """True for a folder."""

    def size(self, path: Path) -> int:
        """Bytes in a file."""

    def lock(self, path: Path) -> Lock | None:
        """Lock against other processes and other callers in this one; None when taken. A kill frees it."""


_OWNER_ONLY = 0o600  # what is remembered is nobody else's business
_OWNER_ONLY_FOLDER = 0o700


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


_CLOSED = -1


class DiskHandle:
    """An append handle on a real file. Closing it closes the descriptor, as soon as the reads that run have ended."""

    def __init__(self, fd: int) -> None:
        """Take over a descriptor."""
        self._fd = fd
        self._mutex = threading.Lock()
        self._readers = 0
        self._closed = False

    @classmethod
    def open(cls, path: Path) -> "DiskHandle":
        """Open for reading and appending; made when missing."""
        return cls(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY))

    def append(self, data: bytes) -> None:
        """Write all of `data` at the end."""
        _write_all(self._fd, data)

    def sync(self) -> None:
        """fdatasync."""
        os.fdatasync(self._fd)

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes."""
        os.ftruncate(self._fd, size)

    def read_at(self, offset: int, length: int) -> bytes:
        """At most `length` bytes from `offset`."""
        with self._in_use():
            return os.pread(self._fd, length, offset)

    def map(self, length: int) -> memoryview:
        """The first `length` bytes in place of a copy; the mapping goes with the last that holds it."""
        with self._in_use():
            return memoryview(mmap.mmap(self._fd, length, prot=mmap.PROT_READ) if length else b"")

    def size(self) -> int:
        """Bytes in the file."""
        return os.fstat(self._fd).st_size

    def same_as(self, path: Path) -> bool:
        """True while `path` still names this very file."""
        try:
            there, here = path.stat(), os.fstat(self._fd)
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)

    def share(self) -> AppendHandle:
        """Another handle on the same open file."""
        with self._in_use():
            return DiskHandle(os.dup(self._fd))

    def close(self) -> None:
        """Close the descriptor, now or with the last read that runs."""
        with self._mutex:
            self._closed = True
            self._let_go()

    def __del__(self) -> None:
        self.close()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._mutex:
            if self._closed:
                raise HandleClosed
            self._readers += 1
        try:
            yield
        finally:
            with self._mutex:
                self._readers -= 1
                self._let_go()

    def _let_go(self) -> None:
        if self._closed and not self._readers and self._fd != _CLOSED:
            os.close(self._fd)
            self._fd = _CLOSED  # the number may be another file's from now on


class DiskLock:
    """A held flock."""

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock

    def release(self) -> None:
        """Give it up."""
        self._lock.release()


class DiskFiles:
    """The real disk."""

    def open_append(self, path: Path) -> AppendHandle:
        """Open for reading and appending; made when missing."""
        return DiskHandle.open(path)

    def read(self, path: Path) -> bytes:
        """The whole file."""
        return path.read_bytes()

    def write(self, path: Path, data: bytes) -> None:
        """A new file with this content, synced."""
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _OWNER_ONLY)
        try:
            _write_all(fd, data)
            os.fdatasync(fd)
        finally:
            os.close(fd)

    def rename(self, source: Path, target: Path) -> None:
        """Atomically give a file or folder another name."""
        source.rename(target)

    def remove(self, path: Path) -> None:
        """Remove a file."""
        path.unlink()

    def remove_tree(self, path: Path) -> None:
        """Remove a folder and all in it."""
        if not path.exists():
            return
        for folder, folders, names in os.walk(path, topdown=False):
            for name in names:
                Path(folder, name).unlink()
            for name in folders:
                Path(folder, name).rmdir()
        path.rmdir()

    def make_dir(self, path: Path) -> None:
        """Make one folder."""
        path.mkdir(mode=_OWNER_ONLY_FOLDER, exist_ok=True)

    def sync_dir(self, path: Path) -> None:
        """Make the names in a folder safe."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def list_dir(self, path: Path) -> list[str]:
        """Names in a folder, sorted."""
        try:
            return sorted(entry.name for entry in path.iterdir())
        except FileNotFoundError:
            return []

    def list_folders(self, path: Path) -> list[str]:
        """Names of the folders in a folder, sorted."""
        try:
            with os.scandir(path) as entries:  # which knows without a look at each
                return sorted(entry.name for entry in entries if entry.is_dir())
        except FileNotFoundError:
            return []

    def exists(self, path: Path) -> bool:
        """True for a file or folder."""
        return path.exists()

    def is_dir(self, path: Path) -> bool:
        """True for a folder."""
        return path.is_dir()

    def size(self, path: Path) -> int:
        """Bytes in a file."""
        return path.stat().st_size

    def lock(self, path: Path) -> Lock | None:
        """Lock against other processes and other callers in this one."""
        lock = FileLock(path, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return DiskLock(lock)
