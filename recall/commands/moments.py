"""Times and spans as people type and read them. Everything is UTC unless an offset says otherwise."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from recall.commands.failure import CommandError, ExitCode

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_TOO_LONG = timedelta(days=10**8)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def past(option: str, text: str, now: datetime) -> datetime:
    """A time; a span (`7d`, `12h`) means that long ago."""
    span = _span(text)
    return _moved(option, text, now, -span) if span else moment(option, text)


def future(option: str, text: str, now: datetime) -> datetime:
    """A time; a span means that long from now."""
    span = _span(text)
    return _moved(option, text, now, span) if span else moment(option, text)


def moment(option: str, text: str) -> datetime:
    """A date, or RFC 3339 with any offset; without an offset it is UTC."""
    try:
        parsed = datetime.fromisoformat(text.strip())
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        hint = "write 2026-03-01, 2026-03-01T09:30+02:00, or a span such as 7d"
        raise CommandError(f"{option}: {text!r} is no time; {hint}", ExitCode.WRONG_INPUT) from error


def age(then: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits: `3 d ago`, `in 2 h`, `just now`."""
    seconds = (now - then).total_seconds()
    for length, unit in ((365 * 86400, "y"), (86400, "d"), (3600, "h"), (60, "min")):
        if abs(seconds) >= length:
            count = int(abs(seconds) // length)
            return f"{count} {unit} ago" if seconds > 0 else f"in {count} {unit}"
    return "just now"


def _span(text: str) -> timedelta | None:
    match = _SPAN.fullmatch(text.strip().lower())
    try:
        return timedelta(**{_UNITS[match[2]]: float(match[1])}) if match else None
    except OverflowError:
        return _TOO_LONG


def _moved(option: str, text: str, now: datetime, span: timedelta) -> datetime:
    try:
        return now + span
    except OverflowError as error:
        raise CommandError(f"{option}: {text!r} leads out of the calendar", ExitCode.WRONG_INPUT) from error


def stamp(time: datetime | None) -> Timestamp | None:
    """A time as the contract carries it."""
    if time is None:
        return None
    from google.protobuf.timestamp_pb2 import Timestamp

    made = Timestamp()
    made.FromDatetime(time)
    return made
