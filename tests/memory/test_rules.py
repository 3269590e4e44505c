"""Rules: the log is the truth, the file its copy; hand edits come in by a reload; no crash leaves the two apart."""

from __future__ import annotations

import errno
from itertools import islice

import pytest
from faulty_files import Crash, Fault, MemoryFiles
from memory_banks import DATA, bank_on, banks_on, log_path, reopened, texts

from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT
from recall.memory.errors import (
    Damaged,
    InvalidField,
    RuleEditedByHand,
    RuleNotFound,
    StaleRule,
    StorageFailure,
)
from recall.memory.names import LIMITS
from recall.memory.record import Actor, InfoChanges, ScopeKind
from recall.memory.rule_book import RuleBook
from recall.memory.rules import LEARNED_HEAD

EVERY = 7
"""Of the states that a crash may leave, one in so many is opened."""
FOLDER = DATA / DEFAULT_TENANT / "main" / "rules"
JOB = Actor("bot", "job")


def said(bank: Bank) -> dict[str, str]:
    return {rule.name: rule.text for rule in RuleBook(bank).in_force()}


def on_disk(files: MemoryFiles) -> dict[str, str]:
    return {
        name.removesuffix(".md"): files.read(FOLDER / name).decode("utf-8", "replace")
        for name in files.list_dir(FOLDER)
        if name.endswith(".md")
    }


def write_by_hand(files: MemoryFiles, name: str, text: bytes) -> None:
    files.make_dir(FOLDER)
    files.write(FOLDER / name, text)
    files.sync_dir(FOLDER)
    files.sync_dir(FOLDER.parent)


def test_a_rule_is_written_read_revised_and_taken_out_of_use() -> None:
    files = MemoryFiles()
    book = RuleBook(bank := bank_on(files))
    assert book.set("style", "Write short.\r\n", Actor("dana", "reviewer")).rule.revision == 1
    assert book.set("style", "Write short.").seq == 0
    assert book.set("style", "Write shorter.", expected_revision=1).rule.revision == 2
    assert (said(bank), on_disk(files)) == ({"style": "Write shorter.\n"},) * 2
    assert [(rule.text, actor.id) for rule, actor in book.revisions("style")] == [
        ("Write short.\n", "dana"),
        ("Write shorter.\n", "local"),
    ]
    book.delete("style", expected_revision=2)
    assert (said(bank), on_disk(files)) == ({}, {})
    assert [rule.text for rule, _ in book.revisions("style")] == ["Write short.\n", "Write shorter.\n", ""]
    assert book.set("style", "Again.", expected_revision=0).rule.revision == 4
    assert said(reopened(files)) == {"style": "Again.\n"}


@pytest.mark.parametrize("name", ["", ".", "..", "../log", "a/b", "Style", "a" * 65, "style.md", "a\0"])
def test_a_name_that_is_no_name_is_refused(name: str) -> None:
    book = RuleBook(bank_on())
    with pytest.raises(InvalidField, match="name"):
        book.set(name, "text")
    with pytest.raises(InvalidField, match="name"):
        book.delete(name)


@pytest.mark.parametrize("text", ["", " \n", "a\0b", "a" * LIMITS.rule, "\ud800"])
def test_a_text_that_is_none_is_refused(text: str) -> None:
    book = RuleBook(bank := bank_on())
    with pytest.raises(InvalidField, match="text"):
        book.set("style", text)
    assert (said(bank), bank.last_seq) == ({}, 1)


def test_a_stale_writer_a_missing_rule_and_one_rule_too_many_are_refused_and_write_nothing() -> None:
    book = RuleBook(bank := bank_on())
    for number in range(LIMITS.rules):
        book.set(f"rule-{number}", "text")
    seq = bank.last_seq
    with pytest.raises(InvalidField, match="one rule more"):
        book.set("one-more", "text")
    with pytest.raises(StaleRule):
        book.set("rule-1", "other", expected_revision=0)
    with pytest.raises(RuleNotFound):
        book.delete("nothing")
    assert bank.last_seq == seq


def test_the_learned_rule_grows_by_lines_it_does_not_have_and_no_other_rule_is_touched() -> None:
    book = RuleBook(bank := bank_on())
    book.set("hand", "Mine alone.")
    assert book.learn(["Use tabs.", "use  TABS", "Say please"], JOB) == [True, False, True]
    assert book.learn(["- Use tabs!"], JOB) == [False]
    assert said(bank) == {"hand": "Mine alone.\n", "learned": f"{LEARNED_HEAD}- Use tabs.\n- Say please\n"}
    with pytest.raises(InvalidField, match=r"texts\[1\]"):
        book.learn(["fine", " "], JOB)
    book.set("learned", "x" * (LIMITS.rule - 9))
    with pytest.raises(InvalidField, match="texts"):
        book.learn(["one line more than it holds"], JOB)
    assert len(said(bank)["learned"]) <= LIMITS.rule


