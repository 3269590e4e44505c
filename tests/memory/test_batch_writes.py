"""What the disk is asked for: a batch is one write of the log, one sync, and one change that is told of."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from recall.memory.banks import Banks
from recall.memory.clock import SystemClock
from recall.memory.files import AppendHandle, DiskFiles, DiskHandle
from recall.memory.record import Change, NewMemory, Saved
from recall.memory.settings import StorageSettings


class CountingHandle(DiskHandle):
    """Counts what is asked of the disk."""

    asked: list[str]

    def append(self, data: bytes) -> None:
        self.asked.append("append")
        super().append(data)

    def sync(self) -> None:
        self.asked.append("sync")
        super().sync()


class CountingFiles(DiskFiles):
    """The real disk; `asked` is what its open files were asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def open_append(self, path: Path) -> AppendHandle:
        handle = CountingHandle.open(path)
        assert isinstance(handle, CountingHandle)
        handle.asked = self.asked
        return handle


class Told:
    """What is derived: how many changes it was told of at a time."""

    def __init__(self) -> None:
        self.changes: list[int] = []

    def apply(self, changes: Sequence[Change], last_seq: int) -> None:
        assert last_seq
        self.changes.append(len(changes))

    def rebuild(self, last_seq: int) -> None:
        raise AssertionError(last_seq)


def test_a_batch_is_one_write_one_sync_and_one_change(tmp_path: Path) -> None:
    files, told = CountingFiles(), Told()
    banks = Banks(tmp_path / "data", StorageSettings(), files, SystemClock())
    bank = banks.create("default", "main")
    bank.subscribe(told)
    files.asked.clear()
    saved = bank.save([NewMemory(text=f"text {number}") for number in range(200)])
    assert all(isinstance(one, Saved) for one in saved)
    assert files.asked == ["append", "sync"]
    assert told.changes == [200]
    banks.close()


@pytest.mark.parametrize("beyond_the_image", [0, 1])
def test_an_opening_syncs_the_log_only_where_it_goes_beyond_the_image(tmp_path: Path, beyond_the_image: int) -> None:
    files = CountingFiles()
    banks = Banks(tmp_path / "data", StorageSettings(image_events=2), files, SystemClock())
    bank = banks.create("default", "main")
    bank.save([NewMemory(text="first"), NewMemory(text="second")])
    bank.kept_state.keep(bank)
    bank.save([NewMemory(text=f"later {number}") for number in range(beyond_the_image)])
    banks.close()
    files.asked.clear()
    again = Banks(tmp_path / "data", StorageSettings(), files, SystemClock())
    assert len(again.open("default", "main").records()) == 2 + beyond_the_image
    assert files.asked == ["sync"] * beyond_the_image
    again.close()
