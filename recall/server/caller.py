"""Who calls, and how long the call may take.

The guard works out the caller before a handler runs and hands it on as `Call`, which stands for gRPC's context. A
context that did not come through the guard has no caller, so nothing can be opened for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import grpc

from recall.memory.banks import DEFAULT_TENANT
from recall.memory.lifecycle import Role
from recall.memory.record import LOCAL, Actor

NO_DEADLINE_S = 1e9
"""A call with more time than this has no deadline."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose banks are meant, and who acts."""

    tenant: str
    actor: Actor
    banks: frozenset[str] = frozenset()
    """The only banks that are meant; empty for every bank of the tenant."""
    local: bool = False
    """The one user of a server without tokens."""

    @property
    def role(self) -> Role:
        """In which role."""
        return Role(self.actor.role)

    def may_see(self, bank: str) -> bool:
        """Whether a bank of the tenant is one of the caller's."""
        return not self.banks or bank in self.banks


EVERYBODY = Caller(DEFAULT_TENANT, LOCAL, local=True)
"""Who calls a server without tokens: the one user of this machine."""


class Call:
    """A call's context, with who calls."""

    __slots__ = ("_context", "caller")

    def __init__(self, context: grpc.ServicerContext, who: Caller) -> None:
        self._context = context
        self.caller = who

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)


def caller(context: grpc.ServicerContext) -> Caller:
    """Who calls."""
    who: Caller = context.caller  # type: ignore[attr-defined]  # it is a Call
    return who


def seconds_left(context: grpc.ServicerContext) -> float:
    """Seconds until the call's deadline; infinite without one."""
    left = context.time_remaining()
    return float("inf") if left is None or left > NO_DEADLINE_S else left
