"""Update, delete, pin, supersede, expire, import, and what a bank tells of itself."""

from collections.abc import Callable, Sequence

import pytest
from faulty_files import MemoryFiles
from memory_banks import bank_on, banks_on, log_path, remembered, reopened, saved, texts
from ticking import START, Ticking

from recall.memory.bank import Bank
from recall.memory.errors import (
    IllegalTransition,
    InvalidField,
    MemoryNotFound,
    MemoryServiceError,
    NotExpired,
    NotLive,
    PinnedMemory,
    ProvenanceTaken,
    SelfSupersede,
    StaleRevision,
    TextTaken,
)
from recall.memory.lifecycle import Action
from recall.memory.record import (
    LOCAL,
    Actor,
    Change,
    Counts,
    Imported,
    ImportedMemory,
    InfoChanges,
    Kind,
    MemoryChanges,
    NewMemory,
    Outcome,
    Record,
    Source,
    SourceKind,
    Status,
    Written,
)
from recall.memory.tally import counted, tags_in_use

JOB = Actor("sweep", "job")
SECOND = 1_000_000


def exported(bank: Bank) -> list[ImportedMemory]:
    return [
        ImportedMemory(
            text=bank.text(r),
            id=r.id,
            kind=r.kind,
            entities=r.entities,
            tags=r.tags,
            author=r.author,
            source=r.source,
            confidence=r.confidence,
            corroboration=r.corroboration,
            pinned=r.pinned,
            status=r.status,
            created_at=r.created_at,
            updated_at=r.updated_at,
            expires_at=r.expires_at,
            superseded_by=r.superseded_by,
            predecessor=r.predecessor,
            revision=r.revision,
            metadata=r.metadata,
        )
        for r in bank.records()
    ]


def bare(record: Record) -> tuple[object, ...]:
    """What an export carries."""
    kept = [name for name in Record.__struct_fields__ if name not in ("text_seq", "review")]
    return tuple(getattr(record, name) for name in kept)


def test_update_keeps_the_id_and_changes_only_what_is_named() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    before = saved(bank, NewMemory(text="a", tags=("t",), author="Dana")).record
    after = bank.update(before.id, MemoryChanges(text="b", kind=Kind.LESSON, entities=(" X ",))).record
    assert (after.id, after.revision, after.tags, after.author) == (before.id, 2, ("t",), "Dana")
    assert (after.kind, after.entities) == (Kind.LESSON, ("x",))
    assert reopened(files).text(reopened(files).get(after.id)) == "b"


@pytest.mark.parametrize(
    "changes", [MemoryChanges(), MemoryChanges(tags=("T",)), MemoryChanges(confidence=1.0), MemoryChanges(metadata={})]
)
def test_an_update_that_changes_nothing_writes_nothing(changes: MemoryChanges) -> None:
    bank = bank_on()
    record = saved(bank, NewMemory(text="a", tags=("t",))).record
    assert bank.update(record.id, changes) == Written(record, 0)


def test_an_update_to_the_text_of_another_live_memory_is_refused() -> None:
    bank = bank_on()
    first, second = remembered(bank, "a"), remembered(bank, "b")
    with pytest.raises(TextTaken) as caught:
        bank.update(second.id, MemoryChanges(text="A"))
    assert caught.value.holder == first.id
    bank.delete(first.id)
    assert bank.update(second.id, MemoryChanges(text="A")).record.revision == 2


def test_a_stale_revision_is_refused() -> None:
    bank = bank_on()
    record = remembered(bank, "a")
    bank.pin(record.id, True)
    verbs: list[Callable[[], object]] = [
        lambda: bank.update(record.id, MemoryChanges(text="b"), expected_revision=1),
        lambda: bank.delete(record.id, expected_revision=1),
    ]
    for verb in verbs:
        with pytest.raises(StaleRevision) as caught:
            verb()
        assert (caught.value.expected, caught.value.actual) == (1, 2)
    assert bank.delete(record.id, expected_revision=2).record.status is Status.RETIRED


