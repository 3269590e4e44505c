"""The damage table: what is done to a log, what the reader is told, what a reload and a repair make of it."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from faulty_files import MemoryFiles
from memory_banks import DATA, bank_on, banks_on, log_path, remembered, saved, texts

from recall.check import Severity, check, repair
from recall.memory.bank import Bank
from recall.memory.errors import BankDamaged, Damaged
from recall.memory.record import NewMemory
from recall.memory.settings import StorageSettings

Lines = list[bytes]
ALL = ["one", "zwei é", "三三"]


def a_log() -> tuple[MemoryFiles, Lines]:
    """Lines: 1 the bank, 2 to 4 the texts, 5 a reinforcement of the first."""
    files = MemoryFiles()
    bank = bank_on(files)
    for text in [*ALL, "one"]:
        remembered(bank, text)
    remembered(banks_on_same(files, "other"), "untouched")
    return files, files.read(log_path()).splitlines(keepends=True)


def banks_on_same(files: MemoryFiles, name: str) -> Bank:
    files.forget_locks()
    return banks_on(files).open_or_create("default", name)


def opened(files: MemoryFiles) -> Bank:
    files.forget_locks()
    return banks_on(files).open("default", "main")


def broken_copies(files: MemoryFiles) -> list[str]:
    return [name for name in files.list_dir(log_path().parent) if name.startswith("log.broken-")]


@dataclass(frozen=True)
class Torn:
    """Damage that a crash leaves: mended at once."""

    name: str
    tail: Callable[[Lines], bytes]
    kept: int  # events


TORN = [
    Torn("half a line", lambda lines: b"".join(lines)[:-30], 4),
    Torn(
        "inside a multi-byte character",
        lambda lines: b"".join(lines[:3]) + lines[3][: lines[3].index("三".encode()) + 1],
        3,
    ),
    Torn("one byte of a new line", lambda lines: b"".join(lines) + b"{", 5),
    Torn("a zero-filled tail", lambda lines: b"".join(lines) + bytes(4_096), 5),
    Torn("a zero-filled last line", lambda lines: b"".join(lines[:-1]) + bytes(len(lines[-1])), 4),
    Torn("zeros in the last line", lambda lines: b"".join(lines[:-1]) + lines[-1][:9] + bytes(40) + lines[-1][49:], 4),
]


@pytest.mark.parametrize("torn", TORN, ids=lambda torn: torn.name)
def test_a_torn_tail_is_copied_then_cut_and_the_next_append_is_whole(torn: Torn) -> None:
    files, lines = a_log()
    damaged = torn.tail(lines)
    files.replace(log_path(), damaged)
    [finding] = check(DATA, files).findings
    kept = b"".join(lines[: torn.kept])
    assert (finding.severity, finding.line, finding.offset) == (Severity.NOTE, torn.kept + 1, len(kept))
    for _ in range(2):
        bank = opened(files)
        assert (bank.last_seq, files.read(log_path())) == (torn.kept, kept)
    [copy] = broken_copies(files)
    assert files.read(log_path().with_name(copy)) == damaged[len(kept) :]
    remembered(bank, "appended")
    assert texts(opened(files))[-1] == "appended"
    assert check(DATA, files).findings == ()


def test_a_last_line_that_lacks_only_its_newline_is_kept() -> None:
    files, lines = a_log()
    files.replace(log_path(), b"".join(lines)[:-1])
    assert opened(files).last_seq == 5
    assert files.read(log_path()) == b"".join(lines)
    assert broken_copies(files) == []


def test_cut_at_each_byte_of_its_last_line_every_earlier_event_loads() -> None:
    files, lines = a_log()
    whole, before = b"".join(lines), b"".join(lines[:-1])
    for cut in range(len(before), len(whole)):
        files.replace(log_path(), whole[:cut])
        assert opened(files).last_seq == (5 if cut == len(whole) - 1 else 4)


def test_half_of_a_command_is_never_taken_in() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    before = len(files.read(log_path()))
    bank.save([NewMemory(text=text) for text in ALL])
    whole = files.read(log_path())
    for cut in range(before, len(whole) - 1):
        files.replace(log_path(), whole[:cut])
        assert opened(files).last_seq == 1


@dataclass(frozen=True)
class Damage:
    """Damage that no crash leaves: told with line and reason; then what a reload and a repair make of it."""

    name: str
    made: Callable[[Lines], bytes]
    line: int
    problem: str
    reloaded: list[str] | str  # the live texts, or a word of why it refuses
    repaired: list[str] | str


def flipped(line: bytes, at: int) -> bytes:
    return line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :]


DAMAGE = [
    Damage(
        "a flipped bit in a sum",
        lambda lines: b"".join([*lines[:2], flipped(lines[2], len(lines[2]) - 10), *lines[3:]]),
        3,
        "sum does not hold",
        ALL,
        ALL,
    ),
    Damage(
        "a flipped bit in the syntax",
        lambda lines: b"".join([*lines[:2], flipped(lines[2], 1), *lines[3:]]),
        3,
        "sum does not hold",
        "line 3",
        ["one", "三三"],
    ),
    Damage(
        "a hand-edited text",
        lambda lines: b"".join([*lines[:2], lines[2].replace(b"zwei", b"drei"), *lines[3:]]),
        3,
        "sum does not hold",
        ["one", "drei é", "三三"],
        ["one", "drei é", "三三"],
    ),
    Damage("a doubled line", lambda lines: b"".join([*lines[:3], *lines[2:]]), 4, "seq 3 again", ALL, ALL),
    Damage(
        "a missing line",
        lambda lines: b"".join([*lines[:2], *lines[3:]]),
        3,
        "3 is missing",
        ["one", "三三"],
        ["one", "三三"],
    ),
    Damage(
        "two lines swapped",
        lambda lines: b"".join([*lines[:2], lines[3], lines[2], lines[4]]),
        3,
        "3 is missing",
        ["one", "三三", "zwei é"],
        ["one", "三三", "zwei é"],
    ),
    Damage(
        "the save of a memory that is changed later is gone",
        lambda lines: b"".join([lines[0], *lines[2:]]),
        2,
        "2 is missing",
        "does not exist",
        ["zwei é", "三三"],
    ),
    Damage(
        "a line added by hand",
        lambda lines: b"".join([*lines, b'{"op":"save","id":"mine","text":"by hand"}\n']),
        6,
        "does not end in its sum",
        [*ALL, "by hand"],
        [*ALL, "by hand"],
    ),
    Damage(
        "a last line edited by hand and left without its newline",
        lambda lines: b"".join([*lines[:3], lines[3].replace("三三".encode(), "四四".encode()).removesuffix(b"\n")]),
        4,
        "sum does not hold",
        ["one", "zwei é", "四四"],
        ["one", "zwei é", "四四"],
    ),
    Damage(
        "a line added by hand without a newline",
        lambda lines: b"".join([*lines, b'{"op":"save","id":"mine","text":"by hand"}']),
        6,
        "does not end in its sum",
        [*ALL, "by hand"],
        [*ALL, "by hand"],
    ),
    Damage("an empty line", lambda lines: b"".join([*lines[:2], b"\n", *lines[2:]]), 3, "not an event", ALL, ALL),
    Damage("CRLF", lambda lines: b"".join(lines).replace(b"\n", b"\r\n"), 1, "CRLF", ALL, ALL),
    Damage("a byte order mark", lambda lines: b"\xef\xbb\xbf" + b"".join(lines), 1, "sum does not hold", ALL, ALL),
    Damage(
        "zeros in the middle",
        lambda lines: b"".join([*lines[:2], bytes(99) + b"\n", *lines[2:]]),
        3,
        "zero bytes",
        "line 3",
        ALL,
    ),
    Damage("an empty file", lambda _: b"", 1, "empty", "no event", "no event"),
    Damage("a foreign file", lambda _: b"GIF89a\n\xff\xfe\n", 1, "not an event of this log", "line 1", "no event"),
    Damage("another JSONL", lambda _: b'{"text":"a"}\n' * 2, 1, "does not end in its sum", "line 1", "no event"),
]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.name)
def test_damage_is_told_with_line_offset_and_remedy_and_touches_nothing_else(damage: Damage) -> None:
    files, lines = a_log()
    damaged = damage.made(lines)
    files.replace(log_path(), damaged)
    files.forget_locks()
    banks = banks_on(files)
    for _ in range(2):
        with pytest.raises(BankDamaged, match=damage.problem) as caught:
            banks.open("default", "main")
    told = caught.value
    offset = len(b"\n".join(damaged.split(b"\n")[: damage.line - 1])) + (1 if damage.line > 1 else 0)
    assert (told.bank, told.file, told.line, told.offset) == ("main", log_path(), damage.line, offset)
    assert "recall repair" in told.remedy
    assert files.read(log_path()) == damaged
    assert banks.trouble() == {"main": str(told)}
    assert texts(banks.open("default", "other")) == ["untouched"]
    [finding] = check(DATA, files).findings
    assert (finding.severity, finding.line, finding.offset) == (Severity.DAMAGE, damage.line, offset)


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.name)
def test_a_reload_takes_in_what_can_be_read_or_touches_nothing(damage: Damage) -> None:
    files, lines = a_log()
    damaged = damage.made(lines)
    files.replace(log_path(), damaged)
    files.forget_locks()
    banks = banks_on(files)
    if isinstance(damage.reloaded, str):
        with pytest.raises(BankDamaged, match=damage.reloaded):
            banks.reload("default", "main")
        assert files.read(log_path()) == damaged
        return
    assert banks.reload("default", "main")
    assert banks.trouble() == {}
    assert banks.reload("default", "main") == []
    for bank in (banks.open("default", "main"), opened(files)):
        assert texts(bank) == damage.reloaded
        assert bank.records()[0].corroboration == damaged.count(b'"op":"reinforce"')
    assert files.read(log_path().with_name("log.broken-1")) == damaged


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.name)
def test_a_repair_keeps_what_can_be_read_and_a_copy_of_what_it_found(damage: Damage) -> None:
    files, lines = a_log()
    damaged = damage.made(lines)
    files.replace(log_path(), damaged)
    files.forget_locks()
    if isinstance(damage.repaired, str):
        with pytest.raises(Damaged, match=damage.repaired):
            repair(DATA, "default", "main", files, StorageSettings())
        assert files.read(log_path()) == damaged
        return
    assert repair(DATA, "default", "main", files, StorageSettings())
    assert check(DATA, files).findings == ()
    assert texts(opened(files)) == damage.repaired
    assert files.read(log_path().with_name("log.broken-1")) == damaged


def test_an_edit_while_the_bank_is_open_is_taken_in_by_a_reload_and_said() -> None:
    files, _ = a_log()
    bank = opened(files)
    files.replace(log_path(), files.read(log_path()).replace("三三".encode(), "四四四".encode()))
    changes = bank.reload()
    assert any("line 4" in change and "edited" in change for change in changes)
    assert texts(bank)[-1] == "四四四"
    assert saved(bank, "四四四").record.corroboration == 1
    assert texts(opened(files)) == texts(bank)


def test_an_edit_that_cannot_be_taken_in_leaves_the_open_bank_as_it_was() -> None:
    files, lines = a_log()
    bank = opened(files)
    records = bank.records()
    files.replace(log_path(), b"".join([*lines[:2], b"not json\n", *lines[2:]]))
    with pytest.raises(Damaged, match="line 3"):
        bank.reload()
    assert bank.records() == records


def test_a_text_whose_bytes_changed_since_they_were_verified_is_not_handed_out() -> None:
    files, _ = a_log()
    bank = opened(files)
    files.replace(log_path(), files.read(log_path()).replace(b"zwei", b"drei"))
    with pytest.raises(Damaged, match="line 3"):
        texts(bank)


def test_check_counts_what_it_read_and_finds_nothing_in_a_sound_folder() -> None:
    files, _ = a_log()
    files.forget_locks()
    banks_on(files).delete("default", "other")
    checked = check(DATA, files)
    assert (checked.banks, checked.events, checked.findings, checked.sound) == (2, 7, (), True)
