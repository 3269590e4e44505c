"""Who calls, and how long the call may take."""

from __future__ import annotations

from dataclasses import dataclass

import grpc

from recall.memory.banks import DEFAULT_TENANT
from recall.memory.record import LOCAL, Actor

NO_DEADLINE_S = 1e9
"""A call with more time than this has no deadline."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose banks are meant, and who acts."""

    tenant: str
    actor: Actor


EVERYBODY = Caller(DEFAULT_TENANT, LOCAL)


def caller(context: grpc.ServicerContext) -> Caller:  # noqa: ARG001 - identities come with the context
    """Who calls. Every caller of a local server is its one user."""
    return EVERYBODY


def seconds_left(context: grpc.ServicerContext) -> float:
    """Seconds until the call's deadline; infinite without one."""
    left = context.time_remaining()
    return float("inf") if left is None or left > NO_DEADLINE_S else left