def test_delete_is_repeatable_and_stays_in_history() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    record = remembered(bank, "a")
    gone = bank.delete(record.id).record
    assert bank.delete(record.id) == Written(gone, 0)
    again = reopened(files)
    assert texts(again) == []
    assert [entry.op for entry in again.history(record.id)] == ["save", "delete"]


def test_pin_and_unpin() -> None:
    bank = bank_on()
    record = remembered(bank, "a")
    assert bank.pin(record.id, True).record.pinned
    assert bank.pin(record.id, True).seq == 0
    assert not bank.pin(record.id, False).record.pinned


def test_supersede_points_to_the_winner() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    loser, winner = remembered(bank, "a"), remembered(bank, "b")
    done = bank.supersede(loser.id, winner.id)
    assert (done.loser.status, done.loser.superseded_by, done.winner) == (Status.SUPERSEDED, winner.id, winner)
    assert reopened(files).get(loser.id) == done.loser


def dead_winner(bank: Bank, _loser: Record, winner: Record) -> object:
    bank.delete(winner.id)
    return NotLive


def expired_winner(bank: Bank, _loser: Record, winner: Record) -> object:
    bank.update(winner.id, MemoryChanges(expires_at=1))
    return NotLive


def pinned_loser(bank: Bank, loser: Record, _winner: Record) -> object:
    bank.pin(loser.id, True)
    return PinnedMemory


def retired_loser(bank: Bank, loser: Record, _winner: Record) -> object:
    bank.delete(loser.id)
    return IllegalTransition


@pytest.mark.parametrize("arrange", [dead_winner, expired_winner, pinned_loser, retired_loser])
def test_supersede_refuses_and_writes_nothing(arrange: Callable[[Bank, Record, Record], type[Exception]]) -> None:
    bank = bank_on()
    loser, winner = remembered(bank, "a"), remembered(bank, "b")
    expected = arrange(bank, loser, winner)
    last_seq = bank.last_seq
    with pytest.raises(expected):
        bank.supersede(loser.id, winner.id)
    assert bank.last_seq == last_seq


def test_supersede_refuses_itself_and_the_unknown() -> None:
    bank = bank_on()
    record = remembered(bank, "a")
    with pytest.raises(SelfSupersede):
        bank.supersede(record.id, record.id)
    for loser, winner in (("no", record.id), (record.id, "no")):
        with pytest.raises(MemoryNotFound):
            bank.supersede(loser, winner)


def test_expire_records_only_what_is_past_its_time() -> None:
    clock = Ticking()
    bank = bank_on(clock=clock)
    short = saved(bank, NewMemory(text="a", expires_at=START + SECOND)).record
    long = remembered(bank, "b")
    pinned = saved(bank, NewMemory(text="c", expires_at=START + SECOND, pinned=True)).record
    clock.time += 2 * SECOND
    results = bank.expire([short.id, long.id, "no", pinned.id, short.id], JOB)
    kinds = [r.record.status if isinstance(r, Written) else type(r) for r in results]
    assert kinds == [Status.EXPIRED, NotExpired, MemoryNotFound, PinnedMemory, Status.EXPIRED]
    assert isinstance(results[4], Written)
    assert results[4].seq == 0


@pytest.mark.parametrize("past_us", [-1, 0])
def test_expiry_is_read_at_its_very_microsecond(past_us: int) -> None:
    record = saved(bank_on(), NewMemory(text="a", expires_at=START * 2)).record
    assert record.selectable(START * 2 + past_us) == (past_us < 0)


def test_an_episode_is_never_selectable() -> None:
    assert not saved(bank_on(), NewMemory(text="a", kind=Kind.EPISODE)).record.selectable(START)


