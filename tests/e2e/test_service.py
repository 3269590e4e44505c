"""Every rpc of a real server: what it answers to good calls."""

from __future__ import annotations

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp
from grpc import StatusCode

from recall.client import RecallClient
from recall.v1 import memory_pb2
from recall.v1 import recall_service_pb2 as recalls
from recall.v1.bank_service_pb2 import Bank
from recall.v1.memory_pb2 import Memory, Source
from recall.v1.memory_service_pb2 import SAVE_OUTCOME_CREATED, SAVE_OUTCOME_REINFORCED, SAVE_OUTCOME_REPEATED, NewMemory


def save(client: RecallClient, bank: str, text: str, **fields: object) -> Memory:
    return client.save(bank=bank, memory=NewMemory(text=text, **fields)).memory  # type: ignore[arg-type]


def found(client: RecallClient, bank: str, query: str, **fields: object) -> list[str]:
    answer = client.recall(bank=bank, query=query, **fields)  # type: ignore[arg-type]
    return [result.memory.text for result in answer.results]


def test_a_saved_memory_comes_back_whole_from_get_list_recall_and_export(client: RecallClient, bank: str) -> None:
    given = NewMemory(
        text="Dana's  talk is in Lyon",
        kind=memory_pb2.KIND_PREFERENCE,
        entities=[" Dana ", "Lyon"],
        tags=["Travel"],
        author="Dana",
        source=Source(kind=memory_pb2.SOURCE_KIND_MESSAGE, id="m-1", session="s", position=0, agent="a", uri="u:1"),
        confidence=0.5,
        pinned=True,
        created_at=Timestamp(seconds=-1, nanos=999_999_000),
        expires_at=Timestamp(seconds=253_402_300_799),
        metadata={"k": "v"},
    )
    saved = client.save(bank=bank, memory=given)
    memory = saved.memory
    assert (saved.outcome, saved.seq) == (SAVE_OUTCOME_CREATED, 2)
    assert memory.text == given.text
    assert (list(memory.entities), list(memory.tags)) == (["dana", "lyon"], ["travel"])
    assert (memory.kind, memory.author, memory.source) == (given.kind, given.author, given.source)
    assert (memory.confidence, memory.pinned, memory.revision) == (0.5, True, 1)
    assert (memory.created_at, memory.expires_at) == (given.created_at, given.expires_at)
    assert dict(memory.metadata) == {"k": "v"}
    assert client.get(bank=bank, id=memory.id).memory == memory
    assert list(client.list_memories(bank=bank).memories) == [memory]
    assert client.recall(bank=bank, query="talk in Lyon").results[0].memory == memory
    assert [one.memory for one in client.export(bank=bank)] == [memory]


def test_a_text_saved_again_reinforces_and_a_retry_changes_nothing(client: RecallClient, bank: str) -> None:
    first = client.save(bank=bank, memory=NewMemory(text="Tea over coffee"), request_id="one")
    again = client.save(bank=bank, memory=NewMemory(text="tea OVER coffee"), request_id="two")
    retry = client.save(bank=bank, memory=NewMemory(text="tea OVER coffee"), request_id="two")
    assert again.outcome == SAVE_OUTCOME_REINFORCED
    assert (again.memory.id, again.memory.corroboration) == (first.memory.id, 1)
    assert retry.outcome == SAVE_OUTCOME_REPEATED
    assert (retry.memory.corroboration, retry.seq) == (1, again.seq)


def test_a_batch_has_a_result_for_each_item_and_a_bad_one_stops_no_other(client: RecallClient, bank: str) -> None:
    items = [NewMemory(text="first"), NewMemory(text=""), NewMemory(text="third"), NewMemory(text="x", confidence=7)]
    results = client.save_batch(bank=bank, memories=items).results
    assert [result.WhichOneof("result") for result in results] == ["saved", "error", "saved", "error"]
    assert results[1].error.code == 3
    assert results[1].error.message.startswith("memories[1].text: ")
    assert results[3].error.message.startswith("memories[3].confidence: ")
    assert client.list_memories(bank=bank).total == 2


def test_the_first_save_makes_the_bank(client: RecallClient) -> None:
    save(client, "made-on-save", "hello")
    assert client.get_bank(name="made-on-save").bank.counts.live == 1


