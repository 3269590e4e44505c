"""Refusing a bad request field by field: one violation each, which names the field and says what would be right.

A `Check` gathers violations of one request; `done()` raises `InvalidRequest` if there are any. The functions below it
check the kinds of field that many requests share. What one message needs stands in `checks_*.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from recall.memory import names
from recall.memory.errors import InvalidField
from recall.memory.names import LIMITS
from recall.server.refusals import InvalidRequest, Violation

MAX_ID = 128
MAX_LIMIT = 100
MAX_PAGE = 1_000
MAX_BATCH = 1_000
MAX_QUERIES = 100
MAX_FILTER_TAGS = 16

FIRST_SECOND = -62_135_596_800
"""0001-01-01T00:00:00Z, the first second of a Timestamp."""
LAST_SECOND = 253_402_300_799
"""9999-12-31T23:59:59Z, the last one."""
LAST_NANO = 999_999_999
MOST_SECONDS = 315_576_000_000
"""The longest Duration, in seconds."""

MOST_VIOLATIONS = 24
"""Violations told of one request: they travel in trailing metadata, which is small."""
MOST_SHOWN = 60
"""Characters of a caller's value that a problem quotes."""


class Check:
    """Gathers what is wrong with one request. `path` is put before the names of fields."""

    __slots__ = ("_path", "violations")

    def __init__(self, path: str = "", violations: list[Violation] | None = None) -> None:
        self._path = path
        self.violations: list[Violation] = [] if violations is None else violations

    def inside(self, path: str) -> Check:
        """A check of the message in the field `path`; it adds to the same violations."""
        return Check(f"{self._path}{path}.", self.violations)

    def require(self, ok: bool, field: str, problem: str) -> None:
        """Notes `problem` with `field` unless it is `ok`."""
        if not ok:
            self.violations.append(Violation(self._path + field, problem))

    def done(self) -> None:
        """Raises InvalidRequest if anything was noted."""
        if len(self.violations) > MOST_VIOLATIONS:
            more = Violation("request", f"and {len(self.violations) - MOST_VIOLATIONS} more bad fields")
            raise InvalidRequest((*self.violations[:MOST_VIOLATIONS], more))
        if self.violations:
            raise InvalidRequest(tuple(self.violations))


def as_kept(check: Check, checked: Callable[..., object], *values: Any) -> None:
    """Notes what the memory itself would refuse: `checked` is one of its own checks, `values` its arguments."""
    try:
        checked(*values)
    except InvalidField as bad:
        check.require(False, bad.field, bad.problem)


def shown(value: str) -> str:
    """A caller's value, quoted and cut to a length that a status can carry."""
    return repr(value if len(value) <= MOST_SHOWN else value[:MOST_SHOWN] + "…")


def bank_name(check: Check, name: str, field: str = "bank") -> None:
    """A bank's name, which is required."""
    if name:
        as_kept(check, names.bank_name, name, field)
    else:
        check.require(False, field, "is required")


def required_id(check: Check, value: str, field: str = "id") -> None:
    """An id, which is required. Whether it exists is the memory's to say."""
    check.require(bool(value), field, "is required")
    at_most(check, value, MAX_ID, field)


def at_most(check: Check, value: str, limit: int, field: str) -> None:
    """A text of at most `limit` characters."""
    if len(value) > limit:
        check.require(False, field, f"must have at most {limit} characters, not {len(value)}")


def request_id(check: Check, value: str) -> None:
    """A request_id, which may be empty."""
    at_most(check, value, MAX_ID, "request_id")


def int_between(check: Check, value: int, low: int, high: int, field: str) -> None:
    """A number within bounds."""
    if not low <= value <= high:
        check.require(False, field, f"must be {low} to {high}, not {value}")


def float_between(check: Check, value: float, low: float, high: float, field: str) -> None:
    """A finite number within bounds."""
    if not low <= value <= high:
        check.require(False, field, f"must be {low:g} to {high:g}, not {value:g}")


def finite(check: Check, value: float, field: str) -> None:
    """A number that is neither infinite nor NaN."""
    check.require(math.isfinite(value), field, "must be a finite number")


def known(check: Check, value: int, enum: Any, field: str) -> None:
    """An enum value that this release knows."""
    if value not in enum.DESCRIPTOR.values_by_number:
        check.require(False, field, f"has the unknown value {value}; known are {_names(enum)}")


def all_known(check: Check, values: Iterable[int], enum: Any, field: str) -> None:
    """Enum values of a filter: each known, none UNSPECIFIED."""
    for place, value in enumerate(values):
        if value == 0 or value not in enum.DESCRIPTOR.values_by_number:
            check.require(False, f"{field}[{place}]", f"must be one of {_names(enum)}")


def filter_tags(check: Check, tags: Sequence[str]) -> None:
    """Tags to filter by."""
    check.require(len(tags) <= MAX_FILTER_TAGS, "tags", f"must be at most {MAX_FILTER_TAGS}, not {len(tags)}")
    for place, tag in enumerate(tags[:MAX_FILTER_TAGS]):
        if not 0 < len(tag.strip()) <= LIMITS.tag:
            check.require(False, f"tags[{place}]", f"must have 1 to {LIMITS.tag} characters, not {len(tag.strip())}")


def timestamp(check: Check, time: Timestamp, field: str) -> None:
    """A time between the years 1 and 9999."""
    if not (FIRST_SECOND <= time.seconds <= LAST_SECOND and 0 <= time.nanos <= LAST_NANO):
        check.require(False, field, "must lie between 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z")


def time_range(check: Check, request: Any) -> None:
    """`created_after` and `created_before` of a filter, each optional."""
    after, before = request.HasField("created_after"), request.HasField("created_before")
    if after:
        timestamp(check, request.created_after, "created_after")
    if before:
        timestamp(check, request.created_before, "created_before")
    if after and before:
        start, end = request.created_after, request.created_before
        later = (end.seconds, end.nanos) > (start.seconds, start.nanos)
        check.require(later, "created_before", "must be later than created_after")


def time_budget(check: Check, request: Any) -> None:
    """A time budget, optional and above zero. One above the server's maximum is cut to it, not refused."""
    if not request.HasField("time_budget"):
        return
    budget: Duration = request.time_budget
    positive = budget.seconds >= 0 and budget.nanos >= 0 and (budget.seconds > 0 or budget.nanos > 0)
    ok = positive and budget.seconds <= MOST_SECONDS and budget.nanos <= LAST_NANO
    check.require(ok, "time_budget", "must be a duration above 0 s")


def mask(check: Check, paths: Sequence[str], allowed: Sequence[str]) -> None:
    """An update mask: not empty, only paths that may change, each once."""
    check.require(bool(paths), "update_mask", f"must name at least one of {', '.join(allowed)}")
    for place, path in enumerate(paths):
        if path not in allowed:
            problem = f"cannot change {shown(path)}; can be {', '.join(allowed)}"
            check.require(False, f"update_mask.paths[{place}]", problem)
        elif path in paths[:place]:
            check.require(False, f"update_mask.paths[{place}]", f"names {path} twice")


def present(check: Check, message: Any, field: str) -> bool:
    """Whether the message field is there, which is required."""
    there: bool = message.HasField(field)
    check.require(there, field, "is required")
    return there


def _names(enum: Any) -> str:
    return ", ".join(name for name in enum.keys() if not name.endswith("_UNSPECIFIED"))  # noqa: SIM118 - no dict
