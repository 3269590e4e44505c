"""The derived side of a bank: in step with its log, built again from it, at any start."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from ranked_bank import ANALYZER, DAY, LONG, NOW, RankedBank, ranked_bank, turn

from index.hashing import HashingEmbedder
from recall.memory.record import MemoryChanges, NewMemory, SourceKind
from recall.memory.record import Source as MemorySource
from recall.ranking.bank_index import BankIndex
from recall.ranking.index_settings import IndexSettings
from recall.ranking.lexical_stamp import Stamp, load_stamp, save_stamp
from recall.ranking.query import Mode, RecallQuery

QUESTIONS = ["otter on the river", "what did Dana say of herons", "who am I", "reed 7"]


def _grown(bank: RankedBank) -> None:
    """A bank with something of everything."""
    records = bank.save(
        *[turn(f"otter {n} on the river with reed {n % 9}", ("Dana", "Eve")[n % 2], f"s{n % 3}", n) for n in range(30)],
        NewMemory(text="Herons eat fish", author="Dana", entities=("heron",), tags=("birds",)),
        "User is called Robin",
    )
    bank.bank.delete(records[3].id)
    bank.bank.supersede(records[4].id, records[5].id)
    bank.bank.pin(records[6].id, True)
    bank.bank.update(records[7].id, MemoryChanges(text="A stoat, no otter, by the river"))
    bank.bank.update(records[8].id, MemoryChanges(entities=("weasel",)))
    bank.save("otter 9 on the river with reed 0")
    bank.embed()


def _answers(bank: RankedBank, index: BankIndex) -> list[list[tuple[str, object]]]:
    ranked = [bank.engine.recall(index, bank.bank, RecallQuery(text=q, limit=50), LONG) for q in QUESTIONS]
    return [[(str(result.record.id), pytest.approx(result.score)) for result in one.results] for one in ranked]


def test_a_memory_is_visible_as_soon_as_its_save_returns(small: RankedBank) -> None:
    for n in range(20):
        saved = small.bank.save([NewMemory(text=f"unique{n}word here")])
        ranked = small.ask(f"unique{n}word")
        assert [result.text for result in ranked.results] == [f"unique{n}word here"]
        assert ranked.as_of_seq >= saved[0].seq  # type: ignore[union-attr]


def test_an_index_opened_anew_answers_as_the_one_that_grew(small: RankedBank) -> None:
    _grown(small)
    assert _answers(small, small.reopened()) == _answers(small, small.index)


def test_an_index_opened_from_its_snapshot_catches_up_with_the_log(small: RankedBank) -> None:
    _grown(small)
    small.index.flush()
    records = small.save("An otter came after the flush", "A heron too")
    small.bank.delete(records[1].id)
    small.bank.update(small.bank.records()[0].id, MemoryChanges(text="Now about badgers"))
    small.embed()
    reopened = small.reopened()
    assert _answers(small, reopened) == _answers(small, small.index)
    assert reopened.seq == small.bank.last_seq


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: save_stamp(folder, Stamp(3, "of another log")),
        lambda folder: (folder / "lexical.stamp").write_bytes(b"{"),
        lambda folder: (folder / "lexical.stamp").unlink(),
        lambda folder: shutil.rmtree(folder / "lexical"),
        shutil.rmtree,
    ],
    ids=["foreign", "damaged", "no-stamp", "no-snapshot", "nothing"],
)
def test_what_is_derived_can_be_lost_or_foreign_and_is_built_anew(small: RankedBank, spoil: object) -> None:
    _grown(small)
    small.index.flush()
    before = _answers(small, small.index)
    spoil(small.folder)  # type: ignore[operator]
    reopened = small.reopened()
    while missing := reopened.missing(_model(small), 64):
        embedder = small.slot.embedder
        assert embedder is not None
        reopened.store(embedder.model_id, [(k, embedder.encode(embedder.windows(text))) for k, text in missing])
    assert _answers(small, reopened) == before


def test_a_snapshot_of_another_log_is_not_believed(tmp_path: Path) -> None:
    with ranked_bank(tmp_path / "one") as one, ranked_bank(tmp_path / "two") as two:
        for bank, text in ((one, "An otter swims"), (two, "A heron stands")):
            bank.save(text)
            bank.index.flush()
        shutil.rmtree(two.folder)
        shutil.copytree(one.folder, two.folder)
        reopened = two.reopened()
        for question, expected in (("heron", 1), ("otter", 0)):
            query = RecallQuery(text=question, mode=Mode.LEXICAL)
            assert len(two.engine.recall(reopened, two.bank, query, LONG).results) == expected


def test_a_deleted_memory_is_not_waited_for_under_another_model(small: RankedBank) -> None:
    kept, gone = small.save("An otter", "A heron")
    small.bank.delete(gone.id)
    small.slot.embedder = HashingEmbedder(512)
    assert [text for _, text in small.index.missing(_model(small), 10)] == [small.bank.text(kept)]
    assert small.index.coverage(_model(small)).total == 1


def test_a_rebuild_starts_over_from_the_log(small: RankedBank) -> None:
    _grown(small)
    before = _answers(small, small.index)
    small.index.rebuild(small.bank.last_seq)
    assert _answers(small, small.index) == before
    small.save("A rebuilt index goes on with otters")
    assert small.texts("rebuilt") == ["A rebuilt index goes on with otters"]


def test_changes_that_are_in_already_are_passed_over(small: RankedBank) -> None:
    (record,) = small.save("An otter")
    seq = small.index.seq
    small.index.apply([], 0)
    assert small.index.seq == seq
    assert small.index.coverage(_model(small)).total == 1
    assert small.texts("otter") == [small.bank.text(record)]


def test_missing_texts_come_newest_first_and_once_each(small: RankedBank) -> None:
    small.bank.save([NewMemory(text=text) for text in ("oldest", "middle", "newest")])
    missing = small.index.missing(_model(small), 2)
    assert [text for _, text in missing] == ["newest", "middle"]
    assert small.index.missing("a model nobody loaded", 10) == []


def test_vectors_survive_a_restart_and_an_equal_text_needs_no_second_one(small: RankedBank) -> None:
    (record,) = small.save("An otter")
    assert small.reopened().coverage(_model(small)).share == 1.0
    small.bank.delete(record.id)
    small.bank.save([NewMemory(text="An otter")])
    assert small.index.missing(_model(small), 10) == []
    assert small.index.coverage(_model(small)).share == 1.0


def test_a_text_edited_while_it_was_embedded_never_gets_the_old_vector(small: RankedBank) -> None:
    (saved,) = small.bank.save([NewMemory(text="The launch is on Monday")])
    ((key, text),) = small.index.missing(_model(small), 10)
    small.bank.update(saved.record.id, MemoryChanges(text="Nothing is planned"))  # type: ignore[union-attr]
    small.index.store(_model(small), [(key, HashingEmbedder(1024).encode([text]))])
    assert [text for _, text in small.index.missing(_model(small), 10)] == ["Nothing is planned"]
    assert small.index.coverage(_model(small)).embedded == 0


def test_a_new_text_for_a_known_source_replaces_the_old_one(small: RankedBank) -> None:
    source = MemorySource(kind=SourceKind.DOCUMENT, id="handbook")
    small.save(NewMemory(text="Lunch is at noon", source=source))
    small.save(NewMemory(text="Dinner is at seven", source=source))
    assert small.texts("when is lunch", Mode.LEXICAL) == []
    assert small.texts("when is dinner", Mode.LEXICAL) == ["Dinner is at seven"]


def test_recency_halves_in_a_half_life(tmp_path: Path) -> None:
    with ranked_bank(tmp_path) as bank:
        bank.save(NewMemory(text="otter old", created_at=NOW - 30 * DAY), NewMemory(text="otter new", created_at=NOW))
        recency = {
            result.text: signal.value
            for result in bank.ask("otter", explain=True).results
            for signal in result.signals
            if signal.name == "recency"
        }
        assert recency == {"otter old": pytest.approx(0.5, abs=1e-3), "otter new": pytest.approx(1.0, abs=1e-3)}


def test_a_stamp_is_read_back_as_written(tmp_path: Path) -> None:
    assert load_stamp(tmp_path) is None
    save_stamp(tmp_path / "new", Stamp(7, "abc"))
    assert load_stamp(tmp_path / "new") == Stamp(7, "abc")


def test_an_index_without_an_embedder_covers_nothing(tmp_path: Path) -> None:
    with ranked_bank(tmp_path) as bank:
        bank.slot.embedder = None
        index = BankIndex.open(bank.bank, tmp_path / "other", ANALYZER, IndexSettings(), bank.slot.current)
        bank.bank.save([NewMemory(text="An otter")])
        coverage = index.coverage("any")
        assert (coverage.embedded, coverage.total) == (0, 1)
        assert index.missing("any", 10) == []


def _model(bank: RankedBank) -> str:
    assert bank.slot.embedder is not None
    return bank.slot.embedder.model_id


def test_a_flush_that_comes_after_the_close_writes_nothing(tmp_path: Path) -> None:
    with ranked_bank(tmp_path) as ranked:
        ranked.save("blog posts go out on Tuesday")
        late = ranked.reopened()
        assert late.lexical.unflushed
        late.close()
        late.flush()
        assert not list(ranked.folder.rglob("lexical*"))


def test_a_snapshot_that_lacks_memories_is_built_anew(tmp_path: Path) -> None:
    with ranked_bank(tmp_path) as ranked:
        ranked.save("blog posts go out on Tuesday", "the staging database is reset every night")
        ranked.index.lexical.apply(ranked.index.lexical.applied_seq, [], [0])
        ranked.index.flush()
        again = ranked.reopened()
        assert len(again.lexical) == 2
        again.close()
