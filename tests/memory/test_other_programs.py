"""Another program writes the log of an open bank: nothing acknowledged is lost without a word and a copy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from memory_banks import remembered, texts

from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import SystemClock
from recall.memory.errors import ReadOnly, StorageFailure
from recall.memory.files import DiskFiles, DiskHandle
from recall.memory.record import Change, NewMemory
from recall.memory.settings import StorageSettings


class Rebuilds:
    """A derived structure that counts how often it starts over."""

    def __init__(self) -> None:
        self.count, self.last_seq = 0, 0

    def apply(self, changes: Sequence[Change], last_seq: int) -> None:
        """Nothing to keep."""

    def rebuild(self, last_seq: int) -> None:
        """Counts."""
        self.count, self.last_seq = self.count + 1, last_seq


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "data" / DEFAULT_TENANT / "main" / "log.jsonl"


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    """With the texts one, two and three."""
    banks = Banks(tmp_path / "data", StorageSettings(), DiskFiles(), SystemClock())
    bank = banks.create(DEFAULT_TENANT, "main")
    for text in ("one", "two", "three"):
        remembered(bank, text)
    return bank


def replace(log: Path, content: bytes) -> None:
    """As editors save: a new file, renamed over the old one."""
    beside = log.with_name("beside")
    beside.write_bytes(content)
    beside.rename(log)


def test_a_log_that_was_cut_at_a_line_is_told_by_a_reload_and_what_is_derived_starts_over(
    bank: Bank, log: Path
) -> None:
    derived = Rebuilds()
    bank.subscribe(derived)
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))
    [told] = bank.reload()
    assert "acknowledged up to seq 4: it ends at seq 3" in told
    assert (texts(bank), derived.count) == (["one", "two"], 1)


def test_what_was_acknowledged_while_an_editor_held_an_older_copy_is_kept(bank: Bank, log: Path) -> None:
    held = log.read_bytes()
    remembered(bank, "said while the editor was open")
    acknowledged = log.read_bytes()
    replace(log, held.replace(b"two", b"TWO"))
    with pytest.raises(StorageFailure, match="another program"):
        bank.save([NewMemory(text="refused")])
    told = bank.reload()
    assert texts(bank) == ["one", "TWO", "three"]
    [copy] = [name for name in log.parent.glob("log.broken-*") if name.read_bytes() == acknowledged]
    assert any(copy.name in line for line in told)


def test_events_that_another_program_added_are_told_and_indexed(bank: Bank, log: Path, tmp_path: Path) -> None:
    derived = Rebuilds()
    bank.subscribe(derived)
    copy = tmp_path / "copy"
    (copy / DEFAULT_TENANT / "main").mkdir(parents=True)
    (copy / "FORMAT").write_bytes((tmp_path / "data" / "FORMAT").read_bytes())
    (copy / DEFAULT_TENANT / "main" / "log.jsonl").write_bytes(log.read_bytes())
    other = Banks(copy, StorageSettings(), DiskFiles(), SystemClock()).open(DEFAULT_TENANT, "main")
    remembered(other, "four")
    replace(log, (copy / DEFAULT_TENANT / "main" / "log.jsonl").read_bytes())
    assert bank.reload() == ["1 events were added by another program"]
    assert (texts(bank), derived.count) == (["one", "two", "three", "four"], 1)


@pytest.mark.parametrize("how", ["replaced", "written"])
def test_a_write_beside_another_program_is_not_acknowledged(
    bank: Bank, log: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, sync = log.read_bytes(), DiskHandle.sync

    def meddled(handle: DiskHandle) -> None:
        sync(handle)
        if how == "replaced":
            replace(log, before)
        else:
            with log.open("ab") as other:
                other.write(b"{}\n")

    monkeypatch.setattr(DiskHandle, "sync", meddled)
    with pytest.raises(StorageFailure, match="while it was written"):
        bank.save([NewMemory(text="in doubt")])
    monkeypatch.setattr(DiskHandle, "sync", sync)
    assert texts(bank) == ["one", "two", "three"]
    with pytest.raises(ReadOnly):
        bank.save([NewMemory(text="refused")])
