"""A merge is one write that can be taken back; whoever wrote meanwhile wins."""

from collections.abc import Callable

import pytest
from faulty_files import Crash, MemoryFiles
from memory_banks import DATA, bank_on, log_path, remembered, reopened, saved
from ticking import Ticking

from recall.check import check
from recall.memory.bank import Bank
from recall.memory.errors import IllegalTransition, PinnedMemory, RunNotFound
from recall.memory.lifecycle import Role
from recall.memory.merging import Merged, MergeLoser
from recall.memory.record import LOCAL, Actor, MemoryChanges, NewMemory, Record, Source, SourceKind, Status
from recall.memory.run_book import RunBook

JOB = Actor("consolidate", Role.JOB)
RUN = "run-1"
HOUR = 3_600_000_000


def loser_of(record: Record, why: str = "same wording") -> MergeLoser:
    return MergeLoser(record.id, record.revision, why)


def merged(bank: Bank, winner: Record, *losers: Record, run: str = RUN, actor: Actor = JOB) -> Merged:
    return RunBook(bank).merge(run, winner.id, winner.revision, [loser_of(loser) for loser in losers], actor)


def pair(bank: Bank) -> tuple[Record, Record]:
    winner = saved(bank, NewMemory(text="Dana likes dark mode", tags=("ui",), entities=("dana",))).record
    saved(bank, "Dana likes the dark mode")
    loser = saved(bank, NewMemory(text="Dana likes the dark mode", tags=("ui", "taste"))).record
    bank.update(loser.id, MemoryChanges(entities=("dana", "dark mode")))
    return winner, bank.get(loser.id)


def substance(record: Record) -> tuple[object, ...]:
    """What a memory says and how much it counts."""
    return (record.status, record.tags, record.entities, record.corroboration, record.superseded_by, record.text_hash)


def test_the_winner_gets_what_the_losers_bring_and_history_says_why() -> None:
    bank = bank_on()
    winner, loser = pair(bank)
    result = merged(bank, winner, loser)
    after = bank.get(winner.id)
    assert (after.corroboration, after.tags, after.entities) == (2, ("ui", "taste"), ("dana", "dark mode"))
    assert (result.winner, result.losers, result.moved) == (after, (bank.get(loser.id),), ())
    assert (bank.get(loser.id).status, bank.get(loser.id).superseded_by) == (Status.SUPERSEDED, winner.id)
    last = bank.history(loser.id)[-1]
    assert (last.op, last.note, last.actor) == ("supersede", "same wording", JOB)


def test_a_merge_of_many_is_one_physical_write() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    records = [remembered(bank, f"note {number}") for number in range(5)]
    first = bank.last_seq + 1
    merged(bank, *records)
    assert {event.first_of_write for event in bank.events(first)} == {first}
    assert [event.more for event in bank.events(first)] == list(range(7, -1, -1))


def test_a_crash_at_any_moment_leaves_the_whole_merge_or_none_of_it() -> None:
    moments: list[Crash] = []
    files = MemoryFiles()
    bank = bank_on(files)
    winner, loser, other = (remembered(bank, text) for text in ("one", "two", "three"))
    files._on_operation = lambda files: moments.append(Crash.now(files))
    merged(bank, winner, loser, other)
    seen = set()
    for state in (state for moment in moments for state in moment.states()):
        after = reopened_from(state)
        statuses = tuple(after.get(record.id).status for record in (winner, loser, other))
        seen.add((statuses, after.get(winner.id).corroboration))
        assert merged(after, after.get(winner.id), *(r for r in map(after.get, (loser.id, other.id)) if r.status.live))
    gone, kept = Status.SUPERSEDED, Status.ACCEPTED
    assert seen == {((kept, kept, kept), 0), ((kept, gone, gone), 2)}


def reopened_from(files: MemoryFiles) -> Bank:
    files.forget_locks()
    return bank_on(files)


def edit(bank: Bank, record: Record) -> None:
    bank.update(record.id, MemoryChanges(text="something else"))


def pin(bank: Bank, record: Record) -> None:
    bank.pin(record.id, True)