def test_update_changes_what_the_mask_names_and_keeps_the_id(client: RecallClient, bank: str) -> None:
    memory = save(client, bank, "The office is in Basel", tags=["place"])
    changed = client.update(
        bank=bank,
        memory=Memory(id=memory.id, text="The office is in Bern", tags=["ignored"]),
        update_mask=FieldMask(paths=["text"]),
        expected_revision=memory.revision,
    ).memory
    assert (changed.id, changed.text, list(changed.tags), changed.revision) == (
        memory.id,
        "The office is in Bern",
        ["place"],
        2,
    )
    assert found(client, bank, "Basel") == []
    assert found(client, bank, "Bern") == ["The office is in Bern"]


def test_delete_leaves_recall_at_once_stays_in_history_and_is_idempotent(client: RecallClient, bank: str) -> None:
    memory = save(client, bank, "The launch code is 7")
    gone = client.delete(bank=bank, id=memory.id)
    assert gone.memory.status == memory_pb2.STATUS_RETIRED
    assert client.delete(bank=bank, id=memory.id).seq == 0
    assert found(client, bank, "launch code") == []
    assert found(client, bank, "launch code", include_superseded=True) == ["The launch code is 7"]
    assert [event.op for event in client.get_history(bank=bank, id=memory.id).events] == ["save", "delete"]
    minted = save(client, bank, "The launch code is 7")
    assert minted.id != memory.id
    assert minted.predecessor == memory.id


def test_pin_and_unpin(client: RecallClient, bank: str) -> None:
    memory = save(client, bank, "Never deploy on Fridays")
    assert client.pin(bank=bank, id=memory.id, pinned=True).memory.pinned
    assert client.pin(bank=bank, id=memory.id, pinned=True).seq == 0
    assert not client.pin(bank=bank, id=memory.id).memory.pinned


def test_supersede_points_to_the_winner(client: RecallClient, bank: str) -> None:
    old, new = save(client, bank, "The deadline is May 1"), save(client, bank, "The deadline is May 9")
    both = client.supersede(bank=bank, loser_id=old.id, winner_id=new.id)
    assert both.loser.superseded_by == new.id
    assert both.loser.status == memory_pb2.STATUS_SUPERSEDED
    assert found(client, bank, "deadline") == ["The deadline is May 9"]


def test_list_filters_and_counts(client: RecallClient, bank: str) -> None:
    save(client, bank, "a", tags=["x", "y"], kind=memory_pb2.KIND_LESSON)
    save(client, bank, "b", tags=["x"], source=Source(kind=memory_pb2.SOURCE_KIND_TASK, id="t-1", session="s-1"))
    gone = save(client, bank, "c", tags=["x"], created_at=Timestamp(seconds=100))
    client.delete(bank=bank, id=gone.id)
    retired = [memory_pb2.STATUS_RETIRED, memory_pb2.STATUS_ACCEPTED]
    cases: list[tuple[dict[str, object], list[str]]] = [
        ({}, ["b", "a"]),
        ({"tags": ["X"]}, ["b", "a"]),
        ({"tags": ["x", "y"]}, ["a"]),
        ({"kinds": [memory_pb2.KIND_LESSON]}, ["a"]),
        ({"statuses": retired}, ["c", "b", "a"]),
        ({"source_kind": memory_pb2.SOURCE_KIND_TASK}, ["b"]),
        ({"source_id": "t-1"}, ["b"]),
        ({"session": "s-1"}, ["b"]),
        ({"created_before": Timestamp(seconds=101), "statuses": retired}, ["c"]),
        ({"created_after": Timestamp(seconds=101)}, ["b", "a"]),
    ]
    for filters, texts in cases:
        answer = client.list_memories(bank=bank, **filters)  # type: ignore[arg-type]
        assert [memory.text for memory in answer.memories] == texts, filters
        assert answer.total == len(texts)
    tags = [(tag.tag, tag.count) for tag in client.list_tags(bank=bank).tags]
    assert tags == [("x", 2), ("y", 1)]


