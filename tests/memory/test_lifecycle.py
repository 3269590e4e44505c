"""The closed table, over every status, action and role."""

from itertools import product

import pytest
from faulty_files import MemoryFiles
from memory_banks import bank_on, remembered, reopened
from ticking import START, Ticking

from recall.memory import reviewing
from recall.memory.bank import Bank
from recall.memory.errors import IllegalTransition, MemoryServiceError, PinnedMemory
from recall.memory.lifecycle import GOVERNED, TABLE, TABLES, UNDO, Action, Role, birth, target
from recall.memory.merging import MergeLoser
from recall.memory.record import (
    LOCAL,
    Actor,
    InfoChanges,
    MemoryChanges,
    NewMemory,
    Outcome,
    Policy,
    Record,
    Saved,
    Status,
)
from recall.memory.run_book import RunBook

LIVE = {Status.NOMINATED, Status.ACCEPTED, Status.QUARANTINED}
BIRTHS = {Action.SAVE, Action.NOMINATE, Action.IMPORT, Action.PREFER, Action.ARRIVE}
MOVES = {Action.DEPART, Action.RETURN}
EDITS = {Action.REINFORCE, Action.UPDATE, Action.EDIT, Action.PIN, Action.UNPIN, Action.ABSORB, Action.RELEASE}
UNDONE = {undo: (before, decision) for (before, decision), undo in UNDO.items()}
UNDOING = {Action.RELEASE, Action.RESTORE}
PEOPLE = {Role.REVIEWER, Role.ADMIN}
AUTOMATIC = {Role.AGENT, Role.JOB}
ELSEWHERE = BIRTHS | UNDOING | MOVES | set(UNDONE)
"""What `act` cannot do to one memory alone: see below, and test_merging and test_moving."""
EVERY = list(product(Policy, Status, sorted(set(Action) - ELSEWHERE), Role))


def memory_in(bank: Bank, status: Status) -> Record:
    """A memory that was brought to a status by the verbs."""
    if status in {Status.NOMINATED, Status.REJECTED}:
        [saved] = bank.nominate([NewMemory(text="it", expires_at=START * 2)])
        assert not isinstance(saved, MemoryServiceError)
        record = saved.record
        if status is Status.REJECTED:
            record = bank.transition(record.id, Action.REJECT, LOCAL, "no").record
        return record
    [saved] = bank.save([NewMemory(text="it", expires_at=START * 2)])
    assert not isinstance(saved, MemoryServiceError)
    record = saved.record
    if status is Status.QUARANTINED:
        return bank.transition(record.id, Action.QUARANTINE, LOCAL).record
    if status is Status.SUPERSEDED:
        return bank.supersede(record.id, remembered(bank, "winner").id).loser
    if status is Status.RETIRED:
        return bank.delete(record.id).record
    if status is Status.EXPIRED:
        bank.update(record.id, MemoryChanges(expires_at=1))
        bank.expire([record.id], LOCAL)
        return bank.get(record.id)
    return record


def act(bank: Bank, record: Record, action: Action, role: Role) -> Record:  # noqa: PLR0911 - a table of verbs
    """Ask for an action; the memory after it, or the error."""
    actor = Actor("someone", role)
    if action in (Action.PIN, Action.UNPIN):
        return bank.pin(record.id, action is Action.PIN, actor).record
    if action is Action.UPDATE:
        return bank.update(record.id, MemoryChanges(author="x"), actor).record
    if action is Action.EDIT:
        return reviewing.edit(bank, record.id, MemoryChanges(author="x"), "", actor).record
    if action is Action.DELETE:
        return bank.delete(record.id, actor).record
    if action is Action.SUPERSEDE:
        return bank.supersede(record.id, remembered(bank, "another winner").id, actor).loser
    if action is Action.ABSORB:
        loser = remembered(bank, "a loser")
        return RunBook(bank).merge("run", record.id, record.revision, [MergeLoser(loser.id, 1)], actor).winner or record
    if action in (Action.EXPIRE, Action.REINFORCE):
        results = (
            bank.expire([record.id], actor) if action is Action.EXPIRE else bank.save([NewMemory(text="it")], actor)
        )
        if isinstance(results[0], MemoryServiceError):
            raise results[0]
        return results[0].record
    return bank.transition(record.id, action, actor, "because").record


