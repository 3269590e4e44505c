"""A log written anew says what the old one said: after a crash, a fault, a restart, an edit by hand, a restore."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from equal_banks import facts, memories
from faulty_files import Crash, Fault, MemoryFiles, image
from golden_folder import every_op, kept, reviews_and_runs
from memory_banks import DATA, bank_on, banks_on, log_path, saved, texts
from ticking import Ticking

from recall.backup import Backup
from recall.check import Severity, check
from recall.memory import reviewing
from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.beginning import KEPT, OPS_OF_A_VACUUM, VACUUM, History
from recall.memory.clock import SystemClock
from recall.memory.errors import Damaged, HistoryArchived, MemoryServiceError, NoVacuum, ReadOnly
from recall.memory.files import DiskFiles
from recall.memory.lifecycle import Action
from recall.memory.merging import MergeLoser
from recall.memory.record import LOCAL, Actor, MemoryChanges, NewMemory, Outcome
from recall.memory.rule_book import RuleBook
from recall.memory.run_book import RunBook
from recall.memory.segments import Segments, segment_name
from recall.memory.settings import StorageSettings
from recall.memory.standing import Standing
from recall.memory.vacuum import bulk, difference, vacuum
from recall.restore import restore
from recall.review.audit import Wanted, audit_page

SETTINGS = StorageSettings(image_events=1)
FOLDER = log_path().parent
STRIDE = 20
"""Of the states of a moment, that are many while a long file is written, one in so many is looked at."""
REVIEWER = Actor("eve", "reviewer")


def without_seq(bank: Bank) -> object:
    """What a bank says, but how many events it has by now."""
    return {**facts(bank), "last_seq": 0}  # type: ignore[dict-item]


def busy(files: MemoryFiles) -> Bank:
    """A bank that has seen everything."""
    clock = Ticking()
    bank = banks_on(files, clock, SETTINGS).create(DEFAULT_TENANT, "main")
    every_op(bank, clock)
    reviews_and_runs(bank)
    RunBook(bank).record("run-3", "{}", LOCAL, mined=4)
    rules = RuleBook(bank)
    rules.set("style", "# Be brief\n")
    rules.set("style", "# Be very brief\n", REVIEWER)
    rules.set("gone", "# Not for long\n")
    rules.delete("gone")
    return bank


def standings(bank: Bank) -> list[Standing]:
    """Who put each memory where it is."""
    return [reviewing.standing_of(bank, record) for record in bank.records()]


def again(files: MemoryFiles) -> Bank:
    """The bank after a power loss."""
    return banks_on(files.after_crash(), settings=SETTINGS).open(DEFAULT_TENANT, "main")


def small(files: MemoryFiles) -> Bank:
    """A bank with one memory that was said anew, one that is gone, and one as it was saved."""
    bank = bank_on(files)
    first = saved(bank, "Dana lives in Köln")
    bank.update(first.record.id, MemoryChanges(text="Dana lives in Bergen"))
    bank.delete(saved(bank, "gone").record.id)
    saved(bank, "as it was", request_id="request")
    return bank


@pytest.mark.parametrize("times", [1, 3])
def test_a_vacuumed_bank_says_all_that_it_said(times: int) -> None:
    files = MemoryFiles()
    bank = busy(files)
    before, last_seq, stamp = without_seq(bank), bank.last_seq, bank.stamp(bank.last_seq)
    for _ in range(times):
        done = vacuum(bank, History.KEEP, REVIEWER)
    assert done.bytes_after == bank.log_bytes
    assert without_seq(bank) == before
    assert without_seq(again(files)) == before
    assert bank.last_seq == last_seq + times * (2 + len(bank.records()))
    assert bank.stamp(last_seq) == stamp
    assert bank.first_seq == 1
    assert [event.seq for event in bank.events(1)] == list(range(1, bank.last_seq + 1))


def test_a_life_goes_through_all_the_files() -> None:
    files = MemoryFiles()
    bank = small(files)
    memory = bank.records()[0]
    for number in range(3):
        vacuum(bank, History.KEEP, LOCAL)
        bank.update(memory.id, MemoryChanges(text=f"between, {number}"))
        bank.pin(memory.id, number % 2 == 0)
    before = bank.history(memory.id)
    assert [entry.op for entry in before] == ["save", "update", *["update", "pin", "update", "unpin", "update", "pin"]]
    assert [entry.text for entry in before[::2]] == ["Dana lives in Köln", "between, 0", "between, 1", "between, 2"]
    assert again(files).history(memory.id) == before


def test_what_a_vacuum_leaves_is_less() -> None:
    bank = small(MemoryFiles())
    first = bank.records()[0]
    for number in range(50):
        bank.update(first.id, MemoryChanges(text=f"said anew for the {number}th time"))
    before, found = bank.log_bytes, bulk(bank)
    done = vacuum(bank, History.KEEP, LOCAL)
    assert (done.bytes_before, done.bytes_after) == (before, bank.log_bytes)
    assert found.share > 0.8
    assert done.bytes_after < 0.4 * before


def test_a_vacuumed_bank_goes_on() -> None:
    files = MemoryFiles()
    bank = small(files)
    vacuum(bank, History.KEEP, LOCAL)
    assert saved(bank, "as it was", request_id="request").outcome is Outcome.REPEATED
    assert saved(bank, "as it was").outcome is Outcome.REINFORCED
    fresh = saved(bank, "after the vacuum")
    assert fresh.seq == bank.last_seq
    assert [entry.op for entry in bank.history(bank.records()[2].id)] == ["save", "reinforce"]
    before = facts(bank)
    assert facts(again(files)) == before
    bank.close()
    assert facts(again(files)) == before


def test_who_held_a_text_last_holds_it_on() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    first = saved(bank, "the text").record
    bank.update(first.id, MemoryChanges(text="another"))
    second = saved(bank, "the text").record
    bank.delete(second.id)
    bank.update(first.id, MemoryChanges(text="the text"))
    bank.delete(first.id)
    vacuum(bank, History.KEEP, LOCAL)
    assert again(files).holder("the text") == bank.holder("the text")
    assert saved(bank, "the text").record.predecessor == first.id


def test_a_decision_and_a_run_can_be_taken_back_after_a_vacuum() -> None:
    bank = bank_on()
    bank.nominate([NewMemory(text="nominated")], Actor("bot", "agent"))
    waiting = bank.records()[0]
    bank.transition(waiting.id, Action.REJECT, REVIEWER, "no")
    winner, loser = saved(bank, "dark mode").record, saved(bank, "the dark mode").record
    RunBook(bank).merge("run", winner.id, winner.revision, [MergeLoser(loser.id, loser.revision, "same")], LOCAL)
    vacuum(bank, History.KEEP, LOCAL)
    assert reviewing.undo_decision(bank, waiting.id, "yes", REVIEWER).record.status == "nominated"
    assert RunBook(bank).undo("run", LOCAL).restored
    assert bank.get(loser.id).status.live


class TestWhatWasArchivedAndTakenAway:
    """The files of `history` are gone."""

    @pytest.fixture
    def files(self) -> MemoryFiles:
        return MemoryFiles()

    @pytest.fixture
    def before(self, files: MemoryFiles) -> Bank:
        return busy(files)

    @pytest.fixture
    def whole(self, before: Bank) -> tuple[object, list[Standing]]:
        return memories(before), standings(before)

    @pytest.fixture
    def bank(self, files: MemoryFiles, before: Bank, whole: object) -> Bank:  # noqa: ARG002 - as it was first
        vacuum(before, History.ARCHIVE, LOCAL)
        files.remove_tree(FOLDER / "history")
        files.sync_dir(FOLDER)
        return again(files)

    def test_every_memory_is_there_and_who_decided(self, bank: Bank, whole: tuple[object, list[Standing]]) -> None:
        assert (memories(bank), standings(bank)) == whole
        vacuum(bank, History.ARCHIVE, LOCAL)
        assert (memories(bank), standings(bank)) == whole

    def test_a_life_begins_with_how_it_stood(self, bank: Bank) -> None:
        record = bank.records()[0]
        (entry,) = bank.history(record.id)
        assert (entry.op, entry.seq, entry.record, entry.text) == (KEPT, record.text_seq, record, bank.text(record))
        saved(bank, bank.text(record))
        assert [entry.op for entry in bank.history(record.id)] == [KEPT, "reinforce"]
        assert bank.history_length(record, bank.last_seq) == 2

    def test_who_asks_for_more_is_told_where_it_begins(self, bank: Bank) -> None:
        for ask in (lambda: list(bank.events(1)), lambda: bank.event(3), lambda: bank.stamp(2)):
            with pytest.raises(HistoryArchived) as told:
                ask()
            assert told.value.first_seq == bank.first_seq == next(bank.events(bank.first_seq)).seq
        assert RunBook(bank).runs() == []
        assert [bool(rule.text) for rule, _ in RuleBook(bank).revisions("style")] == []

    def test_the_audit_begins_with_the_vacuum(self, bank: Bank) -> None:
        assert [event.op for event in audit_page(bank, Wanted(), 0, 100).events] == [VACUUM]

    def test_the_folder_is_sound(self, files: MemoryFiles, bank: Bank) -> None:
        assert bank.records()
        assert check(DATA, files).sound


def test_a_later_vacuum_goes_on_from_what_is_left() -> None:
    files = MemoryFiles()
    bank = small(files)
    first_end = bank.last_seq
    vacuum(bank, History.KEEP, LOCAL)
    middle = bank.update(bank.records()[0].id, MemoryChanges(text="between")).seq
    vacuum(bank, History.KEEP, LOCAL)
    files.remove(FOLDER / "history" / segment_name(first_end))
    files.sync_dir(FOLDER / "history")
    left = again(files)
    assert left.first_seq == first_end + 1
    assert [(entry.op, entry.seq) for entry in left.history(left.records()[0].id)] == [
        (KEPT, first_end + 2),
        ("update", middle),
    ]
    assert [one.problem for one in check(DATA, files).findings] == ["the file is missing: histories begin later"]


def test_damage_in_the_history_is_told_and_keeps_no_bank_from_opening() -> None:
    files = MemoryFiles()
    bank = small(files)
    path = FOLDER / "history" / segment_name(bank.last_seq)
    vacuum(bank, History.KEEP, LOCAL)
    content = files.read(path)
    files.write(path, content[:-30] + b"x" + content[-29:])
    spoilt = again(files)
    assert texts(spoilt) == ["Dana lives in Bergen", "as it was"]
    with pytest.raises(Damaged):
        spoilt.history(spoilt.records()[0].id)
    (found,) = check(DATA, files).findings
    assert (found.file, found.severity) == (path, Severity.DAMAGE)


@pytest.mark.parametrize("history", list(History))
def test_a_backup_holds_the_history_that_is_kept(history: History, tmp_path: Path) -> None:
    banks = Banks(tmp_path / "data", StorageSettings(), DiskFiles(), SystemClock())
    bank = banks.create(DEFAULT_TENANT, "main")
    kept(bank, "said")
    kept(bank, "said")
    vacuum(bank, history, LOCAL)
    backup = b"".join(Backup(banks, "0", 0))
    restore(io.BytesIO(backup), tmp_path / "restored", DiskFiles(), StorageSettings())
    there = Banks(tmp_path / "restored", StorageSettings(), DiskFiles(), SystemClock()).open(DEFAULT_TENANT, "main")
    assert memories(there) == memories(bank)
    assert [entry.op for entry in there.history(there.records()[0].id)] == (
        ["save", "reinforce"] if history is History.KEEP else [KEPT]
    )


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lambda log: log.replace(b"Dana lives in Bergen", b"Dana lives in Oslo"), ["Dana lives in Oslo", "as it was"]),
        (lambda log: b"\n".join(line for line in log.split(b"\n") if b"Bergen" not in line), ["as it was"]),
        (lambda log: log.replace(b'"mined":-1', b'"mined":0'), ["Dana lives in Bergen", "as it was"]),
    ],
    ids=["a text", "a memory less", "nothing"],
)
def test_a_vacuumed_log_may_be_edited_by_hand(edit: Callable[[bytes], bytes], found: list[str]) -> None:
    files = MemoryFiles()
    bank = small(files)
    vacuum(bank, History.KEEP, LOCAL)
    first_end = next(event.seq for event in bank.events(1) if event.op == VACUUM)
    files.write(log_path(), edit(files.read(log_path())))
    bank.reload()
    assert texts(bank) == texts(again(files)) == found
    assert next(bank.events(first_end)).op == VACUUM
    assert check(DATA, files).sound
    assert [entry.op for entry in bank.history(bank.records()[-1].id)] == ["save"]


@pytest.mark.parametrize("cut", [1, 2, 4], ids=["the end mark", "a memory", "all but the first line"])
def test_a_log_that_lacks_a_part_of_its_beginning_is_damaged(cut: int) -> None:
    files = MemoryFiles()
    vacuum(small(files), History.KEEP, LOCAL)
    lines = files.read(log_path()).splitlines(keepends=True)
    files.write(log_path(), b"".join(lines[:-cut]))
    with pytest.raises(Damaged, match="not all that a vacuum kept"):
        again(files)


def test_every_state_a_crash_may_leave_says_what_was_said() -> None:
    moments: list[Crash] = []
    known: set[int] = set()
    files = MemoryFiles(on_operation=lambda files: moments.append(Crash.now(files)))
    bank = small(files)
    before = without_seq(bank)
    moments.clear()
    vacuum(bank, History.KEEP, LOCAL)
    begun = {True: 0, False: 0}
    for moment in moments:
        for found in moment.states(STRIDE):
            state = hash(image(found))
            if state in known:
                continue
            known.add(state)
            left = banks_on(found).open(DEFAULT_TENANT, "main")
            assert without_seq(left) == before
            begun[left.event(left.last_seq).op in OPS_OF_A_VACUUM] += 1
            vacuum(left, History.KEEP, LOCAL)
            assert without_seq(again(found)) == before
            assert check(DATA, found).sound
    assert begun[True]
    assert begun[False] > 100


def test_whatever_the_disk_refuses_the_bank_says_what_it_said() -> None:
    refused = 0
    for nth in count(1):
        files = MemoryFiles()
        bank = small(files)
        before = without_seq(bank)
        files.fault, files.calls = Fault(nth, errno.ENOSPC), 0
        try:
            vacuum(bank, History.KEEP, LOCAL)
            done = True
        except MemoryServiceError:
            done, refused = False, refused + 1
        calls, files.fault = files.calls, None
        assert without_seq(bank) == before
        try:
            saved(bank, "after the fault")
        except ReadOnly:
            bank.reload()
            saved(bank, "after the fault")
        assert texts(again(files))[-1] == "after the fault"
        if done and calls < nth:
            break
    assert refused > 10


def test_what_is_written_meanwhile_is_in_the_new_log(monkeypatch: pytest.MonkeyPatch) -> None:
    files = MemoryFiles()
    bank = small(files)
    rewrite = bank.rewrite
    monkeypatch.setattr(bank, "rewrite", lambda write: (saved(bank, "written meanwhile"), rewrite(write)))
    done = vacuum(bank, History.KEEP, LOCAL)
    assert done.archived_to == next(event.seq for event in bank.events(1) if event.op == VACUUM) - 1
    assert texts(bank) == texts(again(files)) == ["Dana lives in Bergen", "as it was", "written meanwhile"]
    assert [entry.op for entry in bank.history(bank.records()[-1].id)] == ["save"]
    assert check(DATA, files).sound


def test_a_bank_that_was_read_anew_meanwhile_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    files = MemoryFiles()
    bank = small(files)
    before = files.read(log_path())
    rewrite = bank.rewrite
    monkeypatch.setattr(bank, "rewrite", lambda write: (bank.reload(), rewrite(write)))
    with pytest.raises(NoVacuum, match="try again"):
        vacuum(bank, History.KEEP, LOCAL)
    assert files.read(log_path()) == before


def test_what_is_not_what_the_bank_holds_replaces_nothing() -> None:
    one, other = small(MemoryFiles()), small(MemoryFiles())
    states = [opened.state for bank in (one, other) if (opened := bank.opened_now()) is not None]
    assert difference(*states).startswith("memory")  # ids differ
    assert difference(states[0], states[0]) == ""
    files = MemoryFiles()
    bank = small(files)
    mirror = again(files).opened_now()
    opened = bank.opened_now()
    assert mirror is not None
    assert opened is not None
    assert difference(opened.state, mirror.state) == ""
    mirror.state.mined = 7
    assert difference(opened.state, mirror.state) == "mined"


def test_a_member_of_the_history_is_read_alone() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    for number in range(40):
        bank.save([NewMemory(text=f"{number} {place} {'x' * 400}") for place in range(20)])
    vacuum(bank, History.KEEP, LOCAL)
    opened = bank.opened_now()
    assert opened is not None
    before: Segments = opened.log.before
    assert [before.event(seq).seq for seq in (1, 2, 400, 801)] == [1, 2, 400, 801]
    assert [event.seq for event in before.read(397, 402)] == list(range(397, 403))
