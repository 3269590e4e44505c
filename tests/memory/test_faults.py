"""Every call to the disk fails once, or from then on: clear errors, unchanged state, nothing acknowledged is lost."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest
from faulty_files import Fault, MemoryFiles
from memory_banks import DATA, bank_on, banks_on, log_path, remembered, reopened, saved, texts
from ticking import Ticking

from recall.memory.bank import Bank
from recall.memory.banks import Banks
from recall.memory.errors import (
    BankExists,
    DiskFull,
    MemoryServiceError,
    ReadOnly,
    StorageFailure,
    UnwritableDataFolder,
)
from recall.memory.files import DiskFiles
from recall.memory.record import InfoChanges, MemoryChanges, NewMemory
from recall.memory.settings import StorageSettings


def failing(files: MemoryFiles, from_now: int, code: int = errno.EIO, for_ever: bool = False) -> None:
    files.fault = Fault(files.calls + from_now, code, for_ever)


WRITE, SYNC, CUT_BACK = 1, 2, 2


@pytest.mark.parametrize(
    ("code", "error"), [(errno.EIO, StorageFailure), (errno.ENOSPC, DiskFull), (errno.EDQUOT, DiskFull)]
)
def test_a_write_that_fails_is_taken_back_and_the_bank_goes_on(code: int, error: type[Exception]) -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    remembered(bank, "before")
    log = files.read(log_path())
    failing(files, WRITE, code)
    with pytest.raises(error) as caught:
        saved(bank, "lost")
    assert isinstance(caught.value, StorageFailure)
    assert (caught.value.file, caught.value.action) == (log_path(), "append to")
    assert (texts(bank), files.read(log_path()), bank.read_only_reason) == (["before"], log, None)
    remembered(bank, "after")
    assert texts(reopened(files)) == ["before", "after"]


def test_a_write_that_cannot_be_taken_back_makes_the_bank_read_only_until_it_is_reloaded() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    remembered(bank, "before")
    failing(files, WRITE, for_ever=True)
    with pytest.raises(StorageFailure):
        saved(bank, "lost")
    files.fault = None
    with pytest.raises(ReadOnly, match="could not be taken back"):
        saved(bank, "refused")
    assert texts(bank) == ["before"]
    assert texts(reopened(files)) == ["before"]
    bank.reload()
    assert bank.read_only_reason is None
    remembered(bank, "after")
    assert texts(reopened(files)) == ["before", "after"]


def test_a_failed_sync_makes_the_bank_read_only_and_is_never_tried_again_on_its_descriptor() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    remembered(bank, "before")
    failing(files, SYNC)
    with pytest.raises(StorageFailure, match="cannot sync"):
        saved(bank, "lost")
    calls = files.calls
    for _ in range(3):
        with pytest.raises(ReadOnly, match="fdatasync failed") as caught:
            saved(bank, "refused")
    assert files.calls == calls, "a read-only bank touches the disk"
    assert caught.value.reason == bank.read_only_reason
    assert texts(bank) == ["before"]


@pytest.mark.parametrize("calls_that_fail", [1, 2])
def test_after_a_failed_sync_a_reload_goes_on_from_what_was_acknowledged(calls_that_fail: int) -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    remembered(bank, "before")
    failing(files, SYNC, for_ever=calls_that_fail == 2)
    with pytest.raises(StorageFailure):
        saved(bank, "lost")
    files.fault = None
    bank.reload()
    remembered(bank, "after")
    assert texts(bank) == ["before", "after"]
    assert texts(reopened(files)) == ["before", "after"]


def test_a_reload_that_fails_leaves_the_bank_as_it_was() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    remembered(bank, "before")
    failing(files, SYNC)
    with pytest.raises(StorageFailure):
        saved(bank, "lost")
    failing(files, 1, for_ever=True)
    with pytest.raises(StorageFailure):
        bank.reload()
    files.fault = None
    assert bank.read_only_reason is not None
    assert texts(bank) == ["before"]


def test_one_bank_in_trouble_leaves_the_others_alone() -> None:
    files = MemoryFiles()
    banks = banks_on(files)
    broken, well = banks.open_or_create("default", "broken"), banks.open_or_create("default", "well")
    failing(files, SYNC)
    with pytest.raises(StorageFailure):
        saved(broken, "lost")
    remembered(well, "kept")
    assert [bank.name for bank in banks.opened() if bank.read_only_reason] == ["broken"]


@pytest.mark.parametrize("replace", [True, False])
def test_a_log_that_somebody_else_changed_is_not_written_over(replace: bool) -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    remembered(bank, "before")
    if replace:
        files.write(DATA / "copy", files.read(log_path()))
        files.rename(DATA / "copy", log_path())
    else:
        files.replace(log_path(), files.read(log_path())[:-10])
    with pytest.raises(StorageFailure, match="changed by another program"):
        saved(bank, "lost")
    bank_as_found = files.read(log_path())
    with pytest.raises(ReadOnly):
        saved(bank, "refused")
    assert files.read(log_path()) == bank_as_found


class Life:
    """A history over every kind of call, and the last acknowledged log of each bank."""

    def __init__(self, files: MemoryFiles) -> None:
        self.files = files
        self.banks = banks_on(files)
        self.logs: dict[str, bytes] = {}
        self.refused = 0

    def live(self) -> None:
        for number in range(4):
            self._write_to(f"bank-{number % 2}", number)
        self._try("bank-0", lambda: self.banks.reload("default", "bank-0"))
        self._try("", lambda: self.banks.delete("default", "bank-0"))
        self._try("bank-0", lambda: self.banks.restore("default", self.banks.trashed()[0].trash_id))

    def _write_to(self, name: str, number: int) -> None:
        items = [NewMemory(text=f"text {number}"), NewMemory(text="a")]
        self._try(name, lambda: self.banks.create("default", name))
        self._try(name, lambda: self._bank(name).save(items))
        self._try(name, lambda: self._update(name, f"new {number}"))
        self._try(name, lambda: self._bank(name).update_info(InfoChanges(description=f"d{number}")))
        self._try(name, lambda: self._bank(name).history(self._bank(name).records()[0].id))

    def _bank(self, name: str) -> Bank:
        return self.banks.open("default", name)

    def _update(self, name: str, text: str) -> None:
        bank = self._bank(name)
        bank.update(bank.records()[0].id, MemoryChanges(text=text))
        assert bank.text(bank.records()[0]) == text

    def _try(self, name: str, step: Callable[[], object]) -> None:
        try:
            step()
        except BankExists:
            return
        except (MemoryServiceError, IndexError):  # IndexError: nothing was saved, nothing was trashed
            self.refused += 1
            return
        if name:
            fault, self.files.fault, calls = self.files.fault, None, self.files.calls
            self.logs[name] = self.files.read(log_path(name))
            self.files.fault, self.files.calls = fault, calls


def logs_kept(files: MemoryFiles) -> list[bytes]:
    """Of banks and of the trash, each bank opened first and written to."""
    files.forget_locks()
    banks = banks_on(files)
    for name in banks.list():
        remembered(banks.open("default", name), "goes on")
    logs = [files.read(log_path(name)) for name in banks.list()]
    trash = DATA / ".trash" / "default"
    return logs + [files.read(trash / trashed.trash_id / "log.jsonl") for trashed in banks.trashed()]


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("for_ever", [False, True])
def test_whichever_call_fails_the_error_is_ours_and_nothing_acknowledged_is_lost(code: int, for_ever: bool) -> None:
    nth, through = 0, False
    while not through:
        nth += 1
        files = MemoryFiles(Fault(nth, code, for_ever))
        try:
            life = Life(files)
        except UnwritableDataFolder:
            continue
        life.live()
        through = files.calls < nth
        assert bool(life.refused) != through, f"call {nth} failed and nobody was told"
        files.fault = None
        for disk in (files.after_crash(), files):
            kept = logs_kept(disk)
            for name, log in life.logs.items():
                assert any(found.startswith(log) for found in kept), f"call {nth}: {name}"
    assert nth > 100


@pytest.mark.parametrize("nth", range(1, 12))
def test_a_data_folder_that_cannot_be_written_is_refused_at_the_start(nth: int) -> None:
    files = MemoryFiles(Fault(nth, errno.EROFS, for_ever=True))
    with pytest.raises(UnwritableDataFolder, match="Read-only file system"):
        banks_on(files)
    files.fault = None
    banks_on(files).close()


def test_a_data_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "file"
    data.write_text("not a folder")
    with pytest.raises(UnwritableDataFolder):
        Banks(data, StorageSettings(), DiskFiles(), Ticking())