def test_pages_are_complete_and_stable_while_others_insert(client: RecallClient, bank: str) -> None:
    texts = [f"memory {n}" for n in range(25)]
    client.save_batch(bank=bank, memories=[NewMemory(text=text) for text in texts])
    seen: list[str] = []
    token = ""
    while True:
        page = client.list_memories(bank=bank, page_size=4, page_token=token)
        seen += [memory.text for memory in page.memories]
        save(client, bank, f"inserted after {len(seen)}")
        token = page.next_page_token
        if not token:
            break
    assert seen == texts[::-1]


def test_a_page_of_long_memories_ends_early_and_the_rest_follows(client: RecallClient, bank: str) -> None:
    texts = [f"{n} " + "語" * 7_990 for n in range(120)]
    client.save_batch(bank=bank, memories=[NewMemory(text=text) for text in texts])
    first = client.list_memories(bank=bank, page_size=1_000)
    assert first.ByteSize() < 4 * 1024 * 1024
    second = client.list_memories(bank=bank, page_size=1_000, page_token=first.next_page_token)
    assert [memory.text for memory in (*first.memories, *second.memories)] == texts[::-1]
    assert first.total == 120


def test_recall_filters_before_the_cut_and_is_a_prefix_of_a_longer_one(client: RecallClient, bank: str) -> None:
    for number in range(12):
        save(client, bank, f"apple pie number {number}", tags=["rare"] if number == 0 else [])
    assert found(client, bank, "apple pie", limit=1, tags=["rare"]) == ["apple pie number 0"]
    ten = found(client, bank, "apple pie", limit=10)
    assert len(set(ten)) == 10
    assert found(client, bank, "apple pie", limit=9) == ten[:9]
    assert len(found(client, bank, "apple pie")) == 6


@pytest.mark.parametrize(
    ("mode", "ran"),
    [
        (recalls.RECALL_MODE_UNSPECIFIED, "hybrid"),
        (recalls.RECALL_MODE_AUTO, "hybrid"),
        (recalls.RECALL_MODE_LEXICAL, "lexical"),
        (recalls.RECALL_MODE_HYBRID, "hybrid"),
        (recalls.RECALL_MODE_SEMANTIC, "semantic"),
    ],
)
def test_the_answer_names_the_mode_that_ran(
    client: RecallClient, bank: str, mode: recalls.RecallMode.ValueType, ran: str
) -> None:
    save(client, bank, "Blog posts go out on Tuesdays")
    covered(client, bank)
    answer = client.recall(bank=bank, query="blog posts", mode=mode, time_budget=Duration(seconds=5))
    assert answer.retrieval == ran
    assert answer.as_of_seq == 2
    assert answer.timings.total_ms > 0


def covered(client: RecallClient, bank: str) -> None:
    """Waits, without a fixed pause, until every memory of the bank has a vector."""
    for _ in range(1_000):
        coverage = client.get_bank(name=bank).bank.coverage
        if coverage.embedded == coverage.total:
            return
    raise AssertionError("the backfill did not finish")


def test_explain_weights_min_score_and_why_not(client: RecallClient, bank: str) -> None:
    good, other = save(client, bank, "the cat sat on the mat"), save(client, bank, "dogs bark")
    covered(client, bank)
    plain = client.recall(bank=bank, query="cat mat", explain=True)
    assert "lexical" in {signal.name for signal in plain.results[0].signals}
    heavy = client.recall(bank=bank, query="cat mat", weights=recalls.WeightOverrides(lexical=10, semantic=0))
    assert heavy.results[0].score > plain.results[0].score
    none = client.recall(bank=bank, query="cat mat", min_score=1e6)
    assert (list(none.results), none.below_min_score) == ([], len(plain.results))
    why = client.recall(bank=bank, query="cat mat", why_not_id=other.id).why_not
    assert why.id == other.id
    assert client.recall(bank=bank, query="cat mat", why_not_id=good.id).why_not.rank == 1


def test_a_batch_of_recalls_answers_in_the_order_asked(client: RecallClient, bank: str) -> None:
    for text in ("red apples", "green pears"):
        save(client, bank, text)
    queries = [recalls.RecallRequest(bank=bank, query=query, limit=1) for query in ("pears", "apples", "pears")]
    answers = client.recall_batch(requests=queries, time_budget=Duration(seconds=5)).responses
    assert [answer.results[0].memory.text for answer in answers] == ["green pears", "red apples", "green pears"]


