"""A start reads an image of the state and the events after it; an image that is lost, spoilt or refused costs time."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest
from equal_banks import facts
from faulty_files import Fault, MemoryFiles
from memory_banks import DATA, banks_on, log_path, remembered, saved, texts

from recall.check import check
from recall.memory.bank import Bank
from recall.memory.banks import Banks
from recall.memory.errors import BankDamaged, ReadOnly
from recall.memory.record import (
    LOCAL,
    ImportedMemory,
    InfoChanges,
    MemoryChanges,
    NewMemory,
    Policy,
    Source,
    SourceKind,
    Status,
)
from recall.memory.rule_book import RuleBook
from recall.memory.settings import StorageSettings

IMAGE = log_path().parent / "derived" / "state.image"
EAGER = StorageSettings(image_events=1, image_share=0.0)
Spoil = Callable[[MemoryFiles], None]


def banks(files: MemoryFiles, settings: StorageSettings = EAGER) -> Banks:
    files.forget_locks()
    return banks_on(files, settings=settings)


def lived(bank: Bank) -> None:
    """One of everything that a state holds."""
    first, second = remembered(bank, "one"), remembered(bank, "two")
    gone = saved(bank, NewMemory(text="three", source=Source(SourceKind.TASK, "t1", "s", 3)), LOCAL, "request 1").record
    remembered(bank, "one")
    bank.delete(gone.id)
    again = remembered(bank, "three")
    bank.update(again.id, MemoryChanges(text="four"))  # a text that a memory has and none holds
    bank.import_records([ImportedMemory(id="old", text="one", status=Status.RETIRED)])  # one held by the older of two
    bank.supersede(second.id, first.id)
    bank.update_info(InfoChanges(policy=Policy.OPEN, description="described"))
    RuleBook(bank).set("house", "be kind")


def filled() -> MemoryFiles:
    """A bank that was closed, its image with it."""
    files = MemoryFiles()
    opened = banks(files)
    lived(opened.open_or_create("default", "main"))
    opened.close()
    return files


def state_of(bank: Bank) -> dict[str, object]:
    opened = bank.opened_now()
    assert opened is not None
    return {name: value for name, value in vars(opened.state).items() if not name.startswith("_request")}


def unread(bank: Bank) -> int:
    opened = bank.opened_now()
    assert opened is not None
    return opened.unread


def test_a_bank_from_its_image_is_the_bank_from_its_log_down_to_the_last_map() -> None:
    files = filled()
    from_image = banks(files).open("default", "main")
    assert unread(from_image) == from_image.last_seq
    files.remove(IMAGE)
    from_log = banks(files).open("default", "main")
    assert unread(from_log) == 0
    assert state_of(from_image) == state_of(from_log)
    assert facts(from_image) == facts(from_log)
    assert from_image.requested("request 1")


def test_events_after_the_image_are_read_from_the_log_and_a_torn_one_is_cut() -> None:
    files = filled()
    bank = banks(files).open("default", "main")
    held = unread(bank)
    remembered(bank, "after the image")
    files.replace(log_path(), files.read(log_path()) + b'{"seq":')
    again = banks(files).open("default", "main")  # as after a kill: nobody closed it
    assert (unread(again), again.last_seq) == (held, held + 1)
    assert texts(again)[-1] == "after the image"
    assert check(DATA, files).findings == ()
    remembered(again, "and appended")
    assert check(DATA, files).findings == ()


def cut(files: MemoryFiles) -> None:
    files.replace(IMAGE, files.read(IMAGE)[:-1])


def flip(files: MemoryFiles) -> None:
    content = bytearray(files.read(IMAGE))
    content[len(content) // 2] ^= 1
    files.replace(IMAGE, bytes(content))


def empty(files: MemoryFiles) -> None:
    files.replace(IMAGE, b"")


def of_another_log(files: MemoryFiles) -> None:
    other = banks(files)
    remembered(other.open_or_create("default", "other"), "elsewhere")
    other.close()
    files.replace(IMAGE, files.read(IMAGE.parents[2] / "other" / "derived" / IMAGE.name))


def older_than_a_shorter_log(files: MemoryFiles) -> None:
    files.replace(log_path(), b"".join(files.read(log_path()).splitlines(keepends=True)[:4]))


@pytest.mark.parametrize("spoil", [cut, flip, empty, of_another_log, older_than_a_shorter_log])
def test_an_image_that_does_not_hold_costs_a_read_of_the_log_and_nothing_else(spoil: Spoil) -> None:
    files = filled()
    spoil(files)
    bank = banks(files).open("default", "main")
    assert unread(bank) == 0
    files.remove(IMAGE)
    assert facts(bank) == facts(banks(files).open("default", "main"))


@pytest.mark.parametrize("nth", range(1, 8))
def test_a_disk_that_refuses_the_image_fails_no_close_and_no_start(nth: int) -> None:
    files = MemoryFiles()
    opened = banks(files)
    bank = opened.open_or_create("default", "main")
    lived(bank)
    before = facts(bank)
    files.fault = Fault(files.calls + nth, errno.ENOSPC)
    bank.kept_state.keep(bank)
    files.fault = None
    assert facts(banks(files).open("default", "main")) == before


def test_a_bank_in_use_gets_a_new_image_only_once_it_has_grown() -> None:
    files = MemoryFiles()
    bank = banks(files, StorageSettings(image_events=3, image_share=0.5)).open_or_create("default", "main")
    written = []
    for number in range(12):
        remembered(bank, f"number {number}")
        before = files.read(IMAGE) if files.exists(IMAGE) else b""
        bank.kept_state.keep(bank)
        if files.exists(IMAGE) and files.read(IMAGE) != before:
            written.append(bank.last_seq)
    assert written == [3, 6, 12]


def test_a_flip_in_events_that_a_start_left_out_is_found_told_and_ends_the_writes() -> None:
    files = filled()
    lines = files.read(log_path()).splitlines(keepends=True)
    lines[2] = lines[2].replace(b"two", b"tvo")
    files.replace(log_path(), b"".join(lines))
    opened = banks(files)
    bank = opened.open("default", "main")
    assert opened.verifying.wait(10)
    told = bank.read_only_reason
    assert told is not None
    assert "line 3" in told
    assert "sum does not hold" in told
    with pytest.raises(ReadOnly):
        bank.save([NewMemory(text="too late")])
    opened.close()
    with pytest.raises(BankDamaged):
        banks(files).open("default", "main")


@pytest.mark.parametrize("damage", ["doubled", "removed", "swapped"])
def test_a_chain_that_does_not_hold_is_found_also_where_every_sum_does(damage: str) -> None:
    files = filled()
    lines = files.read(log_path()).splitlines(keepends=True)
    lines[2:4] = {"doubled": [lines[2]] * 2, "removed": [lines[2]], "swapped": [lines[3], lines[2]]}[damage]
    padding = sum(map(len, files.read(log_path()).splitlines(keepends=True))) - sum(map(len, lines))
    files.replace(log_path(), b"".join(lines))
    opened = banks(files)
    if padding:  # the image is of a log of another length: all is read at once
        with pytest.raises(BankDamaged):
            opened.open("default", "main")
        return
    bank = opened.open("default", "main")
    assert opened.verifying.wait(10)
    assert "line 3" in (bank.read_only_reason or "")


def test_a_sound_bank_stays_writable_once_it_is_verified() -> None:
    files = filled()
    opened = banks(files)
    bank = opened.open("default", "main")
    assert opened.verifying.wait(10)
    assert bank.read_only_reason is None
    assert remembered(bank, "still written").text_seq == bank.last_seq


def test_hand_edits_are_taken_in_though_an_image_says_otherwise() -> None:
    files = filled()
    files.replace(log_path(), files.read(log_path()).replace(b'"text":"two"', b'"text":"zwei"'))
    opened = banks(files)
    changes = opened.reload("default", "main")
    assert changes
    opened.close()
    again = banks(files).open("default", "main")
    assert "zwei" in [again.text(record) for record in again.records()]
