"""Banks on a disk in RAM, with a clock that a test moves."""

from pathlib import Path

from faulty_files import MemoryFiles
from ticking import Ticking

from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.errors import MemoryServiceError
from recall.memory.record import LOCAL, Actor, NewMemory, Record, Saved
from recall.memory.settings import StorageSettings

DATA = Path("/data")


def banks_on(
    files: MemoryFiles | None = None, clock: Ticking | None = None, settings: StorageSettings | None = None
) -> Banks:
    """Banks on a disk in RAM."""
    return Banks(DATA, settings or StorageSettings(), files or MemoryFiles(), clock or Ticking())


def bank_on(files: MemoryFiles | None = None, clock: Ticking | None = None, name: str = "main") -> Bank:
    """One bank, made when missing."""
    return banks_on(files, clock).open_or_create(DEFAULT_TENANT, name)


def reopened(files: MemoryFiles, name: str = "main") -> Bank:
    """The bank as another process would find it after a crash."""
    return banks_on(files.after_crash()).open(DEFAULT_TENANT, name)


def log_path(name: str = "main") -> Path:
    """Where the bank's log lies."""
    return DATA / DEFAULT_TENANT / name / "log.jsonl"


def saved(bank: Bank, item: NewMemory | str, actor: Actor = LOCAL, request_id: str = "") -> Saved:
    """The result of saving one memory; raises its error."""
    result = bank.save([NewMemory(text=item) if isinstance(item, str) else item], actor, request_id)[0]
    if isinstance(result, MemoryServiceError):
        raise result
    return result


def remembered(bank: Bank, text: str) -> Record:
    """A memory with this text."""
    return saved(bank, text).record


def texts(bank: Bank) -> list[str]:
    """The texts of all memories that are live, in the order of first save."""
    return [bank.text(record) for record in bank.records() if record.status.live]