def test_a_query_of_a_batch_that_cannot_be_answered_fails_alone(client: RecallClient, bank: str) -> None:
    save(client, bank, "red apples")
    good = recalls.RecallRequest(bank=bank, query="apples", limit=1)
    bad = (
        recalls.RecallRequest(bank=bank),
        recalls.RecallRequest(bank="never-made", query="q"),
        recalls.RecallRequest(bank=bank, query="?!"),
    )
    answer = client.recall_batch(requests=[good, *bad, good])
    assert [len(one.results) for one in answer.responses] == [1, 0, 0, 0, 1]
    codes = [StatusCode.INVALID_ARGUMENT, StatusCode.NOT_FOUND, StatusCode.INVALID_ARGUMENT]
    assert [(one.place, one.code) for one in answer.errors] == [(n, c.value[0]) for n, c in enumerate(codes, start=1)]
    assert "requests[1].query" in answer.errors[0].message
    assert all(one.details for one in answer.errors)


@pytest.mark.parametrize(
    "query",
    [
        "a",
        'NOT "AND (OR',
        "https://x.org/?q=1",
        "title:",
        "GB/s",
        "\0 or \0",
        "🦊 fox",
        "世界大战",
        "x" * 100_000,
        "a b " * 25_000,
    ],
)
def test_any_text_is_a_valid_query(client: RecallClient, bank: str, query: str) -> None:
    save(client, bank, "anything")
    client.recall(bank=bank, query=query)


def test_a_bank_is_made_changed_trashed_and_restored(client: RecallClient) -> None:
    made = client.create_bank(
        name="life", description="first", half_life_days=7, default_limit=3, user_handle="dana"
    ).bank
    assert (made.description, made.half_life_days, made.default_limit, made.user_handle) == ("first", 7, 3, "dana")
    for number in range(5):
        save(client, "life", f"pear {number}")
    assert len(found(client, "life", "pear")) == 3
    changed = client.update_bank(
        bank=Bank(name="life", description="second", default_limit=4), update_mask=FieldMask(paths=["description"])
    ).bank
    assert (changed.description, changed.default_limit) == ("second", 3)
    trashed = client.delete_bank(name="life").trashed
    assert trashed.name == "life"
    assert "life" not in [one.name for one in client.list_banks().banks]
    assert trashed in client.list_banks(trashed=True).trash
    assert client.create_bank(name="life").bank.counts.live == 0
    restored = client.restore_bank(trash_id=trashed.trash_id, name="life-again").bank
    assert (restored.name, restored.counts.live, restored.description) == ("life-again", 5, "second")
    assert len(found(client, "life-again", "pear", limit=10)) == 5
    assert found(client, "life", "pear") == []


def test_banks_are_listed_in_pages_by_name(client: RecallClient) -> None:
    for name in ("page-c", "page-a", "page-b"):
        client.create_bank(name=name)
    names: list[str] = []
    token = ""
    while True:
        page = client.list_banks(page_size=2, page_token=token)
        names += [one.name for one in page.banks]
        token = page.next_page_token
        if not token:
            break
    assert names == sorted(names)
    assert {"page-a", "page-b", "page-c"} <= set(names)


def test_status_tells_what_runs(client: RecallClient, bank: str) -> None:
    save(client, bank, "counted")
    status = client.status()
    assert status.version
    assert status.embedder.state == "ready"
    assert status.banks >= 1
    assert not status.trouble
    figures = {one.name: one for one in status.calls}
    assert figures["MemoryService/Save"].count >= 1
    assert figures["MemoryService/Save"].p50_ms > 0


def test_doctor_tries_the_service_and_leaves_nothing_behind(client: RecallClient, bank: str) -> None:
    before = [one.name for one in client.list_banks(page_size=1_000).banks]
    answer = client.doctor()
    assert answer.ok, answer
    assert [check.name for check in answer.checks] == [*("round_trip", "model", "disk", "coverage", "banks", "chain")]
    assert all(check.detail for check in answer.checks)
    assert all(check.remedy for check in answer.checks if check.outcome != 1)
    assert [one.name for one in client.list_banks(page_size=1_000).banks] == before
    assert bank in before
