"""A bank whose log cannot be trusted says so, and keeps no other bank from serving."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.rpc import error_details_pb2 as details
from grpc_status import rpc_status
from service_process import serving

from recall.client import RecallClient
from recall.v1.memory_service_pb2 import NewMemory


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[tuple[RecallClient, Path]]:
    """A client of a server with a good bank and one with a flipped letter in the middle of its log; and that log."""
    with serving(tmp_path / "data") as service, service.client() as client:
        for bank in ("good", "bad"):
            client.save_batch(bank=bank, memories=[NewMemory(text=f"fact {n} of {bank}") for n in range(5)])
        assert service.stop() == 0
    log = tmp_path / "data" / "default" / "bad" / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b"fact 2 of", b"fict 2 of"))
    with serving(tmp_path / "data") as service, service.client() as client:
        yield client, log
        assert "Traceback" not in service.logged()


def test_a_damaged_bank_is_data_loss_with_file_and_line_and_others_serve(damaged: tuple[RecallClient, Path]) -> None:
    client, log = damaged
    calls = (
        lambda: client.recall(bank="bad", query="fact"),
        lambda: client.save(bank="bad", memory=NewMemory(text="more")),
        lambda: client.list_memories(bank="bad"),
        lambda: list(client.export(bank="bad")),
        lambda: client.get_bank(name="bad"),
    )
    for call in calls:
        with pytest.raises(grpc.RpcError) as refused:
            call()
        assert refused.value.code() is grpc.StatusCode.DATA_LOSS
        info = details.ErrorInfo()
        assert rpc_status.from_call(refused.value).details[0].Unpack(info)
        assert (info.metadata["file"], info.metadata["line"]) == (str(log), "4")
    assert len(client.recall(bank="good", query="fact 2").results) == 5
    client.save(bank="good", memory=NewMemory(text="more"))


def test_list_status_and_doctor_tell_of_it(damaged: tuple[RecallClient, Path]) -> None:
    client, log = damaged
    listed = {bank.name: bank for bank in client.list_banks().banks}
    assert str(log) in listed["bad"].unavailable_reason
    assert listed["good"].counts.live == 5
    trouble = client.status().trouble
    assert [(one.bank, one.state) for one in trouble] == [("bad", "unavailable")]
    assert str(log) in trouble[0].reason
    answer = client.doctor()
    assert not answer.ok
    assert {check.name: check.outcome for check in answer.checks}["banks"] == 3


def test_a_hand_edit_is_taken_in_by_reload_and_told(damaged: tuple[RecallClient, Path]) -> None:
    client, _ = damaged
    answer = client.reload_bank(name="bad")
    assert len(answer.changes) >= 1
    assert answer.bank.counts.live == 5
    texts = [result.memory.text for result in client.recall(bank="bad", query="fict").results]
    assert "fict 2 of bad" in texts
    assert not client.status().trouble
