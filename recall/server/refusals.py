"""What the edge itself refuses, before or beside the memory.

EdgeError
├── InvalidRequest       one violation for each bad field
├── BankOpening          the bank is being opened; ask again shortly
├── TooManyWatchers      every place for a watch stream is taken
├── TooManyStreams       every place for a stream of queries is taken
├── Overloaded           more calls come than can be answered; ask again shortly
├── AccessDenied         the caller may not                                    (token: its id)
│   ├── Unauthenticated  no token, or not a good one
│   ├── TooManyFailures  too many of those
│   ├── RoleTooLow       the token's role is not enough                       (role, needed)
│   └── BankNotYours     the token is for other banks                         (bank)
└── Stopping             the server is going down
"""

from __future__ import annotations

from dataclasses import dataclass


class EdgeError(Exception):
    """Base of every error that the edge raises on purpose."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One bad field (a path as in the proto: `memory.source.id`, `requests[2].limit`) and what would be right."""

    field: str
    problem: str

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"


class InvalidRequest(EdgeError):  # noqa: N818 - named for what is wrong, as the status table reads it
    """The request has bad fields."""

    def __init__(self, violations: tuple[Violation, ...]) -> None:
        super().__init__("; ".join(map(str, violations)))
        self.violations = violations


class BankOpening(EdgeError):  # noqa: N818
    """The bank is still being read."""

    def __init__(self, bank: str) -> None:
        super().__init__(f"bank {bank!r} is being opened; ask again shortly")
        self.bank = bank


class TooManyWatchers(EdgeError):  # noqa: N818
    """No place for another watch stream."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"all {limit} watch streams are taken (server.max_watchers); end one or raise the limit")
        self.limit = limit


class TooManyStreams(EdgeError):  # noqa: N818
    """No place for another stream of queries."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"all {limit} streams of queries are taken (server.max_recall_streams); call Recall instead")
        self.limit = limit


class Overloaded(EdgeError):  # noqa: N818
    """More calls come than can be answered in time."""

    def __init__(self) -> None:
        super().__init__("more calls come than this server can answer in time; ask again shortly")


class Stopping(EdgeError):  # noqa: N818
    """The server takes no new work."""

    def __init__(self) -> None:
        super().__init__("the server is stopping; connect again")


class AccessDenied(EdgeError):  # noqa: N818
    """The caller may not. `token` is the id of the token, as far as it is known; never the token."""

    token: str = ""


class Unauthenticated(AccessDenied):
    """No token, or one that is unknown, expired or revoked."""

    def __init__(self, problem: str, token: str) -> None:
        super().__init__(problem)
        self.token = token


class TooManyFailures(AccessDenied):
    """This token was refused too often from this host lately."""

    def __init__(self, token: str) -> None:
        super().__init__("too many refused tokens (access.max_failures); wait and use a good one")
        self.token = token


class RoleTooLow(AccessDenied):
    """The role is not enough for the rpc."""

    def __init__(self, role: str, needed: str) -> None:
        super().__init__(f"the role {role} may not call this: it takes {needed}")
        self.role = role
        self.needed = needed


class BankNotYours(AccessDenied):
    """The token is for other banks."""

    def __init__(self, bank: str, banks: frozenset[str]) -> None:
        mine = ", ".join(sorted(banks))
        super().__init__(f"the token is not for {f'bank {bank!r}' if bank else 'all banks'}, only for {mine}")
        self.bank = bank
