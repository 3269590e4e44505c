"""Dates a query names, and how well the time of a memory fits them.

A memory's time is when it was said; what it tells of lies a little before. So a day fits in full within a day and by
half for two weeks after, a month in full while it lasts and by half in the week after. A bare year says too little.
Reads English month names and ISO dates; words such as "yesterday" depend on who asks when and are left alone.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_NAMES = "january february march april may june july august september october november december".split()
_MONTHS = {name: number for number, name in enumerate(_NAMES, start=1)}
_MONTH = "(?P<month>" + "|".join(_MONTHS) + ")"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_BEFORE_A_MONTH = r"(?:in|of|during|since|by|late|early|mid|until|last|this)"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"\b{_YEAR}-(?P<number>0[1-9]|1[0-2])-(?P<day>\d\d)\b",
        rf"\b{_DAY}(?: of)? {_MONTH}\b,?(?: {_YEAR})?",
        rf"\b{_MONTH} {_DAY}\b,?(?: {_YEAR})?",
        rf"\b{_MONTH},? (?:of )?{_YEAR}\b",
        rf"\b{_BEFORE_A_MONTH} {_MONTH}\b",
    )
)
_AFTER_A_DAY = 14
_AFTER_A_MONTH = 7
_SHORTLY_AFTER = 0.5


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date as far as a query names it."""

    year: int | None
    month: int
    day: int | None


def named_dates(text: str) -> tuple[NamedDate, ...]:
    """Every date in a query, in no order; overlapping readings give the fullest one."""
    lowered = text.casefold()
    if not _may_name_a_date(lowered):
        return ()
    taken: list[tuple[int, int]] = []
    found: list[NamedDate] = []
    for form in _FORMS:
        for match in form.finditer(lowered):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                taken.append(match.span())
                found.append(_named(match))
    return tuple(found)


def _may_name_a_date(lowered: str) -> bool:
    """Cheap, and false for most queries: every form holds the name of a month or a dash between digits."""
    return "-" in lowered or any(name in lowered for name in _NAMES)


def fit(dates: tuple[NamedDate, ...], created_at: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n,) how well each time (microseconds UTC) fits the best of `dates`: 1, a half, or 0."""
    best = np.zeros(len(created_at))
    moments = created_at.astype("datetime64[us]")
    for date in dates:
        one = _fit_month(date, moments) if date.day is None else _fit_day(date, moments)
        np.maximum(best, one, out=best)
    return best


def _named(match: "re.Match[str]") -> NamedDate:
    groups = match.groupdict()
    year, day = groups.get("year"), groups.get("day")
    month = int(groups["number"]) if "number" in groups else _MONTHS[groups["month"]]
    return NamedDate(int(year) if year else None, month, int(day) if day else None)


def _fit_month(date: NamedDate, moments: NDArray[np.datetime64]) -> NDArray[np.float64]:
    months = moments.astype("datetime64[M]")
    since = (months.astype(np.int64) - (date.month - 1)) if date.year is None else _months_since(date, months)
    day = (moments.astype("datetime64[D]") - months.astype("datetime64[D]")).astype(np.int64)
    if date.year is None:
        since = since % len(_MONTHS)
    return np.where(since == 0, 1.0, np.where((since == 1) & (day < _AFTER_A_MONTH), _SHORTLY_AFTER, 0.0))


def _months_since(date: NamedDate, months: NDArray[np.datetime64]) -> NDArray[np.int64]:
    assert date.year is not None
    since: NDArray[np.int64] = (months - np.datetime64(f"{date.year:04}-{date.month:02}", "M")).astype(np.int64)
    return since


def _fit_day(date: NamedDate, moments: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """Days since the date; without a year, since that day of the memory's own year."""
    days = moments.astype("datetime64[D]")
    year = moments.astype("datetime64[Y]") if date.year is None else np.datetime64(f"{date.year:04}", "Y")
    month = year.astype("datetime64[M]") + (date.month - 1)
    day = date.day if date.day is not None else 1
    since = (days - (month.astype("datetime64[D]") + (day - 1))).astype(np.int64)
    return np.where(abs(since) <= 1, 1.0, np.where((since > 0) & (since <= _AFTER_A_DAY), _SHORTLY_AFTER, 0.0))
