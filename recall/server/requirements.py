"""What each rpc asks of its caller, read from the contract: the option `(access)` at every rpc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from recall.memory.lifecycle import Role
from recall.v1 import access_pb2

ROLES: Final = (Role.READER, Role.AGENT, Role.JOB, Role.REVIEWER, Role.ADMIN)
"""From the least to the most; a USER stands beside them."""


class UndeclaredAccess(Exception):  # noqa: N818 - named for what is wrong
    """Rpcs of the contract do not say who may call them."""

    def __init__(self, rpcs: Iterable[str]) -> None:
        self.rpcs = tuple(rpcs)
        super().__init__(f"the contract does not say who may call {', '.join(self.rpcs)}: option (recall.v1.access)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """What one rpc asks."""

    role: Role
    bank: tuple[str, ...]
    """The path to the field that names the bank; empty when none does."""
    own_banks: bool
    """The service answers with the caller's banks alone."""
    other_bank: tuple[str, ...] = ()
    """The path to the field that names a second bank; empty when none does."""

    def allows(self, role: Role) -> bool:
        """Whether a role is enough."""
        if Role.USER in (role, self.role):
            return self.role is role or (role is Role.USER and self.role is Role.READER)
        return ROLES.index(role) >= ROLES.index(self.role)

    def banks(self, request: Any) -> Iterator[str]:
        """The banks that a request names; "" where it leaves the field empty."""
        yield from _values(request, self.bank)
        yield from _values(request, self.other_bank)


def requirements(services: Iterable[Any]) -> dict[str, Requirement]:
    """By full method ("/recall.v1.MemoryService/Save"); `services` are descriptors. Raises UndeclaredAccess."""
    found: dict[str, Requirement] = {}
    undeclared: list[str] = []
    for service in services:
        for method in service.methods:
            declared = method.GetOptions().Extensions[access_pb2.access]
            if declared.role == access_pb2.ROLE_UNSPECIFIED:
                undeclared.append(f"{service.name}/{method.name}")
                continue
            role = Role(access_pb2.Role.Name(declared.role).removeprefix("ROLE_").lower())
            bank, other = _path(declared.bank), _path(declared.other_bank)
            found[f"/{service.full_name}/{method.name}"] = Requirement(role, bank, declared.own_banks, other)
    if undeclared:
        raise UndeclaredAccess(undeclared)
    return found


def _path(declared: str) -> tuple[str, ...]:
    return tuple(declared.split(".")) if declared else ()


def _values(message: Any, path: tuple[str, ...]) -> Iterator[str]:
    if not path:
        return
    value = getattr(message, path[0])
    if len(path) == 1:
        yield value
        return
    for inner in value if message.DESCRIPTOR.fields_by_name[path[0]].is_repeated else (value,):
        yield from _values(inner, path[1:])
