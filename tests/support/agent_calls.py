"""Whatever an agent's token can call, as the real services answer it: through the guard, without sockets.

The service is the whole one (`recall.server.app.running`); only the gRPC server in front of it is left out, and in its
stead calls go through the same guarding layer. Requests are built from the contract's descriptors, so a new rpc, or a
new field, is part of it without a word here.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from guarding import guard

from recall.address import Address
from recall.memory.lifecycle import Role
from recall.server import app, errors
from recall.server.edge import DESCRIPTORS, Services
from recall.server.guard import Guard
from recall.server.interceptors import Edge
from recall.server.requirements import requirements
from recall.settings import load_settings
from recall.telemetry import Telemetry

MOST_ANSWERS = 8
"""Messages of a stream that are read."""
WORDS = ("red", "green", "blue", "otter", "policy", "refund", "release", "secret", "always", "never")


class Context:
    """A call's context: a token, a peer, and no wish to wait."""

    def __init__(self, token: str) -> None:
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._ended: list[Callable[[], None]] = []

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return self._metadata

    def peer(self) -> str:
        return "ipv4:127.0.0.1:1"

    def time_remaining(self) -> float:
        return 20.0

    def is_active(self) -> bool:
        return True

    def add_callback(self, ended: Callable[[], None]) -> bool:
        """Called at once: a caller that is gone already gets what is there and waits for nothing."""
        ended()
        return True


@dataclass
class Caller:
    """Makes calls with one token."""

    services: Services
    guard: Guard
    token: str

    def call(self, method: MethodDescriptor, request: Message) -> tuple[grpc.StatusCode, bytes]:
        """The status and the bytes of what is answered; a bug is raised."""
        service = method.containing_service
        handler = getattr(getattr(self.services, service.name.removesuffix("Service").lower()), method.name)
        path = f"/{service.full_name}/{method.name}"
        guarded = Edge(Telemetry(), {}, self.guard)._guarded(path, handler)
        try:
            answer = guarded(iter([request]) if method.client_streaming else request, Context(self.token))
            messages = [answer] if isinstance(answer, Message) else list(itertools.islice(answer, MOST_ANSWERS))
        except Exception as error:
            status = errors.status_of(error)
            if status is None:
                raise
            return next(code for code in grpc.StatusCode if code.value[0] == status.code), b""
        return grpc.StatusCode.OK, b"".join(one.SerializeToString() for one in messages)


@contextmanager
def serving(data: Path, *settings: str) -> Iterator[Services]:
    """The services of a data folder, answering inside the `with`."""
    caught: list[Services] = []

    @contextmanager
    def catching(services: Services, *_: object) -> Iterator[Address]:
        caught.append(services)
        yield Address("127.0.0.1", 1)

    flags = {"data": str(data), "embedding.model": "none"} | dict(one.split("=", 1) for one in settings)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(app, "answering_calls", catching)
        with app.running(load_settings(flags, environ={}, folder=data.parent)):
            yield caught[0]


def caller(services: Services, data: Path, token: str) -> Caller:
    """Calls the services with a token."""
    return Caller(services, guard(data), token)


def reachable(role: Role) -> list[MethodDescriptor]:
    """Every rpc that lets a role in; but for Watch, which never ends, and is tried from its past on."""
    asked = requirements(DESCRIPTORS)
    return [
        method
        for service in DESCRIPTORS
        for method in service.methods
        if asked[f"/{service.full_name}/{method.name}"].allows(role)
    ]


def request(dice: random.Random, method: MethodDescriptor, names: Mapping[str, tuple[str, ...]]) -> Message:
    """A request that an agent might send; `names` are the values worth trying, by what a field is called."""
    return _message(dice, method.input_type, names, depth=0)


def _message(dice: random.Random, kind: Descriptor, names: Mapping[str, tuple[str, ...]], depth: int) -> Message:
    message = GetMessageClass(kind)()
    if kind.full_name == "google.protobuf.FieldMask":
        message.paths.extend(dice.sample(names["paths"], dice.randint(1, 2)))  # type: ignore[attr-defined]
        return message
    for field in kind.fields:
        if dice.random() < _share(field, depth):
            _fill(dice, message, field, names, depth)
    return message


def _share(field: FieldDescriptor, depth: int) -> float:
    """How often a field is given: what requests cannot do without nearly always."""
    if field.name in ("bank", "id", "text", "memory", "update_mask", "query", "loser_id", "winner_id", "memories"):
        return 0.97
    return 0.15 if depth else 0.3


def _fill(
    dice: random.Random, message: Any, field: FieldDescriptor, names: Mapping[str, tuple[str, ...]], depth: int
) -> None:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        getattr(message, field.name)["k"] = "v" if field.message_type.fields[1].type == field.TYPE_STRING else 1
        return
    if field.message_type is not None:
        made = [_message(dice, field.message_type, names, depth + 1) for _ in range(dice.randint(1, 2))]
        if field.is_repeated:
            getattr(message, field.name).extend(made)
        else:
            getattr(message, field.name).CopyFrom(made[0])
        return
    value = _scalar(dice, field, names)
    if field.is_repeated:
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)


def _scalar(dice: random.Random, field: FieldDescriptor, names: Mapping[str, tuple[str, ...]]) -> Any:
    if field.enum_type is not None:
        return dice.choice(field.enum_type.values).number
    if field.type == field.TYPE_STRING:
        known = names.get(field.name) or (names["id"] if field.name.endswith(("_id", "_ids")) else ())
        return dice.choice(known) if known else " ".join(dice.sample(WORDS, dice.randint(1, 3)))
    if field.type == field.TYPE_BOOL:
        return dice.random() < 0.5
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FLOAT):
        return dice.random()
    return b"x" if field.type == field.TYPE_BYTES else dice.randint(0, 9)