def test_a_hand_edit_is_left_alone_until_a_reload_makes_it_a_revision() -> None:
    files = MemoryFiles()
    book = RuleBook(bank := bank_on(files))
    book.set("style", "Write short.")
    write_by_hand(files, "style.md", b"Write long.")
    write_by_hand(files, "fresh.md", b"New by hand.\n")
    write_by_hand(files, "Bad Name.md", b"text")
    write_by_hand(files, "bytes.md", b"\xff\xfe")
    assert said(bank) == said(reopened(files)) == {"style": "Write short.\n"}
    assert book.edited_by_hand("style")
    with pytest.raises(RuleEditedByHand):
        book.set("style", "Over it.")
    changes = bank.reload()
    assert [change.partition(" ")[0] for change in changes] == [
        "rules/Bad",
        "rules/bytes.md",
        "rules/fresh.md",
        "rules/style.md",
    ]
    assert said(bank) == {"fresh": "New by hand.\n", "style": "Write long.\n"}
    assert on_disk(files)["style"] == "Write long.\n"
    assert book.revisions("style")[-1][1].id == "hand"
    assert [change for change in bank.reload() if "not taken in" not in change] == []


def test_a_file_that_went_missing_is_written_again() -> None:
    files = MemoryFiles()
    RuleBook(bank_on(files)).set("style", "Write short.")
    files.remove(FOLDER / "style.md")
    files.sync_dir(FOLDER)
    reopened(files)
    again = files.after_crash()
    banks_on(again).open(DEFAULT_TENANT, "main")
    assert on_disk(again) == {"style": "Write short.\n"}


def test_a_log_cannot_name_a_file_outside_its_folder() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    RuleBook(bank).set("style", "Write short.")
    edited = files.read(log_path()).replace(b'"name":"style"', b'"name":"../../x"')
    files.replace(log_path(), edited)
    with pytest.raises(Damaged):
        bank.reload()


def test_a_disk_that_refuses_the_file_loses_no_rule_and_one_that_refuses_the_log_writes_none() -> None:
    outcomes = set()
    for nth in range(1, 14):
        files = MemoryFiles()
        book = RuleBook(bank := bank_on(files))
        book.set("style", "Old.")
        files.fault = Fault(files.calls + nth, errno.EIO)
        try:
            book.set("style", "New.")
            expected = {"style": "New.\n"}
        except StorageFailure:
            expected = {"style": "Old.\n"}
        files.fault = None
        outcomes.add(expected["style"])
        assert said(bank) == expected
        after = files.after_crash()
        assert said(banks_on(after).open(DEFAULT_TENANT, "main")) == expected
        assert on_disk(after) == expected
    assert outcomes == {"Old.\n", "New.\n"}


def test_whatever_a_crash_leaves_acknowledged_rules_are_there_and_their_files_say_the_same() -> None:
    crashes: list[Crash] = []
    files = MemoryFiles(on_operation=lambda now: crashes.append(Crash.now(now)))
    book = RuleBook(bank_on(files))
    steps = (
        lambda: book.set("style", "One."),
        lambda: book.set("style", "Two."),
        lambda: book.learn(["Use tabs"], JOB),
        lambda: book.delete("style"),
        lambda: book.set("style", "Three."),
        lambda: book.learn(["Say please"], JOB),
    )
    states = 0
    for step in steps:
        before = said(reopened(files))
        crashes.clear()
        step()
        after = said(reopened(files))
        for crash in crashes:
            for left in islice(crash.states(), 0, None, EVERY):
                states += 1
                bank = banks_on(left).open(DEFAULT_TENANT, "main")
                assert said(bank) in (before, after)
                assert on_disk(left) == said(bank)
                assert bank.reload() == []
        for left in islice(Crash.now(files).states(), 0, None, EVERY):
            assert said(banks_on(left).open(DEFAULT_TENANT, "main")) == after
    assert states >= 100


def test_rules_go_to_the_trash_and_come_back_with_their_bank_and_are_in_its_image() -> None:
    files = MemoryFiles()
    banks = banks_on(files)
    RuleBook(banks.create(DEFAULT_TENANT, "main")).set("style", "Write short.")
    image = banks.image(DEFAULT_TENANT, "main")
    assert [(rule.name, rule.content) for rule in image.rules] == [("style.md", b"Write short.\n")]
    trashed = banks.delete(DEFAULT_TENANT, "main")
    assert said(banks.create(DEFAULT_TENANT, "main")) == {}
    assert said(banks.restore(DEFAULT_TENANT, trashed.trash_id, "again")) == {"style": "Write short.\n"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        (InfoChanges(scope_kind=ScopeKind.AGENT), "scope_ref"),
        (InfoChanges(scope_ref="mara"), "scope_ref"),
        (InfoChanges(scope_kind=ScopeKind.WORKSPACE, scope_ref="x"), "scope_ref"),
        (InfoChanges(preamble="p" * 2_001), "preamble"),
        (InfoChanges(agents=tuple(map(str, range(65)))), "agents"),
    ],
)
def test_a_scope_that_is_none_is_refused(changes: InfoChanges, field: str) -> None:
    bank = bank_on()
    with pytest.raises(InvalidField, match=field):
        bank.update_info(changes)


def test_a_scope_is_kept_and_a_stamp_of_use_moves_nothing_else_and_needs_no_sync() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    bank.update_info(InfoChanges(scope_kind=ScopeKind.AGENT, scope_ref=" mara ", agents=("mara", "mara", "")))
    assert (bank.info.scope_ref, bank.info.agents, bank.used.at) == ("mara", ("mara",), 0)
    seq, calls = bank.last_seq, files.calls
    bank.used.stamp(5)
    bank.used.stamp(4)
    assert (bank.used.at, bank.last_seq, files.calls) == (5, seq, calls)
    bank.used.keep()
    files.sync_dir(FOLDER.parent)
    assert (reopened(files).used.at, texts(bank)) == (5, [])