@pytest.mark.parametrize(("policy", "status", "action", "role"), EVERY)
def test_only_edges_of_the_table_pass_and_the_rest_writes_nothing(
    policy: Policy, status: Status, action: Action, role: Role
) -> None:
    files, clock = MemoryFiles(), Ticking()
    bank = bank_on(files, clock)
    record = memory_in(bank, status)
    bank.update_info(InfoChanges(policy=policy))
    if action is Action.EXPIRE and status.live:
        clock.time = START * 3
    if action is Action.SUPERSEDE:
        remembered(bank, "another winner")
    expected = TABLES[policy].get((status, action, role))
    log = list(bank.events(1))
    try:
        after = act(bank, record, action, role)
    except IllegalTransition:
        assert expected is None
    written = [event.op for event in bank.events(len(log) + 1) if event.id == record.id]
    if expected is None:
        assert (written, bank.get(record.id)) == ([], record)
    else:
        assert after.status is expected
        assert written == ([] if action is Action.UNPIN else [action])
    assert reopened(files).get(record.id) == bank.get(record.id)


def test_births_moves_and_undoings_start_where_the_table_says_and_nowhere_else() -> None:
    for policy, status, action, role in product(Policy, Status, ELSEWHERE, Role):
        _check_elsewhere(policy, status, action, role)


def _check_elsewhere(policy: Policy, status: Status, action: Action, role: Role) -> None:
    table = TABLES[policy]
    if action in BIRTHS:
        with pytest.raises(IllegalTransition):
            target("id", status, action, role, policy)
        return
    if action in UNDOING:  # they need a run to undo: see test_merging
        starts = LIVE if action is Action.RELEASE else {Status.SUPERSEDED}
        assert ((status, action, role) in table) == (role in PEOPLE and status in starts)
        return
    if action in MOVES:  # they need two banks: see test_moving
        assert table.get((status, action, role)) == (Status.RETIRED if role in PEOPLE and status.live else None)
        return
    if action in UNDONE:  # they need a decision to undo: below
        end = UNDONE[action][0]
        assert table.get((status, action, role)) == (end if role in PEOPLE and status in _decided(action) else None)


def _decided(undo: Action) -> set[Status]:
    """Where the decision that an action takes back leads to."""
    before, decision = UNDONE[undo]
    return {TABLE[before, decision, Role.REVIEWER]}


@pytest.mark.parametrize(("undo", "role"), list(product(UNDONE, Role)), ids=str)
def test_a_decision_is_taken_back_by_people_alone_and_leads_to_where_it_came_from(undo: Action, role: Role) -> None:
    before, decision = UNDONE[undo]
    files = MemoryFiles()
    bank = bank_on(files)
    stood = memory_in(bank, before)
    decided = bank.transition(stood.id, decision, LOCAL, "because").record
    if role not in PEOPLE:
        with pytest.raises(IllegalTransition):
            reviewing.undo_decision(bank, stood.id, "", Actor("someone", role))
        assert bank.get(stood.id) == decided
        return
    done = reviewing.undo_decision(bank, stood.id, "a mistake", Actor("someone", role))
    assert (done.record.status, done.record.updated_at, done.record.revision) == (
        before,
        stood.updated_at,
        decided.revision + 1,
    )
    event = list(bank.events(1))[-1]
    assert (event.op, event.of, event.note) == (undo, event.seq - 1, "a mistake")
    again = reviewing.undo_decision(bank, stood.id, "", LOCAL)
    assert (again.already, again.seq, bank.last_seq) == (True, 0, event.seq)
    assert reopened(files).get(stood.id) == bank.get(stood.id)


@pytest.mark.parametrize(("action", "role"), list(product(Action, Role)))
def test_a_memory_is_born_only_by_a_birth(action: Action, role: Role) -> None:
    born = (None, action, role) in TABLE
    may = {Action.IMPORT: PEOPLE, Action.ARRIVE: PEOPLE, Action.PREFER: {Role.USER}}.get(action, PEOPLE | AUTOMATIC)
    assert born == (action in BIRTHS and role in may)


def test_no_edge_leaves_a_terminal_status_but_undoing_by_a_person() -> None:
    assert {start for start, _, _ in TABLE} == LIVE | {None, Status.SUPERSEDED, Status.REJECTED}
    leaving = {(action, role) for start, action, role in TABLE if start in (Status.SUPERSEDED, Status.REJECTED)}
    undoing = (Action.RESTORE, Action.UNDO_REJECT, Action.UNDO_REJECT_QUARANTINED)
    assert leaving == set(product(undoing, PEOPLE))


def test_nothing_but_a_person_brings_a_memory_back_into_use() -> None:
    into_use = {
        role
        for (start, _, role), end in TABLE.items()
        if end is Status.ACCEPTED and start not in (None, Status.ACCEPTED)
    }
    assert into_use == PEOPLE


