"""A governed bank from a proposal to a decision, over a real server."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from command_line import CommandLine
from google.rpc.error_details_pb2 import PreconditionFailure
from grpc_status import rpc_status
from service_process import ServiceProcess

from recall.client import RecallClient
from recall.v1 import memory_pb2
from recall.v1 import review_service_pb2 as pb
from recall.v1.memory_service_pb2 import NewMemory

ACCEPTED, NOMINATED = memory_pb2.STATUS_ACCEPTED, memory_pb2.STATUS_NOMINATED
REFUSED = grpc.StatusCode.FAILED_PRECONDITION


def proposed(client: RecallClient, bank: str, text: str) -> str:
    return client.nominate(bank=bank, memory=NewMemory(text=text)).memory.id


def found(client: RecallClient, bank: str, query: str) -> list[str]:
    return [result.memory.text for result in client.recall(bank=bank, query=query).results]


def test_a_proposal_is_recalled_only_after_its_promotion(client: RecallClient, bank: str) -> None:
    id_ = proposed(client, bank, "Deploys happen on Mondays")
    assert found(client, bank, "deploys Mondays") == []
    decided = client.promote(bank=bank, id=id_, note="checked").decided
    assert (decided.memory.status, decided.already_decided) == (ACCEPTED, False)
    assert found(client, bank, "deploys Mondays") == ["Deploys happen on Mondays"]
    events = client.get_history(bank=bank, id=id_).events
    assert [(event.op, event.note) for event in events] == [("nominate", ""), ("promote", "checked")]


def test_a_decision_is_made_once_however_many_make_it(client: RecallClient, bank: str) -> None:
    id_ = proposed(client, bank, "Only one of us decides")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: client.promote(bank=bank, id=id_).decided, range(8)))
    assert sorted(answer.already_decided for answer in answers) == [False] + [True] * 7
    assert [event.op for event in client.get_history(bank=bank, id=id_).events] == ["nominate", "promote"]
    rejected = client.reject(bank=bank, id=id_, reason="too late").decided
    assert (rejected.already_decided, rejected.memory.status) == (True, ACCEPTED)


def test_a_near_duplicate_of_what_is_in_use_needs_an_override(client: RecallClient, bank: str) -> None:
    kept = client.save(bank=bank, memory=NewMemory(text="The staging database is reset every night")).memory.id
    id_ = proposed(client, bank, "The staging database is reset every night!!")
    with pytest.raises(grpc.RpcError) as refused:
        client.promote(bank=bank, id=id_)
    assert refused.value.code() is REFUSED
    assert kept in (refused.value.details() or "")
    assert rpc_status.from_call(refused.value).details[0].Unpack(PreconditionFailure())
    assert client.get(bank=bank, id=id_).memory.status == NOMINATED
    decided = client.promote(bank=bank, id=id_, override_duplicate=True).decided
    assert decided.memory.status == ACCEPTED
    assert decided.duplicate.id == kept
    assert decided.duplicate.score >= 0.72


def test_a_proposal_that_was_edited_meanwhile_is_not_promoted_unseen(client: RecallClient, bank: str) -> None:
    from google.protobuf.field_mask_pb2 import FieldMask

    seen = client.nominate(bank=bank, memory=NewMemory(text="harmless")).memory
    edited = memory_pb2.Memory(id=seen.id, text="harmful")
    client.update(bank=bank, memory=edited, update_mask=FieldMask(paths=["text"]))
    with pytest.raises(grpc.RpcError) as refused:
        client.promote(bank=bank, id=seen.id, expected_revision=seen.revision)
    assert refused.value.code() is grpc.StatusCode.ABORTED
    (entry,) = client.list_queue(bank=bank).entries
    assert (entry.memory.text, entry.original_text) == ("harmful", "harmless")


def test_the_queue_shows_likeness_and_hidden_characters(client: RecallClient, bank: str) -> None:
    kept = client.save(bank=bank, memory=NewMemory(text="Lunch is at noon in the canteen")).memory.id
    proposed(client, bank, "Lunch is at one\u202e in the canteen")
    (entry,) = client.list_queue(bank=bank).entries
    assert entry.memory.text == "Lunch is at one\\u202e in the canteen"
    (similar,) = entry.similar
    assert similar.id == kept
    assert "[-noon-]{+one\\u202e+}" in similar.diff


def test_out_of_use_and_back_with_the_reason_shown(client: RecallClient, bank: str) -> None:
    id_ = client.save(bank=bank, memory=NewMemory(text="The rate limit is 100")).memory.id
    client.quarantine(bank=bank, id=id_, reason="the source was retracted")
    assert found(client, bank, "rate limit") == []
    (entry,) = client.list_queue(bank=bank, status=memory_pb2.STATUS_QUARANTINED).entries
    assert (entry.memory.id, entry.note, entry.role) == (id_, "the source was retracted", "admin")
    client.reaccept(bank=bank, id=id_)
    assert found(client, bank, "rate limit") == ["The rate limit is 100"]
    with pytest.raises(grpc.RpcError) as refused:
        client.quarantine(bank=bank, id=id_, reason="  ")
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_one_bad_decision_of_many_keeps_no_other_out(client: RecallClient, bank: str) -> None:
    first, second = proposed(client, bank, "one thing"), proposed(client, bank, "quite another matter")
    asked = [
        pb.OneDecision(id=first, decision=pb.DECISION_PROMOTE),
        pb.OneDecision(id="missing", decision=pb.DECISION_PROMOTE),
        pb.OneDecision(id=second, decision=pb.DECISION_REJECT, note="no"),
        pb.OneDecision(id=second, decision=pb.DECISION_REACCEPT),
    ]
    results = client.decide_batch(bank=bank, decisions=asked).results
    assert [result.WhichOneof("result") for result in results] == ["decided", "error", "decided", "error"]
    assert [result.error.code for result in results if result.HasField("error")] == [5, 9]


def test_the_queue_is_paged_and_stays_in_place_while_others_propose(client: RecallClient, bank: str) -> None:
    ids = [proposed(client, bank, f"proposal number {word}") for word in ("one", "two", "three")]
    page = client.list_queue(bank=bank, page_size=2)
    proposed(client, bank, "a late one")
    rest = client.list_queue(bank=bank, page_size=2, page_token=page.next_page_token)
    assert [entry.memory.id for entry in (*page.entries, *rest.entries)] == ids[::-1]


def test_review_from_the_command_line(service: ServiceProcess, bank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recall = CommandLine(service.address, bank, monkeypatch)
    with service.client() as client:
        first, second = proposed(client, bank, "The office has a cat"), proposed(client, bank, "Nobody likes the cat")
    assert "The office has a cat" in recall.ok("review", "list").out
    assert recall.ok("review", "promote", first).out == f"{first} in use\n"
    assert recall.ok("review", "promote", first).out == f"{first} decided already: accepted\n"
    assert recall("review", "reject", second).code == 2
    assert recall.ok("review", "reject", second, "--reason", "not so").out == f"{second} rejected\n"
    assert recall.ok("review", "quarantine", first, "--reason", "allergy").out == f"{first} quarantined\n"
    assert "allergy" in recall.ok("review", "list", "--status", "quarantined").out
    assert recall.ok("review", "reaccept", first).out == f"{first} back in use\n"
    assert recall("review", "reaccept", second).code == 5


def test_a_source_shows_what_stands_on_it_and_falls(client: RecallClient, bank: str) -> None:
    kind = memory_pb2.SOURCE_KIND_TASK
    source = memory_pb2.Source(kind=memory_pb2.SOURCE_KIND_TASK, id="T-1")
    memory = NewMemory(text="The release is on Friday", title="Release", source=source)
    id_ = client.nominate(bank=bank, memory=memory).memory.id
    (waits,) = client.get_by_source(bank=bank, source_kind=kind, source_id="T-1").nominated
    assert (waits.id, waits.title, waits.standing.nominated_by) == (id_, "Release", "local")
    client.promote(bank=bank, id=id_, note="seen")
    answer = client.get_by_source(bank=bank, source_kind=kind, source_id="T-1")
    assert not answer.nominated
    assert (answer.accepted[0].standing.promoted_by, answer.accepted[0].standing.note) == ("local", "seen")
    assert client.get(bank=bank, id=id_).memory.standing.decision == "promote"
    (gone,) = client.source_superseded(
        bank=bank, source_kind=kind, source_id="T-1", superseded_by="T-2", reason="replanned"
    ).quarantined
    assert (gone.id, gone.status) == (id_, memory_pb2.STATUS_QUARANTINED)
    assert not client.source_retracted(bank=bank, source_kind=kind, source_id="T-1").quarantined
    (entry,) = client.list_queue(bank=bank, status=memory_pb2.STATUS_QUARANTINED).entries
    assert entry.note == "its source task T-1 was superseded by T-2: replanned"
    with pytest.raises(grpc.RpcError) as refused:
        client.source_retracted(bank=bank)
    assert "source_kind" in str(refused.value.details())


def test_a_failed_decision_of_many_is_told_and_never_tried_again(client: RecallClient, bank: str) -> None:
    client.save(bank=bank, memory=NewMemory(text="The canteen opens at noon each day"))
    id_ = proposed(client, bank, "The canteen opens at noon each day.")
    asked = [pb.OneDecision(id=id_, decision=pb.DECISION_PROMOTE)] * 3
    results = client.decide_batch(bank=bank, decisions=asked).results
    assert [result.error.code for result in results] == [9, 9, 9]
    assert [event.op for event in client.get_history(bank=bank, id=id_).events] == ["nominate"]


def test_editing_merging_and_undoing_from_the_command_line(
    service: ServiceProcess, bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall = CommandLine(service.address, bank, monkeypatch)
    with service.client() as client:
        first = client.save(bank=bank, memory=NewMemory(text="Refunds take five days")).memory.id
        second = client.save(bank=bank, memory=NewMemory(text="Refunds need a receipt")).memory.id
        waits = proposed(client, bank, "Refunds are slow")
    assert "[-slow-]{+quick+}" in recall.ok("review", "edit", waits, "Refunds are quick").out
    text = "Refunds take five days and a receipt"
    merged = recall.ok("review", "replace", first, second, "--text", text, "--override")
    id_ = merged.out.split()[0]
    assert merged.out == f"{id_} in use, in place of {first}, {second}\n"
    undone = recall.ok("review", "undo", id_).out
    assert undone == f"{id_} is retired again, {first} is in use again, {second} is in use again\n"
    assert recall.ok("review", "undo", id_).out == f"{id_} is retired already\n"
    assert recall("review", "undo", waits).code == 5
    assert recall.ok("review", "fallen", "task", "T-9").out == "nothing in use stands on it\n"
    recall.ok(
        "save", "from T-9", "--source-kind", "task", "--source-id", "T-9", "--evidence", "eval-3,before=1,after=2"
    )
    assert " accepted (saved) from T-9" in recall.ok("review", "source", "task", "T-9").out
    assert recall.ok("review", "fallen", "task", "T-9", "--by", "T-10").out.endswith(" quarantined\n")
    shown = recall.ok("review", "source", "task", "T-9").out
    assert "quarantined (quarantine by local)" in shown
    assert "eval-3: 1 → 2" in recall.ok("show", shown.split()[0]).out


def test_the_audit_trail_from_the_command_line(
    service: ServiceProcess, bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall = CommandLine(service.address, bank, monkeypatch)
    with service.client() as client:
        id_ = proposed(client, bank, "a text that no audit tells")
        client.promote(bank=bank, id=id_, note="it is so")
    shown = recall.ok("audit").out
    assert "promote" in shown
    assert "it is so" in shown
    rows = recall.ok("audit", "--jsonl", "--memory", id_).out.splitlines()
    assert [json.loads(row)["action"] for row in rows] == ["nominate", "promote"]
    assert "no audit tells" not in shown + "".join(rows)
    assert recall.ok("audit", "--action", "reject").out == "no such event\n"
    assert recall("audit", "--action", "grant").code == 2