def test_a_rejection_needs_a_reason_which_history_keeps() -> None:
    bank = bank_on()
    [nominated] = bank.nominate([NewMemory(text="a")])
    assert not isinstance(nominated, MemoryServiceError)
    with pytest.raises(InvalidField, match="reason"):
        bank.transition(nominated.record.id, Action.REJECT, LOCAL)
    bank.transition(nominated.record.id, Action.REJECT, LOCAL, "not so")
    assert bank.history(nominated.record.id)[-1].note == "not so"
    with pytest.raises(InvalidField, match="action"):
        bank.transition(nominated.record.id, Action.DELETE, LOCAL)


def test_every_verb_names_a_memory_that_is_not_there() -> None:
    bank = bank_on()
    verbs: list[Callable[[], object]] = [
        lambda: bank.get("no"),
        lambda: bank.history("no"),
        lambda: bank.update("no", MemoryChanges(text="a")),
        lambda: bank.delete("no"),
        lambda: bank.pin("no", True),
        lambda: bank.transition("no", Action.PROMOTE, LOCAL),
    ]
    for verb in verbs:
        with pytest.raises(MemoryNotFound):
            verb()
    assert bank.last_seq == 1


@pytest.mark.parametrize("verb", ["update", "delete", "pin", "supersede"])
def test_a_retry_of_any_verb_changes_nothing(verb: str) -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    first, other = remembered(bank, "a"), remembered(bank, "b")

    def write(at: Bank) -> int:
        if verb == "update":
            return at.update(first.id, MemoryChanges(text="c"), expected_revision=1, request_id="r").seq
        if verb == "delete":
            return at.delete(first.id, expected_revision=1, request_id="r").seq
        if verb == "pin":
            return at.pin(first.id, True, request_id="r").seq
        return at.supersede(first.id, other.id, request_id="r").seq

    assert write(bank) == write(bank) == 4
    assert write(reopened(files)) == 4
    assert bank.last_seq == 4


def test_history_shows_the_memory_and_its_text_after_each_event() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    record = remembered(bank, "a")
    remembered(bank, "other")
    saved(bank, "A", Actor("dana", "agent"))
    bank.update(record.id, MemoryChanges(text="b"))
    for at in (bank, reopened(files)):
        entries = at.history(record.id)
        assert [(e.op, e.seq, e.text, e.record.revision, e.actor.id) for e in entries] == [
            ("save", 2, "a", 1, "local"),
            ("reinforce", 4, "a", 2, "dana"),
            ("update", 5, "b", 3, "local"),
        ]
        assert entries[-1].record == at.get(record.id)


def test_counts_and_tags_look_at_what_is_in_use() -> None:
    clock = Ticking()
    bank = bank_on(clock=clock)
    a, b, c = (saved(bank, NewMemory(text=text, tags=("x", text))).record for text in "abc")
    saved(bank, NewMemory(text="d", tags=("x",), expires_at=START + SECOND))
    bank.nominate([NewMemory(text="e", tags=("x",))])
    bank.delete(a.id)
    bank.supersede(b.id, c.id)
    clock.time += 2 * SECOND
    assert counted(bank.records(), clock.now()) == Counts(live=1, superseded=1, retired=1, expired=1, nominated=1)
    assert tags_in_use(bank.records(), clock.now()) == [("c", 1), ("x", 1)]


def test_the_settings_of_a_bank_survive_and_are_checked() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    info = bank.update_info(InfoChanges(description=" notes ", half_life_days=7.5, user_handle="dana"))
    assert (info.description, info.half_life_days, info.default_limit) == ("notes", 7.5, 0)
    assert reopened(files).info == info
    for wrong in (
        InfoChanges(half_life_days=-1.0),
        InfoChanges(default_limit=101),
        InfoChanges(description="x" * 1_001),
    ):
        with pytest.raises(InvalidField):
            bank.update_info(wrong)
    assert bank.info == info