def test_an_edit_moves_nothing_and_a_reader_does_nothing() -> None:
    assert all(start is end for (start, action, _), end in TABLE.items() if action in EDITS)
    assert all(role is not Role.READER for _, _, role in TABLE)
    assert [edge for edge in TABLE if Role.USER in edge] == [(None, Action.PREFER, Role.USER)]


@pytest.mark.parametrize("action", [Action.UPDATE, Action.UNPIN, Action.QUARANTINE, Action.DELETE])
def test_a_pinned_memory_is_untouchable_by_every_automatic_path(action: Action) -> None:
    bank = bank_on()
    record = memory_in(bank, Status.ACCEPTED)
    pinned = bank.pin(record.id, True).record
    with pytest.raises(PinnedMemory):
        act(bank, pinned, action, Role.JOB)
    assert bank.get(record.id) == pinned
    assert act(bank, pinned, action, Role.ADMIN) != pinned


def test_an_unknown_role_may_do_nothing() -> None:
    bank = bank_on()
    record = memory_in(bank, Status.ACCEPTED)
    with pytest.raises(IllegalTransition):
        bank.delete(record.id, Actor("x", "root"))


def test_a_governed_bank_has_only_edges_of_an_open_one() -> None:
    assert GOVERNED.items() <= TABLE.items()
    assert {edge for edge in TABLE if edge[2] in PEOPLE} <= GOVERNED.keys()


def test_in_a_governed_bank_nothing_automatic_leads_into_use_or_touches_what_is() -> None:
    ends = {(start, action, role) for (start, action, role), end in GOVERNED.items() if end is Status.ACCEPTED}
    assert {edge for edge in ends if edge[2] in AUTOMATIC} == {(Status.ACCEPTED, Action.ABSORB, Role.JOB)}
    agents = {(start, action) for start, action, role in GOVERNED if role is Role.AGENT}
    edits = {(Status.NOMINATED, Action.REINFORCE), (Status.NOMINATED, Action.UPDATE)}
    assert agents == {(None, Action.NOMINATE)} | edits


@pytest.mark.parametrize(("policy", "role"), list(product(Policy, sorted(AUTOMATIC | PEOPLE))))
def test_the_save_of_an_agent_or_a_job_is_a_nomination_in_a_governed_bank(policy: Policy, role: Role) -> None:
    nominates = policy is Policy.GOVERNED and role not in PEOPLE
    assert birth(Action.SAVE, role, policy) is (Action.NOMINATE if nominates else Action.SAVE)
    assert birth(Action.NOMINATE, role, policy) is Action.NOMINATE


@pytest.mark.parametrize("role", sorted(AUTOMATIC))
def test_a_governed_bank_keeps_what_an_agent_says_out_of_use_whatever_it_says_again(role: Role) -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    bank.update_info(InfoChanges(policy=Policy.GOVERNED))
    kept = remembered(bank, "a person said this")
    agent = Actor("bot", role)
    items = [NewMemory(text=text, pinned=True) for text in ("a bot said this", "a person said this", "a bot said this")]
    new, known, again = bank.save(items, agent, "r1")
    assert isinstance(new, Saved)
    assert isinstance(known, Saved)
    assert isinstance(again, Saved)
    assert (new.record.status, new.record.pinned) == (Status.NOMINATED, False)
    assert (known.record, known.outcome) == (kept, Outcome.UNCHANGED)
    assert (again.record.corroboration, again.record.status) == (1, Status.NOMINATED)
    repeated = bank.save(items[:1], agent, "r1")[0]
    assert isinstance(repeated, Saved)
    assert repeated.outcome is Outcome.REPEATED
    assert reopened(files).info.policy is Policy.GOVERNED


def test_an_agent_may_edit_its_nomination_and_not_what_a_person_took_in() -> None:
    bank = bank_on()
    bank.update_info(InfoChanges(policy=Policy.GOVERNED))
    agent = Actor("bot", Role.AGENT)
    [nominated] = bank.save([NewMemory(text="draft")], agent)
    assert isinstance(nominated, Saved)
    bank.update(nominated.record.id, MemoryChanges(text="better draft"), agent)
    bank.transition(nominated.record.id, Action.PROMOTE, LOCAL)
    with pytest.raises(IllegalTransition):
        bank.update(nominated.record.id, MemoryChanges(text="and now something else"), agent)
    assert bank.text(bank.get(nominated.record.id)) == "better draft"
