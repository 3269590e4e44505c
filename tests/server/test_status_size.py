"""A status of any request fits into what a client accepts, so that the caller is told what is wrong."""

from __future__ import annotations

import grpc
import pytest

from recall.client import RecallClient


def test_many_bad_fields_in_any_script_are_told_as_invalid(client: RecallClient) -> None:
    for ops in (["x"] * 60, ["世" * 500] * 60, ["\U0010ffff" * 2_000] * 3):
        with pytest.raises(grpc.RpcError) as refused:
            next(client.within(5).watch(ops=ops))
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "ops[0]" in str(refused.value.details())


@pytest.mark.parametrize("name", ["世" * 5_000, "\U0010ffff" * 5_000, "\0" * 5_000, '"\\' * 3_000])
def test_a_long_bad_name_is_told_as_invalid(client: RecallClient, name: str) -> None:
    for call in (lambda: client.get_bank(name=name), lambda: client.recall(bank=name, query="q", why_not_id=name)):
        with pytest.raises(grpc.RpcError) as refused:
            call()
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
