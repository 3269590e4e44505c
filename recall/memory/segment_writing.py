"""Writing what a vacuum takes out of a log: see `segments` for the form."""

from __future__ import annotations

import errno
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

from recall.memory.files import Files
from recall.memory.segments import FOLDER, GZIP, content_of, last_seq_of, segment_name

_MEMBER_BYTES = 1 << 18
_LEVEL = 6
_FRESH = "fresh"


class SegmentWriter:
    """Writes one file beside its place; `finish` puts it there. Raises OSError."""

    def __init__(self, bank: Path, files: Files) -> None:
        """`bank` is the bank's folder."""
        self._bank = bank
        self._folder = bank / FOLDER
        self._fresh = self._folder / _FRESH
        self._files = files
        self._digest = blake2b()
        self.taken = 0
        """Bytes of the log that were taken."""
        self._verified = 0
        files.make_dir(self._folder)
        if files.exists(self._fresh):
            files.remove(self._fresh)

    def take(self, chunks: Iterable[bytes]) -> None:
        """Append whole lines, a member for some of them."""
        with closing(self._files.open_append(self._fresh)) as handle:
            for content in _members(chunks):
                packer = zlib.compressobj(_LEVEL, wbits=GZIP)
                handle.append(packer.compress(content) + packer.flush())
                self._digest.update(content)
                self.taken += len(content)
            handle.sync()

    def verify(self) -> None:
        """Read it again. Raises Damaged, OSError."""
        found = blake2b()
        for content in content_of(self._fresh, self._files):
            found.update(content)
        if found.digest() != self._digest.digest():
            raise OSError(errno.EIO, "what was written does not read back", str(self._fresh))
        self._verified = self.taken

    def finish(self, last_seq: int) -> Path:
        """Give it its name, once all of it was verified; what a crash left of an earlier try goes. Raises Damaged."""
        if self._verified != self.taken:
            self.verify()
        for name in self._files.list_dir(self._folder):
            if (last_seq_of(name) or 0) >= last_seq:
                self._files.remove(self._folder / name)
        target = self._folder / segment_name(last_seq)
        self._files.rename(self._fresh, target)
        self._files.sync_dir(self._folder)
        self._files.sync_dir(self._bank)
        return target


def _members(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        rest += chunk
        while len(rest) >= _MEMBER_BYTES and (end := rest.find(b"\n", _MEMBER_BYTES - 1)) >= 0:
            yield rest[: end + 1]
            rest = rest[end + 1 :]
    if rest:
        yield rest
