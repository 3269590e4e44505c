"""A bank as it stands now, open or closed, verified: what a backup is made of."""

from collections.abc import Iterator
from contextlib import closing

from recall.memory.bank import Bank
from recall.memory.data_folder import RULE_SUFFIX, RULES
from recall.memory.files import Files
from recall.memory.log import FileLog
from recall.memory.log_image import BankImage, HistoryFile, LogImage, RuleFile
from recall.memory.place import Place
from recall.memory.refusal import refusals
from recall.memory.segments import needed
from recall.memory.settings import StorageSettings


def image_of(place: Place, files: Files, settings: StorageSettings, bank: Bank | None) -> BankImage:
    """Of the open `bank`, or of a closed one, which is not opened for that. Raises Damaged, StorageFailure."""
    rules = _rules(place, files)  # before the log: a file may then be behind it, which opening mends
    log = bank.image() if bank is not None else _log_of_closed(place, files, settings)
    try:
        log.verify()
        return BankImage(place.tenant, place.name, log, rules, tuple(_history(place, files, log)))
    except BaseException:
        log.close()
        raise


def _log_of_closed(place: Place, files: Files, settings: StorageSettings) -> LogImage:
    with closing(FileLog.open(place.log, files, settings.slow_sync_ms, lambda _event: None)) as log:
        return log.image()


def _history(place: Place, files: Files, log: LogImage) -> Iterator[HistoryFile]:
    for path in needed(place.folder, files, log.first()):
        if files.exists(path):
            yield HistoryFile(path, files.size(path), files.open_append(path))


def _rules(place: Place, files: Files) -> tuple[RuleFile, ...]:
    folder = place.folder / RULES
    with refusals(folder, "read"):
        names = [name for name in files.list_dir(folder) if name.endswith(RULE_SUFFIX)]
        return tuple(RuleFile(name, files.read(folder / name)) for name in names)
