"""What is wrong with banks, as Status, health checks and gauges tell it: one list for all of them.

| state | means | ends with |
|---|---|---|
| unavailable | the log cannot be trusted or read; nothing of the bank answers | Reload or a repair |
| read_only | a write could not be made safe: the bank answers and takes no writes | Reload, which verifies it anew |
| stale | the index failed to take a write in: recalls miss it, and say so | a rebuild, within a flush interval |
| not_kept | derived data cannot be written: all answers, the next start takes longer | the next flush that succeeds |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from recall.memory.banks import DEFAULT_TENANT
from recall.server.live import LiveBank, LiveBanks

UNAVAILABLE, READ_ONLY, STALE, NOT_KEPT = "unavailable", "read_only", "stale", "not_kept"
STATES: Final = (UNAVAILABLE, READ_ONLY, STALE, NOT_KEPT)


@dataclass(frozen=True, slots=True)
class Trouble:
    """One bank, one thing wrong."""

    bank: str
    state: str
    """One of STATES."""
    reason: str
    """Why, and what to do."""


def troubles(live: LiveBanks, tenant: str) -> list[Trouble]:
    """Everything that is wrong now with the banks of a tenant, by state and bank. Reads RAM alone."""
    damaged = [Trouble(name, UNAVAILABLE, reason) for name, reason in sorted(live.banks.trouble(tenant).items())]
    return damaged + sorted(_of_open(live, tenant), key=lambda one: (STATES.index(one.state), one.bank))


def gauges(live: LiveBanks) -> Mapping[str, Callable[[], int]]:
    """How many banks of the default tenant are in each state, by the name of the gauge."""
    return {f"banks.{state}": partial(_count, live, state) for state in STATES}


def _of_open(live: LiveBanks, tenant: str) -> Iterator[Trouble]:
    for one in live.opened():
        if one.bank.tenant == tenant:
            yield from _of(one)


def _of(one: LiveBank) -> Iterator[Trouble]:
    if reason := one.bank.read_only_reason:
        yield Trouble(one.name, READ_ONLY, reason)
    if one.index.stale:
        told = (
            f"the index holds writes up to {one.index.seq} of {one.bank.last_seq}; it is built anew at the next flush"
        )
        yield Trouble(one.name, STALE, told)
    if reason := one.index.trouble.reason:
        yield Trouble(one.name, NOT_KEPT, f"derived data is in RAM alone ({reason}); it is tried again at every flush")


def _count(live: LiveBanks, state: str) -> int:
    return sum(one.state == state for one in troubles(live, DEFAULT_TENANT))
