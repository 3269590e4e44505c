"""A disk in RAM that remembers what is safe, fails on demand, and shows every state a crash may leave.

Each file knows its bytes as programs see them and its bytes as they are safe, and the operations in between; each
folder the same of its names. `sync` makes a file's bytes safe, `sync_dir` a folder's names. A failed `sync` loses what
was pending for good: later syncs report success without it, as kernels do.

`on_operation` is called after every change, so a test can take a `Crash` of each moment.
"""

import errno
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recall.memory.files import AppendHandle, HandleClosed, Lock

PAGE_BYTES = 64
"""Smaller than a real page, so that small histories have holes too."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Fail the `nth` call (from 1): once, or it and all after it."""

    nth: int
    code: int = errno.EIO
    for_ever: bool = False

    def hits(self, call: int) -> bool:
        """True when this call fails."""
        return call >= self.nth if self.for_ever else call == self.nth


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes written at an offset; `data` None cuts the file there."""

    offset: int
    data: bytes | None

    def on(self, content: bytes) -> bytes:
        """The content after it; a gap reads as zeros."""
        if self.data is None:
            return content[: self.offset].ljust(self.offset, b"\0")
        before = content[: self.offset].ljust(self.offset, b"\0")
        return before + self.data + content[self.offset + len(self.data) :]


@dataclass(eq=False, slots=True)
class Inode:
    """A file, whatever its name."""

    content: bytes = b""
    safe: bytes = b""
    pending: list[Change] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Folder:
    """A folder, whatever its name."""

    names: dict[str, "Node"] = field(default_factory=dict)
    safe: dict[str, "Node"] = field(default_factory=dict)


Node = Inode | Folder


@dataclass(frozen=True, slots=True, eq=False)
class Naming:
    """One atomic change of names: (folder, name, what it names now or None)."""

    parts: tuple[tuple[Folder, str, Node | None], ...]

    def safe_with(self, folder: Folder) -> bool:
        """True when syncing this folder makes it safe: the one that holds the new name, which stands last."""
        return self.parts[-1][0] is folder


class MemoryFiles:
    """`Files` in RAM."""

    def __init__(self, fault: Fault | None = None, on_operation: Callable[["MemoryFiles"], None] | None = None) -> None:
        self.root = Folder()
        self.namings: list[Naming] = []
        self.calls = 0
        self.fault = fault
        self._on_operation = on_operation
        self._locked: set[Path] = set()

    # the protocol

    def open_append(self, path: Path) -> AppendHandle:
        """Open for reading and appending; made when missing."""
        self._call(path)
        node = self._find(path)
        if node is None:
            node = Inode()
            self._name(path, node)
        return MemoryHandle(self, _file(path, node))

    def read(self, path: Path) -> bytes:
        """The whole file."""
        self._call(path)
        return _file(path, self._existing(path)).content

    def write(self, path: Path, data: bytes) -> None:
        """A file with this content, synced."""
        handle = self.open_append(path)
        handle.truncate(0)
        handle.append(data)
        handle.sync()

    def rename(self, source: Path, target: Path) -> None:
        """Atomically give a file or folder another name."""
        self._call(source)
        node = self._existing(source)
        there = self._find(target)
        if isinstance(there, Folder) and there.names:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(target))
        old, new = self._parent(source), self._parent(target)
        del old.names[source.name]
        new.names[target.name] = node
        self._named(Naming(((old, source.name, None), (new, target.name, node))))

    def remove(self, path: Path) -> None:
        """Remove a file."""
        self._call(path)
        self._existing(path)
        self._name(path, None)

    def remove_tree(self, path: Path) -> None:
        """Remove a folder and all in it."""
        self._call(path)
        if self._find(path) is not None:
            self._name(path, None)

    def make_dir(self, path: Path) -> None:
        """Make one folder."""
        self._call(path)
        if self._find(path) is None:
            self._name(path, Folder())

    def sync_dir(self, path: Path) -> None:
        """Make the names in a folder safe."""
        self._call(path)
        folder = self._existing(path)
        assert isinstance(folder, Folder)
        for naming in [n for n in self.namings if n.safe_with(folder)]:
            _apply(naming)
            self.namings.remove(naming)
        self.changed()

    def list_dir(self, path: Path) -> list[str]:
        """Names in a folder, sorted."""
        self._call(path)
        node = self._find(path)
        return sorted(node.names) if isinstance(node, Folder) else []

    def list_folders(self, path: Path) -> list[str]:
        """Names of the folders in a folder, sorted."""
        self._call(path)
        node = self._find(path)
        return sorted(name for name in node.names if self.is_dir(path / name)) if isinstance(node, Folder) else []

    def exists(self, path: Path) -> bool:
        """True for a file or folder."""
        return self._find(path) is not None

    def is_dir(self, path: Path) -> bool:
        """True for a folder."""
        return isinstance(self._find(path), Folder)

    def size(self, path: Path) -> int:
        """Bytes in a file."""
        return len(_file(path, self._existing(path)).content)

    def lock(self, path: Path) -> Lock | None:
        """Lock against other callers."""
        self._call(path)
        if path in self._locked:
            return None
        self._locked.add(path)
        if self._find(path) is None:
            self._name(path, Inode())
        return _MemoryLock(self._locked, path)

    # for handles and tests

    def fails(self, path: Path | None = None) -> OSError | None:
        """Count one call; the error it must raise, if any."""
        self.calls += 1
        if self.fault is not None and self.fault.hits(self.calls):
            return OSError(self.fault.code, os.strerror(self.fault.code), str(path))
        return None

    def changed(self) -> None:
        """Something that a crash could undo, or cannot undo any more, has happened."""
        if self._on_operation is not None:
            self._on_operation(self)

    def same(self, inode: Inode, path: Path) -> bool:
        """True while `path` names this file."""
        return self._find(path) is inode

    def replace(self, path: Path, content: bytes) -> None:
        """What somebody else does to a file: safe at once, by no call of ours."""
        inode = _file(path, self._existing(path))
        inode.content = inode.safe = content
        inode.pending.clear()

    def forget_locks(self) -> None:
        """The process that held them was killed; what it wrote is still to be read."""
        self._locked.clear()

    def after_crash(self) -> "MemoryFiles":
        """The disk after a crash that lost everything that was not safe."""
        return next(iter(Crash.now(self).states()))

    def _call(self, path: Path) -> None:
        error = self.fails(path)
        if error is not None:
            raise error

    def _name(self, path: Path, node: Node | None) -> None:
        parent = self._parent(path)
        if node is None:
            del parent.names[path.name]
        else:
            parent.names[path.name] = node
        self._named(Naming(((parent, path.name, node),)))

    def _named(self, naming: Naming) -> None:
        self.namings.append(naming)
        self.changed()

    def _parent(self, path: Path) -> Folder:
        node = self._existing(path.parent)
        if not isinstance(node, Folder):
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent))
        return node

    def _existing(self, path: Path) -> Node:
        node = self._find(path)
        if node is None:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return node

    def _find(self, path: Path) -> Node | None:
        node: Node | None = self.root
        for name in path.parts[1:]:
            node = node.names.get(name) if isinstance(node, Folder) else None
        return node


class MemoryHandle:
    """An open file in RAM."""

    def __init__(self, files: MemoryFiles, inode: Inode) -> None:
        self._files = files
        self._inode = inode
        self._closed = False

    def append(self, data: bytes) -> None:
        """Write at the end; a failing call has written half."""
        error = self._files.fails()
        written = data if error is None else data[: len(data) // 2]
        self._change(Change(len(self._inode.content), written))
        if error is not None:
            raise error

    def sync(self) -> None:
        """Make the bytes safe; a failing call loses what was pending for good."""
        error = self._files.fails()
        if error is None:
            for change in self._inode.pending:
                self._inode.safe = change.on(self._inode.safe)
        self._inode.pending.clear()
        self._files.changed()
        if error is not None:
            raise error

    def truncate(self, size: int) -> None:
        """Cut the file."""
        error = self._files.fails()
        if error is not None:
            raise error
        self._change(Change(size, None))

    def read_at(self, offset: int, length: int) -> bytes:
        """Bytes from an offset."""
        if self._closed:
            raise HandleClosed
        error = self._files.fails()
        if error is not None:
            raise error
        return self._inode.content[offset : offset + length]

    def map(self, length: int) -> memoryview:
        """The first bytes."""
        return memoryview(self.read_at(0, length))

    def size(self) -> int:
        """Bytes in the file."""
        return len(self._inode.content)

    def same_as(self, path: Path) -> bool:
        """True while `path` names this file."""
        return self._files.same(self._inode, path)

    def share(self) -> "MemoryHandle":
        """Another handle on the same file."""
        if self._closed:
            raise HandleClosed
        return MemoryHandle(self._files, self._inode)

    def close(self) -> None:
        """Reads are refused from now on."""
        self._closed = True

    def _change(self, change: Change) -> None:
        self._inode.content = change.on(self._inode.content)
        self._inode.pending.append(change)
        self._files.changed()


@dataclass(frozen=True, slots=True)
class Crash:
    """One moment: what is safe, and what is pending."""

    root: Folder
    names: dict[int, dict[str, Node]]  # id of a folder → its safe names
    contents: dict[int, tuple[bytes, tuple[Change, ...]]]  # id of a file → its safe bytes, what is pending
    namings: tuple[Naming, ...]

    @classmethod
    def now(cls, files: MemoryFiles) -> "Crash":
        """A crash at this moment."""
        names: dict[int, dict[str, Node]] = {}
        contents: dict[int, tuple[bytes, tuple[Change, ...]]] = {}
        named = (node for naming in files.namings for _, _, node in naming.parts)
        nodes: list[Node] = [files.root, *(node for node in named if node is not None)]
        while nodes:
            node = nodes.pop()
            if id(node) in names or id(node) in contents:
                continue
            if isinstance(node, Inode):
                contents[id(node)] = (node.safe, tuple(node.pending))
            else:
                names[id(node)] = dict(node.safe)
                nodes += [*node.safe.values(), *node.names.values()]
        return cls(files.root, names, contents, tuple(files.namings))

    def states(self, stride: int = 1) -> Iterator[MemoryFiles]:
        """Every disk this crash may leave, or each `stride`-th; first the one that lost all that was not safe."""
        return (self._disk(kept, chosen) for kept, chosen in itertools.islice(self._outcomes(), 0, None, stride))

    def _outcomes(self) -> Iterator[tuple[tuple[Naming, ...], dict[int, bytes]]]:
        pending = [key for key, (_, changes) in self.contents.items() if changes]
        choices = [_contents(*self.contents[key]) for key in pending]
        for kept in _subsets(self.namings):
            for chosen in itertools.product(*choices):
                yield kept, dict(zip(pending, chosen, strict=True))

    def _disk(self, kept: tuple[Naming, ...], chosen: dict[int, bytes]) -> MemoryFiles:
        names = {key: dict(value) for key, value in self.names.items()}
        for naming in kept:
            for folder, name, node in naming.parts:
                there = names.setdefault(id(folder), {})
                if node is None:
                    there.pop(name, None)
                else:
                    there[name] = node
        files = MemoryFiles()
        files.root = self._folder(self.root, names, chosen)
        return files

    def _folder(self, folder: Folder, names: dict[int, dict[str, Node]], chosen: dict[int, bytes]) -> Folder:
        fresh = Folder()
        for name, node in names.get(id(folder), {}).items():
            if isinstance(node, Folder):
                fresh.names[name] = self._folder(node, names, chosen)
            else:
                content = chosen.get(id(node), self.contents[id(node)][0])
                fresh.names[name] = Inode(content, content)
        fresh.safe = dict(fresh.names)
        return fresh


class _MemoryLock:
    def __init__(self, locked: set[Path], path: Path) -> None:
        self._locked = locked
        self._path = path

    def release(self) -> None:
        self._locked.discard(self._path)


def image(files: MemoryFiles) -> tuple[tuple[str, bytes], ...]:
    """Every file and its bytes, by path; folders end in a slash."""
    found: list[tuple[str, bytes]] = []

    def walk(folder: Folder, path: str) -> None:
        for name, node in folder.names.items():
            if isinstance(node, Folder):
                found.append((f"{path}{name}/", b""))
                walk(node, f"{path}{name}/")
            else:
                found.append((path + name, node.content))

    walk(files.root, "/")
    return tuple(sorted(found))


def _contents(safe: bytes, changes: tuple[Change, ...]) -> list[bytes]:
    """What a file may hold: any number of its pending changes, the last of them torn, zero-filled or holed."""
    found = {safe: None}
    content = safe
    for change in changes:
        if change.data is not None:
            for torn in _torn(change.data):
                found[Change(change.offset, torn).on(content)] = None
        content = change.on(content)
        found[content] = None
    return list(found)


def _torn(data: bytes) -> Iterator[bytes]:
    for cut in range(1, len(data)):
        yield data[:cut]
        yield data[:cut].ljust(len(data), b"\0")
    yield bytes(len(data))
    for start in range(0, len(data), PAGE_BYTES):
        page = data[start : start + PAGE_BYTES]
        yield data[:start] + bytes(len(page)) + data[start + len(page) :]


def _subsets(namings: tuple[Naming, ...]) -> Iterator[tuple[Naming, ...]]:
    """Lost one by one or together: names in different folders are made safe in any order."""
    for size in range(len(namings) + 1):
        yield from itertools.combinations(namings, size)


def _apply(naming: Naming) -> None:
    for folder, name, node in naming.parts:
        if node is None:
            folder.safe.pop(name, None)
        else:
            folder.safe[name] = node


def _file(path: Path, node: Node) -> Inode:
    if not isinstance(node, Inode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return node
