"""What can go wrong with the truth, each with its facts as attributes.

MemoryServiceError
├── InvalidField              a value the caller gave            (field, problem)
│   └── TextTooLong                                              (length, limit)
├── NotFound
│   ├── BankNotFound                                             (bank)
│   ├── MemoryNotFound                                           (bank, id)
│   ├── TrashNotFound                                            (trash_id)
│   ├── RunNotFound                                              (bank, run)
│   └── RuleNotFound                                             (bank, name)
├── BankExists                                                   (bank)
├── Refused                   not in this state of the memory
│   ├── IllegalTransition                                        (id, status, action, role)
│   ├── PinnedMemory                                             (id, action)
│   ├── NotLive                                                  (id, status, action)
│   ├── TextTaken             another live memory has the text   (id, holder)
│   ├── ProvenanceTaken       another live memory has the source (kind, source_id, holder)
│   ├── NearDuplicate        a memory in use says almost the same (id, holder, score)
│   ├── NothingToUndo         the last event is no decision, or something happened since (id, problem)
│   ├── NotYourScope          the bank is not the memory of this user (bank, user)
│   ├── NotExpired            its time has not come              (id, expires_at)
│   ├── SelfSupersede                                            (id)
│   ├── NoVacuum              the log cannot be written anew now (bank, problem)
│   └── RuleEditedByHand      its file says what the log does not (bank, name)
├── StaleRevision                                                (id, expected, actual)
├── StaleRule                                                    (name, expected, actual)
├── HistoryArchived           what came before was taken away    (seq, first_seq)
├── ReadOnly                  the bank takes no writes           (bank, reason)
├── Damaged                   the log cannot be trusted          (file, line, offset, problem, remedy)
│   └── BankDamaged           the same, with the bank's name     (bank, …)
├── StorageFailure            the disk refused; nothing was kept (file, action, problem)
│   └── DiskFull
├── DataFolderUnusable        the service cannot start           (folder)
│   ├── DataFolderInUse
│   ├── ForeignDataFolder                                        (found)
│   └── UnwritableDataFolder                                     (problem)
└── Closed                    the service is shutting down       (what)
"""
# ruff: noqa: N818 (the names are facts, as they stand in the contract)

from pathlib import Path


class MemoryServiceError(Exception):
    """Root of all errors that the memory package raises on purpose."""


