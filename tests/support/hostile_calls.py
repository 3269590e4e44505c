"""Calls of any rpc of a running server with any request or any bytes, and what may come of it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from hostile_messages import BANK, IDS, messages
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from service_process import ServiceProcess

from recall.client import RecallClient
from recall.server.edge import SERVICES
from recall.v1 import (
    admin_service_pb2,
    bank_service_pb2,
    context_service_pb2,
    memory_service_pb2,
    recall_service_pb2,
    review_service_pb2,
    rule_service_pb2,
)
from recall.v1.memory_pb2 import Memory
from recall.v1.memory_service_pb2 import ImportRequest

CLEAR = frozenset(
    {
        grpc.StatusCode.OK,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.ALREADY_EXISTS,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.UNAVAILABLE,  # a bank that is deleted or opened at this moment
        grpc.StatusCode.DEADLINE_EXCEEDED,  # a stream that does not end by itself
    }
)
MOST_READ = 20
STREAM_S, CALL_S = 0.05, 20.0
_MODULES = (
    *(admin_service_pb2, bank_service_pb2, memory_service_pb2, recall_service_pb2, review_service_pb2),
    rule_service_pb2,
    context_service_pb2,
)
METHODS: tuple[MethodDescriptor, ...] = tuple(
    method
    for module in _MODULES
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
    if service.full_name in SERVICES and method.name != "Doctor"
)
"""Every rpc but Doctor, which takes an empty request and a second."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call: what is sent, message by message."""

    method: MethodDescriptor
    requests: tuple[bytes, ...]
    shown: str

    def __repr__(self) -> str:
        return f"{self.method.full_name}({self.shown})"


@dataclass(slots=True)
class Attacker:
    """Makes attempts over one channel and counts what came of them."""

    channel: Any
    codes: Counter[str] = field(default_factory=Counter)

    def attempt(self, one: Attempt) -> grpc.StatusCode:
        """The status of one call."""
        code = self._called(one)
        self.codes[code.name] += 1
        return code

    def _called(self, one: Attempt) -> grpc.StatusCode:
        path = f"/{one.method.containing_service.full_name}/{one.method.name}"
        many_in, many_out = one.method.client_streaming, one.method.server_streaming
        shape = f"{'stream' if many_in else 'unary'}_{'stream' if many_out else 'unary'}"
        call = getattr(self.channel, shape)(path)  # bytes in, bytes out
        sent: Any = iter(one.requests) if many_in else one.requests[0]
        try:
            if not many_out:
                call(sent, timeout=CALL_S)
                return grpc.StatusCode.OK
            stream = call(sent, timeout=STREAM_S)
            for _ in itertools.islice(stream, MOST_READ):
                pass
            stream.cancel()
        except grpc.RpcError as error:
            code: grpc.StatusCode = error.code()
            dropped = "metadata size" in str(error.details())  # by the client, which then tells of something else
            return grpc.StatusCode.UNKNOWN if dropped else code
        return grpc.StatusCode.OK


def attempts() -> SearchStrategy[Attempt]:
    """Any rpc with any message, and now and then with bytes that are none."""
    return st.sampled_from(METHODS).flatmap(_attempts_of)


def _attempts_of(method: MethodDescriptor) -> SearchStrategy[Attempt]:
    message = messages(method.input_type)
    requests = st.lists(message, min_size=1, max_size=3) if method.client_streaming else st.tuples(message)
    raw = st.tuples(st.binary(max_size=200)).map(lambda given: Attempt(method, given, repr(given)))
    said = requests.map(lambda given: Attempt(method, _encoded(given), "; ".join(map(repr, given))))
    return said if method.input_type.fields == [] else said | said | said | raw


def _encoded(given: Sequence[Message]) -> tuple[bytes, ...]:
    return tuple(message.SerializeToString() for message in given)


def seed(client: RecallClient) -> None:
    """The bank that requests are aimed at, with memories of known ids. Again, it brings back what was deleted."""
    if BANK not in [bank.name for bank in client.list_banks(page_size=1_000).banks]:
        client.create_bank(name=BANK)
    client.import_memories(_seeds())


def _seeds() -> Iterable[ImportRequest]:
    for number, known in enumerate(IDS):
        yield ImportRequest(
            bank=BANK, memory=Memory(id=known, text=f"The otter {number} lives by the river", tags=["a"])
        )


def well(service: ServiceProcess) -> None:
    """The server runs, and its log tells of no bug."""
    assert service.process.poll() is None, service.logged()[-2_000:]
    told = [
        line for line in service.logged().splitlines() if "Traceback" in line or " bug rpc=" in line or "ERROR" in line
    ]
    assert told == [], service.logged()[-4_000:]