def delete(bank: Bank, record: Record) -> None:
    bank.delete(record.id)


def save_again(bank: Bank, record: Record) -> None:
    remembered(bank, bank.text(record))


@pytest.mark.parametrize("write", [edit, pin, delete, save_again])
def test_a_loser_written_meanwhile_stays_as_it_is_and_is_told(write: Callable[[Bank, Record], None]) -> None:
    bank = bank_on()
    winner, loser, other = (remembered(bank, text) for text in ("one", "two", "three"))
    write(bank, loser)
    kept = bank.get(loser.id)
    result = merged(bank, winner, loser, other)
    assert bank.get(loser.id) == kept
    assert [moved.id for moved in result.moved] == [loser.id]
    assert [gone.id for gone in result.losers] == [other.id]


@pytest.mark.parametrize("write", [edit, pin, delete, save_again])
def test_a_winner_written_meanwhile_keeps_all_its_losers(write: Callable[[Bank, Record], None]) -> None:
    bank = bank_on()
    winner, loser = (remembered(bank, text) for text in ("one", "two"))
    write(bank, winner)
    before = bank.last_seq
    result = merged(bank, winner, loser)
    assert (result.winner, [moved.id for moved in result.moved]) == (None, [loser.id])
    assert (bank.get(loser.id), bank.last_seq) == (loser, before)


def test_a_pinned_memory_is_never_a_loser_and_may_win() -> None:
    bank = bank_on()
    one, two = (bank.pin(remembered(bank, text).id, True).record for text in ("one", "two"))
    assert [moved.problem for moved in merged(bank, one, two).moved] == ["is pinned"]
    three = remembered(bank, "three")
    assert [gone.id for gone in merged(bank, one, three).losers] == [three.id]


def test_merging_again_writes_nothing() -> None:
    bank = bank_on()
    winner, loser = pair(bank)
    merged(bank, winner, loser)
    before = bank.last_seq
    assert merged(bank, bank.get(winner.id), bank.get(loser.id)).losers == ()
    assert merged(bank, winner, winner).losers == ()
    assert bank.last_seq == before


@pytest.mark.parametrize("role", [Role.READER, Role.AGENT])
def test_an_agent_can_neither_merge_nor_undo(role: Role) -> None:
    bank = bank_on()
    winner, loser = pair(bank)
    with pytest.raises(IllegalTransition):
        merged(bank, winner, loser, actor=Actor("agent", role))
    merged(bank, winner, loser)
    before = bank.last_seq
    for actor in (Actor("agent", role), JOB):
        with pytest.raises(IllegalTransition):
            RunBook(bank).undo(RUN, actor)
    assert bank.last_seq == before


def test_tidying_does_not_make_old_statements_recent() -> None:
    clock = Ticking()
    bank = bank_on(clock=clock)
    winner, loser = (
        saved(bank, NewMemory(text=text, created_at=clock.time - age * HOUR)).record
        for text, age in (("one", 900), ("two", 500))
    )
    clock.time += 1_000 * HOUR
    after = merged(bank, winner, loser).winner
    assert after is not None
    assert after.updated_at == loser.created_at


def test_the_names_of_a_winner_stay_within_the_limit_and_undoing_takes_only_those_that_came() -> None:
    bank = bank_on()
    winner = saved(bank, NewMemory(text="one", tags=tuple(f"w{n}" for n in range(14)))).record
    loser = saved(bank, NewMemory(text="two", tags=("w1", *(f"l{n}" for n in range(6))))).record
    after = merged(bank, winner, loser).winner
    assert after is not None
    assert after.tags == (*winner.tags, "l0", "l1")
    RunBook(bank).undo(RUN, LOCAL)
    assert bank.get(winner.id).tags == winner.tags