class InvalidField(MemoryServiceError):
    """A value the caller gave cannot be taken."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class TextTooLong(InvalidField):
    """The text is longer than the limit, in characters."""

    def __init__(self, length: int, limit: int) -> None:
        super().__init__("text", f"has {length:,} characters; the limit is {limit:,}")
        self.length = length
        self.limit = limit


class NotFound(MemoryServiceError):
    """Something named is not there."""


class BankNotFound(NotFound):
    """No bank of this name."""

    def __init__(self, bank: str) -> None:
        super().__init__(f"no bank named {bank!r}")
        self.bank = bank


class MemoryNotFound(NotFound):
    """No memory with this id in the bank."""

    def __init__(self, bank: str, memory_id: str) -> None:
        super().__init__(f"no memory {memory_id!r} in bank {bank!r}")
        self.bank = bank
        self.id = memory_id


class TrashNotFound(NotFound):
    """No trashed bank of this id."""

    def __init__(self, trash_id: str) -> None:
        super().__init__(f"nothing in the trash is named {trash_id!r}")
        self.trash_id = trash_id


class RunNotFound(NotFound):
    """The bank knows no consolidation run of this id."""

    def __init__(self, bank: str, run: str) -> None:
        super().__init__(f"no consolidation run {run!r} in bank {bank!r}" if bank else f"no consolidation run {run!r}")
        self.bank = bank
        self.run = run


class BankExists(MemoryServiceError):
    """The name is taken."""

    def __init__(self, bank: str) -> None:
        super().__init__(f"a bank named {bank!r} exists already")
        self.bank = bank


class Refused(MemoryServiceError):
    """The request is well-formed, but not in this state of the memory."""


class IllegalTransition(Refused):
    """The lifecycle table has no such edge."""

    def __init__(self, memory_id: str, status: str, action: str, role: str) -> None:
        super().__init__(f"{role} may not {action} memory {memory_id!r}, which is {status}")
        self.id = memory_id
        self.status = status
        self.action = action
        self.role = role


class PinnedMemory(Refused):
    """The memory is pinned; unpin it first."""

    def __init__(self, memory_id: str, action: str) -> None:
        super().__init__(f"cannot {action} memory {memory_id!r}: it is pinned; unpin it first")
        self.id = memory_id
        self.action = action


class NotLive(Refused):
    """Only a live memory can be changed in this way."""

    def __init__(self, memory_id: str, status: str, action: str) -> None:
        super().__init__(f"cannot {action} memory {memory_id!r}: it is {status}")
        self.id = memory_id
        self.status = status
        self.action = action


class TextTaken(Refused):
    """Another live memory says the same; supersede one by the other."""

    def __init__(self, memory_id: str, holder: str) -> None:
        super().__init__(f"memory {holder!r} has this text already; supersede one by the other")
        self.id = memory_id
        self.holder = holder


class ProvenanceTaken(Refused):
    """Another live memory comes from the same source."""

    def __init__(self, kind: str, source_id: str, holder: str) -> None:
        super().__init__(f"memory {holder!r} comes from {kind} {source_id!r} already; update it")
        self.kind = kind
        self.source_id = source_id
        self.holder = holder


class NearDuplicate(Refused):
    """A memory in use says almost the same; `score` is the Jaccard of their trigrams."""

    def __init__(self, memory_id: str, holder: str, score: float) -> None:
        super().__init__(
            f"memory {memory_id!r} is a near-duplicate of {holder!r}, which is in use ({score:.2f}); "
            "override_duplicate promotes it all the same"
        )
        self.id = memory_id
        self.holder = holder
        self.score = score


class NothingToUndo(Refused):
    """Only the last thing that happened to a memory can be undone, and only a decision."""

    def __init__(self, memory_id: str, problem: str) -> None:
        super().__init__(f"nothing to undo at memory {memory_id!r}: {problem}")
        self.id = memory_id
        self.problem = problem


class NotYourScope(Refused):
    """A user keeps preferences in the bank whose scope they are, and in no other."""

    def __init__(self, bank: str, user: str) -> None:
        super().__init__(f"bank {bank!r} is not the memory of user {user!r}: its scope must be user:{user}")
        self.bank = bank
        self.user = user


class NotExpired(Refused):
    """The memory is not past its expires_at (microseconds UTC, 0 when it never expires)."""

    def __init__(self, memory_id: str, expires_at: int) -> None:
        super().__init__(f"memory {memory_id!r} has not expired")
        self.id = memory_id
        self.expires_at = expires_at


class SelfSupersede(Refused):
    """A memory cannot replace itself."""

    def __init__(self, memory_id: str) -> None:
        super().__init__(f"memory {memory_id!r} cannot supersede itself")
        self.id = memory_id


class StaleRevision(MemoryServiceError):
    """The memory was written since the caller read it; read it again."""

    def __init__(self, memory_id: str, expected: int, actual: int) -> None:
        super().__init__(f"memory {memory_id!r} is at revision {actual}, not {expected}; read it again")
        self.id = memory_id
        self.expected = expected
        self.actual = actual


class RuleNotFound(NotFound):
    """No rule of this name in the bank."""

    def __init__(self, bank: str, name: str) -> None:
        super().__init__(f"no rule {name!r} in bank {bank!r}")
        self.bank = bank
        self.name = name


class RuleEditedByHand(Refused):
    """The file of the rule says what the log does not: a reload takes that in, a write would lose it."""

    def __init__(self, bank: str, name: str) -> None:
        super().__init__(f"rule {name!r} of bank {bank!r} was edited by hand: reload the bank first")
        self.bank = bank
        self.name = name


class NoVacuum(Refused):
    """The log cannot be written anew as the bank stands."""

    def __init__(self, bank: str, problem: str) -> None:
        super().__init__(f"bank {bank!r} cannot be vacuumed: {problem}")
        self.bank = bank
        self.problem = problem


class StaleRule(MemoryServiceError):
    """The rule was written since the caller read it; 0 stands for none of this name."""

    def __init__(self, name: str, expected: int, actual: int) -> None:
        super().__init__(f"rule {name!r} is at revision {actual}, not {expected}; read it again")
        self.name = name
        self.expected = expected
        self.actual = actual


class HistoryArchived(MemoryServiceError):
    """A vacuum archived the event, and its file was taken away; `first_seq` is the first one that can be read."""

    def __init__(self, seq: int, first_seq: int) -> None:
        super().__init__(
            f"event {seq} was archived by a vacuum and its file was taken away from history/; "
            f"the first event that can be read is {first_seq}"
        )
        self.seq = seq
        self.first_seq = first_seq


class ReadOnly(MemoryServiceError):
    """The bank takes no writes until it was reloaded; it still answers."""

    def __init__(self, bank: str, reason: str) -> None:
        super().__init__(f"bank {bank!r} is read-only: {reason}")
        self.bank = bank
        self.reason = reason


class Damaged(MemoryServiceError):
    """A file cannot be trusted. `line` counts from 1 and `offset` in bytes from 0, at the start of that line."""

    def __init__(self, file: Path, line: int, offset: int, problem: str, remedy: str) -> None:
        super().__init__(f"{file}, line {line}, byte {offset}: {problem}; {remedy}")
        self.file = file
        self.line = line
        self.offset = offset
        self.problem = problem
        self.remedy = remedy


class BankDamaged(Damaged):
    """A bank cannot be opened; others are not touched by it."""

    def __init__(self, bank: str, cause: Damaged) -> None:
        super().__init__(cause.file, cause.line, cause.offset, cause.problem, cause.remedy)
        self.bank = bank


class StorageFailure(MemoryServiceError):
    """The disk refused. Nothing of the write was kept."""

    def __init__(self, file: Path, action: str, problem: str) -> None:
        super().__init__(f"cannot {action} {file}: {problem}")
        self.file = file
        self.action = action
        self.problem = problem


class DiskFull(StorageFailure):
    """No space, or no quota, is left. Nothing of the write was kept."""


class DataFolderUnusable(MemoryServiceError):
    """The service cannot start on this data folder."""

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(f"data folder {folder}: {problem}")
        self.folder = folder


class DataFolderInUse(DataFolderUnusable):
    """Another server holds the lock."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "another recall server uses it; stop that one or choose another folder")


class ForeignDataFolder(DataFolderUnusable):
    """The folder holds something else."""

    def __init__(self, folder: Path, found: str) -> None:
        super().__init__(folder, f"holds {found!r}, which is not recall's; choose an empty folder")
        self.found = found


class UnwritableDataFolder(DataFolderUnusable):
    """Nothing can be written there; the service never runs in RAM alone."""

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(folder, f"cannot be written: {problem}")
        self.problem = problem


class Closed(MemoryServiceError):
    """The service is shutting down."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is closed")
        self.what = what
