"""Backup and restore on a disk in RAM: consistent, whole or not at all, and never over anything."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from equal_banks import histories, memories
from faulty_files import Fault, MemoryFiles
from memory_banks import DATA, banks_on, log_path, remembered, saved

from recall.backup import Backup, Summary
from recall.backup_format import MANIFEST, BackupDamaged, Place
from recall.check import check
from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import SystemClock
from recall.memory.errors import MemoryServiceError, StorageFailure
from recall.memory.files import DiskFiles
from recall.memory.record import NewMemory
from recall.memory.settings import StorageSettings
from recall.restore import NotEmpty, restore

NEW = Path("/restored")


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles()


@pytest.fixture
def banks(files: MemoryFiles) -> Banks:
    """Two banks with a history, one with rules, and one in the trash."""
    banks = banks_on(files)
    for name in ("main", "other", "gone"):
        bank = banks.create(DEFAULT_TENANT, name)
        first = remembered(bank, f"first of {name}")
        bank.supersede(first.id, remembered(bank, f"second of {name}").id)
    rules = DATA / DEFAULT_TENANT / "other" / "rules"
    files.make_dir(rules)
    files.write(rules / "1.md", b"# be kind\n")
    files.write(rules / "1.md.new", b"half")
    files.make_dir(DATA / DEFAULT_TENANT / "other" / "derived")
    files.write(DATA / DEFAULT_TENANT / "other" / "derived" / "junk", b"x")
    banks.delete(DEFAULT_TENANT, "gone")
    return banks


def backed_up(banks: Banks) -> tuple[bytes, Summary]:
    backup = Backup(banks, "0", 1_000_000)
    return b"".join(backup), backup.summary()


def restored(content: bytes, files: MemoryFiles, data: Path = NEW) -> Banks:
    restore(io.BytesIO(content), data, files, StorageSettings())
    return Banks(data, StorageSettings(), files, SystemClock())


def told(bank: Bank) -> tuple[object, ...]:
    return bank.info, bank.last_seq, memories(bank), histories(bank)


def test_what_is_restored_is_what_was_backed_up(banks: Banks, files: MemoryFiles) -> None:
    content, summary = backed_up(banks)
    before = {name: told(banks.open(DEFAULT_TENANT, name)) for name in ("main", "other")}
    after = restored(content, files)
    assert {name: told(after.open(DEFAULT_TENANT, name)) for name in after.list()} == before
    assert files.read(NEW / DEFAULT_TENANT / "other" / "rules" / "1.md") == b"# be kind\n"
    assert files.list_dir(NEW / DEFAULT_TENANT / "other") == ["log.jsonl", "rules"]
    assert after.trashed() == []
    assert summary.bytes == len(content)
    assert [(one.bank, one.last_seq, one.rules) for one in summary.manifest.banks] == [("main", 4, 0), ("other", 4, 1)]
    assert saved(after.open(DEFAULT_TENANT, "main"), "goes on").seq == 5


def test_a_backup_opens_with_any_tar(banks: Banks) -> None:
    with tarfile.open(fileobj=io.BytesIO(backed_up(banks)[0])) as tar:
        names = tar.getnames()
    assert names[0] == "FORMAT"
    assert names[-1] == MANIFEST
    assert set(names[1:-1]) == {"default/main/log.jsonl", "default/other/log.jsonl", "default/other/rules/1.md"}


def test_writes_during_a_backup_are_in_it_or_not_but_never_half(banks: Banks, files: MemoryFiles) -> None:
    main, other = (banks.open(DEFAULT_TENANT, name) for name in ("main", "other"))

    def while_written(backup: Backup) -> Iterator[bytes]:
        for number, chunk in enumerate(backup):
            main.save([NewMemory(text=f"a {number}"), NewMemory(text=f"b {number}")])
            saved(other, f"c {number}")
            yield chunk

    backup = Backup(banks, "0", 0)
    after = restored(b"".join(while_written(backup)), files)
    for entry in backup.summary().manifest.banks:
        copy = after.open(DEFAULT_TENANT, entry.bank)
        original = banks.open(DEFAULT_TENANT, entry.bank)
        assert copy.last_seq == entry.last_seq < original.last_seq
        assert [event.seq for event in copy.events(1)] == list(range(1, entry.last_seq + 1))
        assert copy.stamp(entry.last_seq) == original.stamp(entry.last_seq)


def test_banks_that_are_closed_and_reloaded_and_deleted_meanwhile_do_no_harm(files: MemoryFiles) -> None:
    banks = banks_on(files, settings=StorageSettings(max_open_banks=1))
    for name in ("a", "b", "c"):
        remembered(banks.open_or_create(DEFAULT_TENANT, name), f"text of {name}")
    chunks = []
    for chunk in Backup(banks, "0", 0):
        banks.open(DEFAULT_TENANT, "b")
        banks.reload(DEFAULT_TENANT, "a")
        if "c" in banks.list():
            banks.delete(DEFAULT_TENANT, "c")
        chunks.append(chunk)
    assert restored(b"".join(chunks), files).list() == ["a", "b"]


def test_a_bank_that_cannot_be_read_is_told_and_the_others_are_there(banks: Banks, files: MemoryFiles) -> None:
    banks.close()
    log = log_path("main")
    files.write(log, files.read(log).replace(b"first of main", b"First of main"))
    content, summary = backed_up(banks_on(files))
    (left_out,) = summary.manifest.left_out
    assert left_out.bank == "main"
    assert "line 2" in left_out.reason
    assert restored(content, files).list() == ["other"]


def test_what_changed_under_an_open_bank_is_not_backed_up(banks: Banks, files: MemoryFiles) -> None:
    banks.open(DEFAULT_TENANT, "main")
    content = files.read(log_path("main"))
    files.write(log_path("main"), content.replace(b"first of main", b"First of main"))
    assert [one.bank for one in backed_up(banks)[1].manifest.left_out] == ["main"]


def test_a_folder_that_holds_anything_is_never_touched(banks: Banks, files: MemoryFiles) -> None:
    content, _ = backed_up(banks)
    with pytest.raises(NotEmpty):
        restored(content, files, DATA)
    files.make_dir(NEW)
    files.write(NEW / "notes.txt", b"mine")
    with pytest.raises(NotEmpty, match="notes"):
        restored(content, files)
    assert files.list_dir(NEW) == ["notes.txt"]
    files.remove(NEW / "notes.txt")
    assert restored(content, files).list() == ["main", "other"]


def spoiled(content: bytes) -> dict[str, bytes]:
    at = content.index(b"first of main")
    return {
        "altered": content[:at] + b"F" + content[at + 1 :],
        "without its end": content[: len(content) // 2],
        "cut inside a file": content[: at + 3],
        "nothing": b"",
        "foreign": b"PK\x03\x04" + b"\0" * 2_000,
        "without a manifest": content[: content.index(MANIFEST.encode())],
    }


@pytest.mark.parametrize("how", sorted(spoiled(b"first of main MANIFEST.json")))
def test_a_spoiled_backup_is_refused_whole(how: str, banks: Banks, files: MemoryFiles) -> None:
    content = spoiled(backed_up(banks)[0])[how]
    with pytest.raises(BackupDamaged):
        restored(content, files)
    assert files.list_dir(Path("/")) == ["data"]


@pytest.mark.parametrize(
    "path",
    ["../x/log.jsonl", "/etc/passwd", "default/../log.jsonl", "default/bank/log.jsonl/x", "default/bank/derived/x",
     "default/bank/rules/../../x.md", "default/bank/rules/.md", "default/bank/rules/a\\b.md", "LOCK", "a/b/c/d/e", ""],
)  # fmt: skip
def test_no_path_of_a_backup_leads_elsewhere(path: str) -> None:
    with pytest.raises(BackupDamaged):
        Place.of(path)


def test_a_disk_that_refuses_anywhere_leaves_nothing_or_all(banks: Banks, files: MemoryFiles) -> None:
    content, _ = backed_up(banks)
    banks.close()
    fails = 0
    for fault_at in range(1, 400):
        files.fault = Fault(files.calls + fault_at)
        try:
            restore(io.BytesIO(content), NEW, files, StorageSettings())
        except MemoryServiceError:
            fails += 1
            files.fault = None
            left = files.list_dir(Path("/"))
            assert left in (["data"], ["data", "restored"])
            if "restored" in left:
                assert check(NEW, files).sound
                files.remove_tree(NEW)
        else:
            break
    files.fault = None
    assert fails > 20
    assert Banks(NEW, StorageSettings(), files, SystemClock()).list() == ["main", "other"]


def test_a_crash_after_the_restore_keeps_it(banks: Banks, files: MemoryFiles) -> None:
    content, _ = backed_up(banks)
    restore(io.BytesIO(content), NEW, files, StorageSettings())
    assert check(NEW, files.after_crash()).sound
    assert files.after_crash().exists(NEW / DEFAULT_TENANT / "main" / "log.jsonl")


def test_on_a_real_disk_an_empty_folder_is_taken(banks: Banks, tmp_path: Path) -> None:
    content, _ = backed_up(banks)
    data = tmp_path / "data"
    data.mkdir()
    restore(io.BytesIO(content), data, DiskFiles(), StorageSettings())
    assert check(data, DiskFiles()).sound
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_read_that_fails_midway_fails_the_backup(banks: Banks, files: MemoryFiles) -> None:
    backup = iter(Backup(banks, "0", 0))
    [next(backup) for _ in range(3)]
    path = log_path("main")
    image = banks.image(DEFAULT_TENANT, "main").log
    files.open_append(path).truncate(10)
    with pytest.raises((StorageFailure, MemoryServiceError)):
        for _ in image.chunks():
            pass