def test_undoing_puts_everything_back_as_it_was_also_after_a_restart() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    winner, loser = pair(bank)
    other = remembered(bank, "three")
    merged(bank, winner, loser, other)
    RunBook(bank).record(RUN, '{"superseded":2}', JOB)
    bank = reopened(files)
    undone = RunBook(bank).undo(RUN, LOCAL)
    assert {record.id for record in undone.restored} == {loser.id, other.id}
    for record in (winner, loser, other):
        assert substance(bank.get(record.id)) == substance(record)
    assert bank.get(loser.id).updated_at == loser.updated_at
    assert RunBook(bank).run(RUN).undone
    assert saved(bank, "three").record.id == other.id


def test_undoing_twice_or_after_a_new_merge_changes_nothing_more() -> None:
    bank = bank_on()
    winner, loser = pair(bank)
    merged(bank, winner, loser)
    RunBook(bank).undo(RUN, LOCAL)
    merged(bank, bank.get(winner.id), bank.get(loser.id), run="run-2")
    before = bank.last_seq
    assert RunBook(bank).undo(RUN, LOCAL).restored == ()
    assert bank.last_seq == before
    assert [record.id for record in RunBook(bank).undo("run-2", LOCAL).restored] == [loser.id]
    assert substance(bank.get(winner.id)) == substance(winner)


def test_a_loser_whose_text_or_source_was_taken_meanwhile_stays_superseded() -> None:
    bank = bank_on()
    source = Source(kind=SourceKind.TASK, id="T-1")
    winner, by_text = (remembered(bank, text) for text in ("one", "two"))
    by_source = saved(bank, NewMemory(text="three", source=source)).record
    merged(bank, winner, by_text, by_source)
    remembered(bank, "two")
    saved(bank, NewMemory(text="four", source=source))
    undone = RunBook(bank).undo(RUN, LOCAL)
    assert undone.restored == ()
    assert {moved.id for moved in undone.moved} == {by_text.id, by_source.id}
    assert bank.get(winner.id).corroboration == 2


def test_a_text_that_was_taken_and_let_go_again_comes_back_to_its_memory() -> None:
    bank = bank_on()
    winner, loser = (remembered(bank, text) for text in ("one", "two"))
    merged(bank, winner, loser)
    bank.delete(remembered(bank, "two").id)
    assert [record.id for record in RunBook(bank).undo(RUN, LOCAL).restored] == [loser.id]
    assert remembered(bank, "two").id == loser.id


def test_losers_come_back_when_the_winner_is_gone() -> None:
    bank = bank_on()
    winner, loser = pair(bank)
    merged(bank, winner, loser)
    bank.delete(winner.id)
    assert [record.id for record in RunBook(bank).undo(RUN, LOCAL).restored] == [loser.id]


def test_runs_are_listed_newest_first_and_survive_a_restart() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    records = [remembered(bank, f"note {number}") for number in range(4)]
    merged(bank, records[0], records[1], run="a")
    RunBook(bank).record("a", "{}", JOB, mined=7)
    merged(bank, records[2], records[3], run="b")  # and then a crash: no record of its end
    bank = reopened(files)
    book = RunBook(bank)
    assert book.runs() == ["b", "a"]
    assert (book.run("a").report, book.run("b").report, book.mined) == ("{}", "", 7)
    assert [(given.winner_id, given.loser_id) for given in book.run("b").given] == [(records[2].id, records[3].id)]
    with pytest.raises(RunNotFound):
        RunBook(bank).run("c")


def test_a_log_with_merges_and_undone_runs_is_sound_and_takes_hand_edits() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    winner, loser = pair(bank)
    merged(bank, winner, loser)
    RunBook(bank).record(RUN, "{}", JOB)
    RunBook(bank).undo(RUN, LOCAL)
    assert check(DATA, files).sound
    edited = files.read(log_path()).replace(b"Dana likes dark mode", b"Dana likes dark walls")
    files.write(log_path(), edited)
    assert bank.reload()
    assert substance(bank.get(loser.id)) == substance(loser)
    assert RunBook(bank).run(RUN).undone


def test_a_pinned_loser_is_refused_to_a_job_by_the_plain_verb_too() -> None:
    bank = bank_on()
    winner, loser = pair(bank)
    bank.pin(loser.id, True)
    with pytest.raises(PinnedMemory):
        bank.supersede(loser.id, winner.id, JOB)
