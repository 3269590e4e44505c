"""Who may call: the one place where a call's token, role and banks are checked, before any handler runs.

Without tokens everybody is the machine's one user (`listening` sees to it that only this machine can call). With tokens
a call needs `authorization: Bearer <token>`. Every denial is one line in the log `recall.audit`; a token never is.

Refused tokens count by host and token id: whoever guesses at one token locks out neither other tokens nor other hosts.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import grpc

from recall.access_settings import AccessSettings
from recall.memory.clock import Clock
from recall.memory.record import Actor
from recall.server.caller import EVERYBODY, Caller
from recall.server.refusals import AccessDenied, BankNotYours, RoleTooLow, TooManyFailures, Unauthenticated
from recall.server.requirements import Requirement
from recall.tokens import Grant, Tokens, TokensUnreadable, id_of

audit = logging.getLogger("recall.audit")

HEADER: Final = "authorization"
SCHEME: Final = "bearer "
MOST_KEYS = 10_000
"""Hosts and token ids that are remembered; the longest unseen is forgotten first."""


class Failures:
    """How often tokens were refused lately, by (host, token id). Safe in any thread."""

    def __init__(self, most: int, window_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._window_s, self._now = most, window_s, now
        self._lock = threading.Lock()
        self._times: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    def too_many(self, key: tuple[str, str]) -> bool:
        """Whether the next one is refused unread."""
        with self._lock:
            times = self._times.get(key)
            if times is None:
                return False
            while times and times[0] <= self._now() - self._window_s:
                times.popleft()
            return len(times) >= self._most

    def note(self, key: tuple[str, str]) -> None:
        """One more."""
        with self._lock:
            self._times.setdefault(key, deque(maxlen=self._most)).append(self._now())
            self._times.move_to_end(key)
            if len(self._times) > MOST_KEYS:
                self._times.popitem(last=False)


class Guard:
    """Admits or denies calls."""

    def __init__(
        self, asked: Mapping[str, Requirement], tokens: Tokens, clock: Clock, settings: AccessSettings
    ) -> None:
        self._asked = asked
        self._tokens = tokens
        self._clock = clock
        self._failures = Failures(settings.max_failures, settings.failure_window_s)

    def admit(self, method: str, context: grpc.ServicerContext) -> Caller:
        """Who calls. Raises AccessDenied when the token or its role is not enough."""
        if not self._tokens.needed:
            return EVERYBODY
        try:
            who = self._identified(context)
            needed = self._asked[method].role
            if not self._asked[method].allows(who.role):
                raise RoleTooLow(who.role, needed)
        except AccessDenied as denied:
            tell(method, context, denied)
            raise
        return who

    def check_banks(self, method: str, who: Caller, request: Any, context: grpc.ServicerContext) -> None:
        """Raises BankNotYours when a token for some banks is used on another, or on all."""
        if not who.banks or self._asked[method].own_banks:
            return
        named = list(self._asked[method].banks(request)) or [""]
        for bank in named:
            if bank not in who.banks:
                denied = BankNotYours(bank, who.banks)
                tell(method, context, denied)
                raise denied

    def checked_stream(self, method: str, who: Caller, requests: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        """The requests of a stream: the first one names the bank, and no later one may name a foreign one."""
        for place, request in enumerate(requests):
            if not place or any(self._asked[method].banks(request)):
                self.check_banks(method, who, request, context)
            yield request

    def _identified(self, context: grpc.ServicerContext) -> Caller:
        token = bearer(context)
        if not token:
            raise Unauthenticated("the call brings no token: set RECALL_TOKEN", "")
        key = (host(context), id_of(token))
        if self._failures.too_many(key):
            raise TooManyFailures(key[1])
        grant, problem = self._grant(token)
        if grant is None or problem:
            self._failures.note(key)
            raise Unauthenticated(problem, key[1] if grant is not None else "")
        return Caller(grant.tenant, Actor(grant.name, grant.role), frozenset(grant.banks))

    def _grant(self, token: str) -> tuple[Grant | None, str]:
        try:
            grant = self._tokens.find(token)
        except TokensUnreadable as error:
            audit.error("tokens cannot be read, so nobody is let in: %s", error)
            return None, "the server cannot read its tokens"
        if grant is None:
            return None, "no such token"
        problem = grant.problem(self._clock.now())
        return grant, f"the token {problem}" if problem else ""


def tell(method: str, context: grpc.ServicerContext, denied: AccessDenied) -> None:
    """The audit line of a denial."""
    rpc = method.rpartition(".")[2]
    audit.warning("denied rpc=%s peer=%s token=%s reason=%s", rpc, context.peer(), denied.token or "-", denied)


def bearer(context: grpc.ServicerContext) -> str:
    """The token of a call; "" without one."""
    for key, value in context.invocation_metadata():
        if key == HEADER and isinstance(value, str) and value[: len(SCHEME)].lower() == SCHEME:
            return value[len(SCHEME) :].strip()
    return ""


def host(context: grpc.ServicerContext) -> str:
    """The peer without its port: "ipv4:127.0.0.1"."""
    return context.peer().rpartition(":")[0]
