"""A vacuum over the wire: beside writers, and after what it archived was taken away."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.rpc import error_details_pb2 as details
from grpc_status import rpc_status
from service_process import serving

from recall.client import RecallClient
from recall.v1.bank_service_pb2 import VACUUM_HISTORY_ARCHIVE
from recall.v1.memory_pb2 import Memory
from recall.v1.memory_service_pb2 import NewMemory


def save(client: RecallClient, text: str) -> str:
    return client.save(bank="notes", memory=NewMemory(text=text)).memory.id


def test_what_was_acknowledged_beside_vacuums_is_there_and_found(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service, service.client() as client:
        first = save(client, "blog posts go out on Tuesday")
        client.update(
            bank="notes",
            memory=Memory(id=first, text="blog posts go out on Friday"),
            update_mask=FieldMask(paths=["text"]),
        )
        with ThreadPoolExecutor(2) as pool:
            writing = [pool.submit(save, client, f"written meanwhile, number {number}") for number in range(60)]
            vacuums = [client.vacuum_bank(name="notes") for _ in range(3)]
            ids = [one.result() for one in writing]
        assert [one.log_bytes_after > 0 and one.history_bytes > 0 for one in vacuums] == [True] * 3
        found = client.recall(bank="notes", query="when do blog posts go out").results[0].memory
        assert (found.id, found.text) == (first, "blog posts go out on Friday")
        assert service.stop() == 0
    with serving(tmp_path / "data") as service, service.client() as client:
        texts = {one.id: one.text for one in client.list_memories(bank="notes", page_size=100).memories}
        assert set(texts) == {first, *ids}
        assert [event.op for event in client.get_history(bank="notes", id=first).events] == ["save", "update"]
        assert client.get_bank(name="notes").bank.sizes.history_bytes > 0
        watch = client.within(20).watch(bank="notes", from_seq=1)
        assert [change.op for _, change in zip(range(3), watch, strict=False)][:2] == ["save", "update"]
        watch.cancel()


def test_who_asks_for_what_was_taken_away_is_told_where_the_log_begins(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service, service.client() as client:
        memory = save(client, "archived")
        told = client.vacuum_bank(name="notes", history=VACUUM_HISTORY_ARCHIVE, dry_run=True)
        assert (told.log_bytes_before > 0, told.log_bytes_after) == (True, 0)
        done = client.vacuum_bank(name="notes", history=VACUUM_HISTORY_ARCHIVE)
        assert service.stop() == 0
    shutil.rmtree(tmp_path / "data" / "default" / "notes" / "history")
    with serving(tmp_path / "data") as service, service.client() as client:
        with pytest.raises(grpc.RpcError) as refused:
            next(client.watch(bank="notes", from_seq=1))
        assert refused.value.code() is grpc.StatusCode.OUT_OF_RANGE
        info = details.ErrorInfo()
        assert rpc_status.from_call(refused.value).details[0].Unpack(info)
        assert info.metadata["first_seq"] == str(done.archived_to_seq + 1)
        (event,) = client.get_history(bank="notes", id=memory).events
        assert (event.op, event.memory.text) == ("kept", "archived")
        audit = client.list_audit(bank="notes")
        assert [one.action for one in audit.events] == ["vacuum"]
        assert [one.memory.text for one in client.recall(bank="notes", query="archived").results] == ["archived"]
        assert "Traceback" not in service.logged()
