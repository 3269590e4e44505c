"""A reader whose record is older than the log gets the text of that memory or hears that it is gone."""

from __future__ import annotations

import pytest
from faulty_files import MemoryFiles
from memory_banks import bank_on, banks_on, log_path, remembered
from ranked_bank import RankedBank

from recall.memory.banks import DEFAULT_TENANT
from recall.memory.errors import MemoryNotFound


def without_first_memory(log: bytes) -> bytes:
    """Without its line; the line before is about the bank."""
    bank, _, *others = log.splitlines(keepends=True)
    return b"".join((bank, *others))


@pytest.mark.parametrize("texts", [(), ("another",), ("another", "and one more")], ids=str)
def test_a_bank_made_anew_under_the_name_has_no_text_for_memories_of_the_old_one(texts: tuple[str, ...]) -> None:
    banks = banks_on()
    old = banks.create(DEFAULT_TENANT, "main")
    first, second = remembered(old, "one"), remembered(old, "two")
    banks.delete(DEFAULT_TENANT, "main")
    new = banks.create(DEFAULT_TENANT, "main")
    for text in texts:
        remembered(new, text)
    for gone in (first, second):
        with pytest.raises(MemoryNotFound):
            old.text(gone)


def test_a_record_from_before_a_hand_edit_has_the_text_of_its_memory() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    first, second, third = (remembered(bank, text) for text in ("one", "two", "three"))
    bank.pin(third.id, True)
    files.replace(log_path(), without_first_memory(files.read(log_path())))
    bank.reload()
    assert [bank.text(second), bank.text(third)] == ["two", "three"]
    with pytest.raises(MemoryNotFound):
        bank.text(first)


def test_a_recall_that_outlives_a_hand_edit_leaves_out_what_is_gone(small: RankedBank) -> None:
    small.save("the otter swims", "the otter sleeps", "the otter eats")
    small.bank.unsubscribe(small.index)  # it has found its candidates, and hears of nothing
    log = small.bank.place.log
    log.write_bytes(without_first_memory(log.read_bytes()))
    small.bank.reload()
    assert sorted(small.texts("otter")) == ["the otter eats", "the otter sleeps"]
