"""What a backup looks like: a tar file that any tar reads, with a manifest at its end.

```
FORMAT                              the marker of the data folder, as it is there
<tenant>/<bank>/log.jsonl           the log as it stood at one seq
<tenant>/<bank>/rules/<n>.md
<tenant>/<bank>/history/<n>.jsonl.gz    what vacuums took out of the log, unless it was archived
…
MANIFEST.json                       every file with its size and SHA-256; the banks with their seqs; what is missing
```

The manifest comes last, so a file that ends early has none and is refused whole. Derived files and the trash are not in
it: the former are built again, the latter is what somebody wanted gone.
"""

import tarfile
from dataclasses import dataclass

import msgspec

from recall.memory.data_folder import RULE_SUFFIX, RULES
from recall.memory.errors import InvalidField, MemoryServiceError
from recall.memory.log import LOG_NAME
from recall.memory.names import bank_name
from recall.memory.segments import FOLDER as HISTORY
from recall.memory.segments import last_seq_of

VERSION = 1
MARKER = "FORMAT"
MANIFEST = "MANIFEST.json"
LARGEST_MANIFEST = 64 * 1024 * 1024
_RULE_NAME = 128


class FileEntry(msgspec.Struct, frozen=True):
    """A file in the backup; `sha256` in hex."""

    path: str
    bytes: int
    sha256: str


class BankEntry(msgspec.Struct, frozen=True):
    """A bank in the backup, and the seq at which it is there."""

    tenant: str
    bank: str
    last_seq: int
    log_bytes: int
    rules: int


class LeftOut(msgspec.Struct, frozen=True):
    """A bank that could not be read, and why."""

    tenant: str
    bank: str
    reason: str


class Manifest(msgspec.Struct, frozen=True):
    """What the backup holds; `taken_at` in microseconds UTC."""

    app: str
    backup: int
    release: str
    taken_at: int
    files: tuple[FileEntry, ...]
    banks: tuple[BankEntry, ...]
    left_out: tuple[LeftOut, ...]


class BackupDamaged(MemoryServiceError):  # noqa: N818 (a fact, as those of recall.memory.errors)
    """The file is not a whole backup; nothing of it was restored."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the backup cannot be restored: {problem}")
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file of a bank belongs."""

    tenant: str
    bank: str
    name: str
    """`log.jsonl`, a rule's, or a file of the history."""
    folder: str = ""
    """Below the bank's own."""

    @classmethod
    def of(cls, path: str) -> "Place":
        """Where a path of a backup leads. Raises BackupDamaged for one that no backup has (`..`, absolute, foreign)."""
        folder = ""
        match path.split("/"):
            case [tenant, bank, name] if name == LOG_NAME:
                pass
            case [tenant, bank, folder, name] if folder == RULES and _is_rule(name):
                pass
            case [tenant, bank, folder, name] if folder == HISTORY and last_seq_of(name):
                pass
            case _:
                raise BackupDamaged(f"it holds {path[:200]!r}, which is no file of a bank")
        try:
            return cls(bank_name(tenant, "tenant"), bank_name(bank), name, folder)
        except InvalidField as error:
            raise BackupDamaged(f"it holds {path[:200]!r}: {error}") from None


def log_path(tenant: str, bank: str) -> str:
    """The path of a bank's log in a backup."""
    return f"{tenant}/{bank}/{LOG_NAME}"


def rule_path(tenant: str, bank: str, name: str) -> str:
    """The path of a rule in a backup."""
    return f"{tenant}/{bank}/{RULES}/{name}"


def history_path(tenant: str, bank: str, name: str) -> str:
    """The path of a file of a bank's history in a backup."""
    return f"{tenant}/{bank}/{HISTORY}/{name}"


def header(path: str, size: int, taken_at: int) -> bytes:
    """What stands before a file of `size` bytes; `taken_at` in microseconds UTC."""
    info = tarfile.TarInfo(path)
    info.size = size
    info.mtime = taken_at // 1_000_000
    info.mode = 0o600
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def padding(size: int) -> bytes:
    """What stands after a file of `size` bytes."""
    return b"\0" * (-size % tarfile.BLOCKSIZE)


END = b"\0" * (2 * tarfile.BLOCKSIZE)
"""What stands at the end of the tar file."""


def _is_rule(name: str) -> bool:
    plain = name.isprintable() and "\\" not in name and not name.startswith(".")
    return plain and name.endswith(RULE_SUFFIX) and len(name) <= _RULE_NAME
