"""What a real server refuses, with the status and the details that the table promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.rpc import error_details_pb2 as details
from grpc_status import rpc_status

from recall.client import RecallClient
from recall.v1 import (
    admin_service_pb2,
    bank_service_pb2,
    memory_service_pb2,
    recall_service_pb2,
)
from recall.v1.bank_service_pb2 import Bank
from recall.v1.memory_pb2 import Memory
from recall.v1.memory_service_pb2 import NewMemory

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
REFUSED = grpc.StatusCode.FAILED_PRECONDITION

Call = Callable[[RecallClient, str], Any]


def memory(client: RecallClient, bank: str, text: str = "a fact", **fields: Any) -> str:
    return client.save(bank=bank, memory=NewMemory(text=text, **fields)).memory.id


def deleted(client: RecallClient, bank: str) -> str:
    gone = memory(client, bank, "gone")
    client.delete(bank=bank, id=gone)
    return gone


def mask(*paths: str) -> FieldMask:
    return FieldMask(paths=paths)


BAD_FIELDS: list[tuple[Call, str]] = [
    (lambda c, b: c.recall(bank=b), "query"),
    (lambda c, b: c.recall(bank=b, query="?!"), "query"),
    (lambda c, b: c.recall(bank=b, query="q", limit=101), "limit"),
    (lambda c, _: c.recall_batch(), "requests"),
    (lambda c, b: c.save(bank=b, memory=NewMemory()), "memory.text"),
    (lambda c, b: c.save(bank=b, memory=NewMemory(text="x" * 8_001)), "memory.text"),
    (lambda c, b: c.save_batch(bank=b), "memories"),
    (lambda c, b: c.get(bank=b), "id"),
    (lambda c, b: c.list_memories(bank=b, page_size=1_001), "page_size"),
    (lambda c, b: c.list_memories(bank=b, page_token="nonsense"), "page_token"),
    (lambda c, b: c.list_memories(bank=b, page_token="kwGhYQ=="), "page_token"),
    (lambda c, b: c.update(bank=b, memory=Memory(id="m"), update_mask=mask("id")), "update_mask.paths[0]"),
    (lambda c, b: c.delete(bank=b), "id"),
    (lambda c, b: c.pin(bank=b), "id"),
    (lambda c, b: c.supersede(bank=b, loser_id="m"), "winner_id"),
    (lambda c, b: c.get_history(bank=b), "id"),
    (lambda c, _: c.list_tags(), "bank"),
    (lambda c, _: c.import_memories([]), "bank"),
    (lambda c, _: list(c.export()), "bank"),
    (lambda c, _: c.create_bank(name="../x"), "name"),
    (lambda c, _: c.get_bank(name=""), "name"),
    (lambda c, _: c.list_banks(page_token="x"), "page_token"),
    (lambda c, b: c.update_bank(bank=Bank(name=b)), "update_mask"),
    (lambda c, _: c.delete_bank(name="A"), "name"),
    (lambda c, _: c.restore_bank(), "trash_id"),
    (lambda c, _: c.reload_bank(), "name"),
    (lambda c, _: list(c.watch(from_seq=1)), "from_seq"),
]


@pytest.mark.parametrize(("call", "field"), BAD_FIELDS)
def test_a_bad_field_is_named(client: RecallClient, bank: str, call: Call, field: str) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        call(client, bank)
    assert refused.value.code() is INVALID
    assert [violation.field for violation in unpacked(refused.value, details.BadRequest()).field_violations] == [field]
    assert field in (refused.value.details() or "")


OTHERS: list[tuple[Call, grpc.StatusCode, Message]] = [
    (lambda c, _: c.recall(bank="nowhere", query="q"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, b: c.recall(bank=b, query="q", why_not_id="m"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, b: c.get(bank=b, id="../../etc"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, _: c.get(bank="nowhere", id="m"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, _: c.list_memories(bank="nowhere"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, b: c.update(bank=b, memory=Memory(id="m"), update_mask=mask("tags")), NOT_FOUND, details.ResourceInfo()),
    (lambda c, b: c.delete(bank=b, id="m"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, b: c.pin(bank=b, id="m", pinned=True), NOT_FOUND, details.ResourceInfo()),
    (lambda c, b: c.supersede(bank=b, loser_id="m", winner_id="n"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, b: c.get_history(bank=b, id="m"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, _: c.list_tags(bank="nowhere"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, _: list(c.export(bank="nowhere")), NOT_FOUND, details.ResourceInfo()),
    (lambda c, _: c.get_bank(name="nowhere"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, _: c.delete_bank(name="nowhere"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, _: c.restore_bank(trash_id="nowhere-1"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, _: c.restore_bank(trash_id="../../x"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, _: c.reload_bank(name="nowhere"), NOT_FOUND, details.ResourceInfo()),
    (lambda c, _: list(c.watch(bank="nowhere")), NOT_FOUND, details.ResourceInfo()),
    (lambda c, b: c.create_bank(name=b), grpc.StatusCode.ALREADY_EXISTS, details.ResourceInfo()),
    (
        lambda c, b: c.delete(bank=b, id=memory(c, b), expected_revision=9),
        grpc.StatusCode.ABORTED,
        details.ErrorInfo(),
    ),
    (
        lambda c, b: c.update(bank=b, memory=Memory(id=deleted(c, b), tags=["t"]), update_mask=mask("tags")),
        REFUSED,
        details.PreconditionFailure(),
    ),
    (lambda c, b: c.pin(bank=b, id=deleted(c, b), pinned=True), REFUSED, details.PreconditionFailure()),
    (
        lambda c, b: c.supersede(bank=b, loser_id=(one := memory(c, b)), winner_id=one),
        REFUSED,
        details.PreconditionFailure(),
    ),
    (
        lambda c, b: c.supersede(bank=b, loser_id=memory(c, b), winner_id=deleted(c, b)),
        REFUSED,
        details.PreconditionFailure(),
    ),
    (
        lambda c, b: c.supersede(bank=b, loser_id=memory(c, b, pinned=True), winner_id=memory(c, b, "other")),
        REFUSED,
        details.PreconditionFailure(),
    ),
]


@pytest.mark.parametrize(("call", "code", "detail"), OTHERS)
def test_what_cannot_be_done_has_its_status_and_detail(
    client: RecallClient, bank: str, call: Call, code: grpc.StatusCode, detail: Message
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        call(client, bank)
    assert refused.value.code() is code, refused.value.details()
    unpacked(refused.value, detail)


def unpacked(error: Any, detail: Any) -> Any:
    """The first detail of the status, which must be of the kind of `detail`."""
    status = rpc_status.from_call(error)
    assert status is not None
    assert status.details[0].Unpack(detail)
    return detail


def test_a_token_of_another_listing_is_refused(client: RecallClient, bank: str) -> None:
    for number in range(3):
        memory(client, bank, f"m {number}", tags=["t"])
    token = client.list_memories(bank=bank, page_size=1).next_page_token
    with pytest.raises(grpc.RpcError) as refused:
        client.list_memories(bank=bank, tags=["t"], page_token=token)
    assert refused.value.code() is INVALID


def test_a_refused_recall_or_read_makes_no_bank(client: RecallClient) -> None:
    for call in (lambda: client.recall(bank="never-made", query="q"), lambda: client.list_tags(bank="never-made")):
        with pytest.raises(grpc.RpcError):
            call()
    with pytest.raises(grpc.RpcError):
        client.save(bank="never-made", memory=NewMemory(text=""))
    assert "never-made" not in [one.name for one in client.list_banks(page_size=1_000).banks]


ARBITRARY = (
    b"",
    b"\x00",
    b"\xff" * 40,
    b"\x0a\x02\xff\xfe",
    b"\x0a\x80\x80\x80\x80\x10",
    bytes(range(256)),
    b"\x0a\x01a" * 99,
)


@pytest.mark.parametrize("data", ARBITRARY)
def test_arbitrary_bytes_are_never_an_internal_error(client: RecallClient, data: bytes) -> None:
    for module in (admin_service_pb2, bank_service_pb2, memory_service_pb2, recall_service_pb2):
        for one in module.DESCRIPTOR.services_by_name.values():
            for method in one.methods:
                code = outcome(client, f"/{one.full_name}/{method.name}", method, data)
                assert code in {grpc.StatusCode.OK, INVALID, NOT_FOUND, grpc.StatusCode.DEADLINE_EXCEEDED}, method.name


def outcome(client: RecallClient, path: str, method: Any, data: bytes) -> grpc.StatusCode:
    """The status of a call with these bytes as its request."""
    channel: Any = client._channel
    try:
        if method.client_streaming:
            channel.stream_unary(path)(iter([data]), timeout=2)
        elif method.server_streaming:
            list(channel.unary_stream(path)(data, timeout=0.3))
        else:
            channel.unary_unary(path)(data, timeout=10)
    except grpc.RpcError as error:
        code: grpc.StatusCode = error.code()
        return code
    return grpc.StatusCode.OK
