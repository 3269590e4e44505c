"""The few disk operations a sidecar needs, so that a test can make each of them fail; and the real ones."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Protocol


class SidecarHandle(Protocol):
    """An open file that grows at its end and can be read anywhere, from any thread. Errors are OSError."""

    def append(self, data: bytes) -> None:
        """Write all of `data` at the end; on an error a part of it may have been written."""

    def sync(self) -> None:
        """fdatasync."""

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes."""

    def read_at(self, offset: int, length: int) -> bytes:
        """At most `length` bytes from `offset`; fewer at the end of the file."""

    def map(self, length: int) -> memoryview:
        """The first `length` bytes, read-only, as the file has them, for as long as somebody holds it."""

    def size(self) -> int:
        """Bytes in the file."""

    def close(self) -> None:
        """Let go of the file; a read that runs in another thread still ends well."""


class SidecarFiles(Protocol):
    """Names in a file system. Errors are OSError."""

    def open_append(self, path: Path) -> SidecarHandle:
        """Open for reading and appending; made when missing."""

    def rename(self, source: Path, target: Path) -> None:
        """Atomically; a file at `target` is replaced."""

    def remove(self, path: Path) -> None:
        """Remove a file."""

    def exists(self, path: Path) -> bool:
        """True for a file or folder."""

    def sync_dir(self, path: Path) -> None:
        """Make the names in a folder safe."""


class _OsHandle:
    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def append(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def sync(self) -> None:
        os.fdatasync(self._descriptor)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def read_at(self, offset: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, offset)

    def map(self, length: int) -> memoryview:
        return memoryview(mmap.mmap(self._descriptor, length, prot=mmap.PROT_READ) if length else b"")

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def close(self) -> None:
        """The descriptor goes with the last reference, so no reader ever meets a reused number."""

    def __del__(self) -> None:
        descriptor = getattr(self, "_descriptor", -1)
        if descriptor >= 0:
            os.close(descriptor)


class OsFiles:
    """SidecarFiles on the real disk."""

    def open_append(self, path: Path) -> SidecarHandle:
        return _OsHandle(path)

    def rename(self, source: Path, target: Path) -> None:
        source.rename(target)

    def remove(self, path: Path) -> None:
        path.unlink()

    def exists(self, path: Path) -> bool:
        return path.exists()

    def sync_dir(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