def test_what_one_bank_exports_an_empty_one_takes_in_to_the_same_records() -> None:
    files = MemoryFiles()
    banks = banks_on(files)
    source, target = banks.open_or_create("default", "source"), banks.open_or_create("default", "target")
    a, b = saved(source, NewMemory(text="a", tags=("t",), metadata={"k": "v"})).record, remembered(source, "b")
    saved(source, "a")
    source.supersede(b.id, a.id)
    saved(source, NewMemory(text="b", pinned=True, source=Source(kind=SourceKind.TASK, id="1")))
    source.nominate([NewMemory(text="n", created_at=5)])
    results = target.import_records(exported(source))
    assert [r.outcome for r in results if isinstance(r, Imported)] == [Outcome.CREATED] * 4
    for bank in (target, reopened(files, "target")):
        assert [bare(r) for r in bank.records()] == [bare(r) for r in source.records()]
    again = target.import_records(exported(source))
    assert {r.outcome for r in again if isinstance(r, Imported)} == {Outcome.UNCHANGED}


def test_an_import_reinforces_what_is_live_and_refuses_what_contradicts() -> None:
    bank = bank_on()
    there = saved(bank, NewMemory(text="a", source=Source(kind=SourceKind.TASK, id="1"))).record
    results = bank.import_records(
        [
            ImportedMemory(text="A"),
            ImportedMemory(text="other", id=there.id),
            ImportedMemory(text="c", source=Source(kind=SourceKind.TASK, id="1")),
            ImportedMemory(text="d", id="../d"),
            ImportedMemory(text="e", revision=0),
            ImportedMemory(text="f"),
        ]
    )
    assert [r.outcome if isinstance(r, Imported) else type(r) for r in results] == [
        Outcome.REINFORCED,
        InvalidField,
        ProvenanceTaken,
        InvalidField,
        InvalidField,
        Outcome.CREATED,
    ]
    [refused] = bank.import_records([ImportedMemory(text="g")], Actor("eve", "agent"))
    assert isinstance(refused, IllegalTransition)


class Told:
    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.seqs: list[int] = []
        self.broken = False
        self.rebuilt = 0

    def apply(self, changes: Sequence[Change], last_seq: int) -> None:
        if self.broken:
            raise RuntimeError("derived data broke")
        self.changes += changes
        self.seqs.append(last_seq)

    def rebuild(self, last_seq: int) -> None:
        self.rebuilt = last_seq


def test_derived_data_hears_of_every_change_in_order() -> None:
    bank = bank_on()
    told = Told()
    assert bank.subscribe(told) == 1
    record = remembered(bank, "a")
    bank.pin(record.id, True)
    bank.update(record.id, MemoryChanges(text="b"))
    bank.update_info(InfoChanges(description="x"))
    assert [(c.seq, c.op, c.text) for c in told.changes] == [(2, "save", "a"), (3, "pin", None), (4, "update", "b")]
    assert told.changes[0].before is None
    assert told.changes[2].after == bank.get(record.id)
    assert told.seqs == [2, 3, 4, 5]
    bank.unsubscribe(told)
    remembered(bank, "c")
    assert len(told.changes) == 3


def test_derived_data_that_fails_costs_no_write_and_is_rebuilt_by_a_reload(caplog: pytest.LogCaptureFixture) -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    told = Told()
    bank.subscribe(told)
    told.broken = True
    remembered(bank, "secret text")
    assert list(bank.stale) == [told]
    assert "secret text" not in caplog.text
    remembered(bank, "b")
    files.replace(log_path(), files.read(log_path()).replace(b'"text":"b"', b'"text":"c"'))
    bank.reload()
    assert (list(bank.stale), told.rebuilt) == ([], 3)


def test_a_stamp_stands_for_the_log_up_to_its_event() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    remembered(bank, "a")
    assert bank.stamp(0) == ""
    assert [event.prev for event in bank.events(1)] == ["", bank.stamp(1)]
    assert bank.stamp(2) == reopened(files).stamp(2)
