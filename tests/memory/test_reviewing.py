"""What reviewers do besides deciding: edits, replacements, fallen sources, taking back, and what is told of it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from equal_banks import facts
from faulty_files import MemoryFiles
from memory_banks import bank_on, remembered, reopened, saved
from ticking import START, Ticking

from recall.memory import reviewing
from recall.memory.bank import Bank
from recall.memory.deciding import Decide
from recall.memory.errors import (
    IllegalTransition,
    MemoryServiceError,
    NearDuplicate,
    NothingToUndo,
    NotLive,
    PinnedMemory,
    StaleRevision,
    TextTaken,
)
from recall.memory.falling import SourceFell
from recall.memory.lifecycle import Action
from recall.memory.record import (
    LOCAL,
    Actor,
    Evidence,
    InfoChanges,
    MemoryChanges,
    NewMemory,
    Policy,
    Record,
    Saved,
    Source,
    SourceKind,
    Status,
)
from recall.memory.replacing import Replace
from recall.memory.tally import counted
from recall.review.likeness import near_duplicate

BOT, DANA, JOB = Actor("bot", "agent"), Actor("dana", "reviewer"), Actor("sweep", "job")
TASK = Source(SourceKind.TASK, "7")
NEAR = "The staging database is reset every night at {}"


def nominated(bank: Bank, text: str, source: Source | None = None) -> Record:
    [result] = bank.nominate([NewMemory(text=text, source=source)], BOT)
    assert isinstance(result, Saved), result
    return result.record


def promote(bank: Bank, record: Record) -> Record:
    twin, compared = near_duplicate(bank, record, bank.text(record), START)
    assert twin is None
    return bank.decide(Decide(record.id, Action.PROMOTE, compared=compared), DANA).record


def ops(bank: Bank) -> list[str]:
    return [event.op for event in bank.events(1)][1:]


def test_a_proposal_that_is_edited_waits_on_and_keeps_what_was_said_first() -> None:
    bank = bank_on()
    record = nominated(bank, "harmless but wordy")
    edited = reviewing.edit(bank, record.id, MemoryChanges(text="harmless", title="Harm"), "shorter", DANA)
    assert (edited.record.status, edited.record.title) == (Status.NOMINATED, "Harm")
    history = bank.history(record.id)
    assert [(entry.op, entry.note, entry.text) for entry in history] == [
        ("nominate", "", "harmless but wordy"),
        ("edit", "shorter", "harmless"),
    ]
    with pytest.raises(IllegalTransition):
        reviewing.edit(bank, record.id, MemoryChanges(text="mine"), "", BOT)
    promote(bank, bank.get(record.id))
    with pytest.raises(IllegalTransition):
        reviewing.edit(bank, record.id, MemoryChanges(text="in use already"), "", DANA)


def test_a_replacement_is_one_write_and_says_what_it_took_the_place_of() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    first, second = remembered(bank, "Refunds take five days"), remembered(bank, "Refunds are paid in five days")
    remembered(bank, "Refunds take five days")
    merged = NewMemory(text="Refunds are paid within five days", source=TASK)
    done = reviewing.replace(bank, Replace([first.id, second.id], "", "one rule"), merged, DANA)
    assert done.record.replaces == (first.id, second.id)
    assert done.record.corroboration == 3
    assert [(one.status, one.superseded_by) for one in done.gone] == [(Status.SUPERSEDED, done.record.id)] * 2
    events = list(bank.events(5))
    assert [(event.op, event.more) for event in events] == [("supersede", 2), ("supersede", 1), ("save", 0)]
    assert facts(reopened(files)) == facts(bank)


@pytest.mark.parametrize("case", ["pinned", "gone", "not in use", "text in use", "no such memory"])
def test_a_replacement_that_cannot_be_whole_changes_nothing(case: str) -> None:
    bank = bank_on()
    first, second = remembered(bank, "one of two"), remembered(bank, "the other of two")
    third, text = str(second.id), "both of them"
    expected: type[MemoryServiceError] = MemoryServiceError
    if case == "pinned":
        bank.pin(second.id, True)
        expected = PinnedMemory
    elif case == "gone":
        bank.delete(second.id)
        expected = IllegalTransition
    elif case == "not in use":
        bank.transition(second.id, Action.QUARANTINE, LOCAL)
        expected = NotLive
    elif case == "text in use":
        text = bank.text(remembered(bank, "a third"))
        expected = TextTaken
    else:
        third = "nobody"
    before = facts(bank)
    with pytest.raises(expected):
        reviewing.replace(bank, Replace([first.id, third], ""), NewMemory(text=text), DANA)
    assert facts(bank) == before


def test_the_merged_text_may_be_one_of_those_that_go_and_is_compared_with_the_others_alone() -> None:
    bank = bank_on()
    first, second = remembered(bank, NEAR.format("one")), remembered(bank, "Something else entirely")
    twin, compared = near_duplicate(bank, first, NEAR.format("one"), START, frozenset({first.id, second.id}))
    assert twin is None
    asked = Replace([first.id, second.id], "", compared=compared)
    done = reviewing.replace(bank, asked, NewMemory(text=NEAR.format("one")), DANA)
    assert (done.record.predecessor, done.record.status) == (first.id, Status.ACCEPTED)
    third = remembered(bank, "to be replaced")
    _, compared = near_duplicate(bank, third, NEAR.format("two"), START, frozenset({third.id}))
    before = facts(bank)
    with pytest.raises(NearDuplicate):  # it came into use after what was compared
        reviewing.replace(
            bank, Replace([third.id], "", compared=replace(compared, seq=0)), NewMemory(text=NEAR.format("two")), DANA
        )
    assert facts(bank) == before


def test_a_retried_replacement_changes_nothing() -> None:
    bank = bank_on()
    first = remembered(bank, "old")
    asked = Replace([first.id], "", request_id="r1")
    done = reviewing.replace(bank, asked, NewMemory(text="new"), DANA)
    again = reviewing.replace(bank, asked, NewMemory(text="new"), DANA)
    assert (again.already, again.record, again.gone, again.seq) == (True, done.record, done.gone, done.seq)


def test_a_proposal_takes_the_place_of_what_is_in_use_and_undoing_brings_all_of_it_back() -> None:
    bank = bank_on()
    first, second = remembered(bank, "a rule"), remembered(bank, "a second rule")
    proposal = nominated(bank, "both rules")
    before = facts(bank)
    done = reviewing.replace(bank, Replace([first.id, second.id], proposal.id, "merged"), None, DANA)
    assert (done.record.status, done.record.corroboration) == (Status.ACCEPTED, 2)
    undone = reviewing.undo_decision(bank, proposal.id, "no", DANA)
    assert [one.status for one in undone.restored] == [Status.ACCEPTED] * 2
    after = facts(bank)
    drop = {"revision", "events", "last_seq"}
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert [{k: v for k, v in one.items() if k not in drop} for one in after["memories"]] == [
        {k: v for k, v in one.items() if k not in drop} for one in before["memories"]
    ]
    assert list(bank.events(1))[-1].more == 0


def test_undoing_a_new_merged_memory_retires_it() -> None:
    bank = bank_on()
    first = remembered(bank, "a rule")
    done = reviewing.replace(bank, Replace([first.id], ""), NewMemory(text="a better rule"), DANA)
    undone = reviewing.undo_decision(bank, done.record.id, "", DANA)
    assert (undone.record.status, undone.restored[0].status) == (Status.RETIRED, Status.ACCEPTED)
    assert reviewing.undo_decision(bank, done.record.id, "", DANA).already


@pytest.mark.parametrize("meanwhile", ["pin", "edit", "save"])
def test_nothing_is_undone_once_something_happened_since(meanwhile: str) -> None:
    bank = bank_on()
    if meanwhile == "save":  # a plain save is no decision
        record = remembered(bank, "text")
    else:
        record = promote(bank, nominated(bank, "text"))
        bank.pin(record.id, True) if meanwhile == "pin" else bank.update(record.id, MemoryChanges(author="x"))
    before = facts(bank)
    with pytest.raises(NothingToUndo):
        reviewing.undo_decision(bank, record.id, "", DANA)
    assert facts(bank) == before


def test_a_rejection_is_not_undone_when_its_text_or_source_is_live_again() -> None:
    bank = bank_on()
    record = nominated(bank, "text", TASK)
    bank.transition(record.id, Action.REJECT, DANA, "no")
    nominated(bank, "another text", TASK)
    with pytest.raises(NothingToUndo, match="its source belongs to"):
        reviewing.undo_decision(bank, record.id, "", DANA)


def test_what_stands_on_a_fallen_source_leaves_use_at_once_and_only_once() -> None:
    bank = bank_on()
    record = saved(bank, NewMemory(text="from the task", source=TASK)).record
    other = saved(bank, NewMemory(text="from another", source=Source(SourceKind.TASK, "8"))).record
    fell = reviewing.source_fell(bank, SourceFell(SourceKind.TASK, "7", "retracted"), JOB)
    assert [one.id for one in fell.quarantined] == [record.id]
    assert bank.get(other.id).status is Status.ACCEPTED
    seq = bank.last_seq
    assert reviewing.source_fell(bank, SourceFell(SourceKind.TASK, "7", "retracted"), JOB).quarantined == ()
    assert bank.last_seq == seq
    bank.update_info(InfoChanges(policy=Policy.GOVERNED))
    with pytest.raises(IllegalTransition):
        reviewing.source_fell(bank, SourceFell(SourceKind.TASK, "8", "so I say"), BOT)
    bank.pin(other.id, True)
    left = reviewing.source_fell(bank, SourceFell(SourceKind.TASK, "8", "retracted"), JOB)
    assert (left.quarantined, [one.id for one, _ in left.left]) == ((), [other.id])
    assert reviewing.source_fell(bank, SourceFell(SourceKind.TASK, "8", "retracted"), DANA).quarantined


def test_of_two_near_duplicates_that_are_promoted_at_the_same_time_one_comes_into_use() -> None:
    for _ in range(10):
        bank = bank_on()
        proposals = [nominated(bank, NEAR.format(word)) for word in ("one", "two", "six", "ten")]
        looked = threading.Barrier(len(proposals))

        def attempt(record: Record, bank: Bank = bank, looked: threading.Barrier = looked) -> str:
            twin, compared = near_duplicate(bank, record, bank.text(record), START)
            assert twin is None
            looked.wait()  # all have looked, none has written
            try:
                return bank.decide(Decide(record.id, Action.PROMOTE, compared=compared), DANA).record.status
            except NearDuplicate as error:
                return "refused" if error.score >= 0.72 else "refused for no reason"

        with ThreadPoolExecutor(len(proposals)) as pool:
            results = sorted(pool.map(attempt, proposals))
        assert results == ["accepted", "refused", "refused", "refused"]
        assert ops(bank).count("promote") == 1


def test_a_proposal_that_gets_another_text_between_look_and_promotion_is_not_promoted() -> None:
    bank = bank_on()
    record = nominated(bank, "harmless")
    _, compared = near_duplicate(bank, record, "harmless", START)
    bank.update(record.id, MemoryChanges(text="harmful"), BOT)
    with pytest.raises(StaleRevision):
        bank.decide(Decide(record.id, Action.PROMOTE, compared=compared), DANA)
    assert bank.get(record.id).status is Status.NOMINATED


def test_concurrent_nominations_of_one_source_leave_one_live_memory_and_a_new_one_after_its_end() -> None:
    bank = bank_on()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: nominated(bank, f"text {number}", TASK), range(32)))
    live = [record for record in bank.records() if record.status.live]
    assert len(live) == 1
    assert len(bank.records()) == 1
    bank.transition(live[0].id, Action.REJECT, DANA, "no")
    assert nominated(bank, "said once more", TASK).id != live[0].id


def test_a_memory_ends_to_the_microsecond_for_readers_before_any_sweep() -> None:
    clock = Ticking()
    bank = bank_on(clock=clock)
    end = START + 60_000_000
    record = saved(bank, NewMemory(text="until then", expires_at=end)).record
    for now, live in ((end - 1_000, True), (end - 1, True), (end, False), (end + 1_000, False)):
        assert record.selectable(now) is live
        assert (counted(bank.records(), now).live, counted(bank.records(), now).expired) == (int(live), int(not live))
    assert bank.get(record.id).status is Status.ACCEPTED  # nothing was written yet
    clock.time = end + 1
    bank.expire([record.id], JOB)
    assert bank.get(record.id).status is Status.EXPIRED


def test_a_memory_says_who_put_it_where_it_is_and_an_import_takes_that_along() -> None:
    bank = bank_on()
    evidence = (Evidence("eval-9, long gone", "recall@10", 0.6, 0.7),)
    [result] = bank.nominate([NewMemory(text="said", title="A title", evidence=evidence)], BOT)
    assert isinstance(result, Saved)
    memory_id = result.record.id
    promote(bank, result.record)
    bank.transition(memory_id, Action.QUARANTINE, JOB, "its source fell")
    record = bank.get(memory_id)
    found = reviewing.standing_of(bank, record)
    assert found.nominated is not None
    assert found.promoted is not None
    assert found.decided is not None
    assert (found.nominated.actor, found.promoted.actor, found.decided.actor) == (BOT, DANA, JOB)
    assert (found.decided.op, found.decided.note) == ("quarantine", "its source fell")
    assert (record.title, record.evidence) == ("A title", evidence)
    reviewing.undo_decision(bank, memory_id, "", DANA)
    reviewing.undo_decision(bank, remembered_promotion(bank), "", DANA)


def remembered_promotion(bank: Bank) -> str:
    return promote(bank, nominated(bank, "a promotion of its own")).id


@pytest.mark.parametrize(
    ("evidence", "field"),
    [
        (Evidence(""), "evidence[0].ref"),
        (Evidence("e", before=float("nan")), "evidence[0].before"),
        (Evidence("x" * 257), "evidence[0].ref"),
    ],
)
def test_evidence_that_cannot_be_kept_is_refused_by_name(evidence: Evidence, field: str) -> None:
    [refused] = bank_on().save([NewMemory(text="said", evidence=(evidence,))])
    assert str(refused).startswith(field)
