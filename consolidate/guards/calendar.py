"""When: months, weekdays, times of day, relative dates."""

from __future__ import annotations

import re
from functools import lru_cache

from consolidate.guards.verdict import Finding, compare
from consolidate.memo import Memo
from consolidate.words import CACHED_TEXTS, words

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_CALENDAR = {name: name for name in [*_MONTHS, *_DAYS]} | {name[:3]: name for name in [*_MONTHS, *_DAYS]}
_CALENDAR |= {"sept": "september", "tues": "tuesday", "thur": "thursday", "thurs": "thursday", "weds": "wednesday"}
_CALENDAR |= {f"{day}s": day for day in _DAYS}
_AMBIGUOUS_SHORT = frozenset({"mar", "may", "sun", "sat", "dec", "jan", "wed", "march"})
_TIMES_OF_DAY = (
    "today tomorrow yesterday tonight noon midnight morning afternoon evening night spring summer autumn fall winter "
    "weekend weekday q1 q2 q3 q4"
).split()
_RELATIVE = {word: word for word in _TIMES_OF_DAY} | {f"{word}s": word for word in _TIMES_OF_DAY if word[-1].isalpha()}
_RELATIVE |= {"fall": "autumn", "falls": "autumn"}
_TURN = re.compile(r"\b(last|next|this)\s+(week|month|year|quarter)s?\b")
_HALF_DAY = re.compile(r"(?<![A-Za-z])([ap])\.?\s?m(?:\b|\.)")
_SPAN = re.compile(r"\b([a-z]+)\.? ?[-–—] ?([a-z]+)")
_LETTERS = re.compile(r"[A-Za-z]+")
_MAY_DATE = _CALENDAR.keys() | _RELATIVE.keys() | {"last", "next", "this", "am", "pm", "a", "p"}


def dates(a: Memo, b: Memo) -> Finding | None:
    """Months, weekdays, times of day or relative dates differ."""
    return compare("dates", dates_in(a.text), dates_in(b.text))


@lru_cache(maxsize=CACHED_TEXTS)
def dates_in(text: str) -> tuple[str, ...]:
    """Months and weekdays in order, then relative dates."""
    spoken = words(text)
    if _MAY_DATE.isdisjoint(spoken):
        return ()
    found = [_CALENDAR[word] for word in spoken if word in _CALENDAR and _is_meant(word, text)]
    relative = {_RELATIVE[word] for word in spoken if word in _RELATIVE}
    lower = text.lower()
    relative.update(" ".join(match.groups()) for match in _TURN.finditer(lower))
    relative.update(
        f"{match.group(1)}m" for match in _HALF_DAY.finditer(lower) if _DIGIT_BEFORE.search(lower, 0, match.start())
    )
    if len(found) > 1:
        found += ["to" for span in _SPAN.findall(lower) if _CALENDAR.keys() >= set(span)]
    return (*found, *sorted(relative))


_DIGIT_BEFORE = re.compile(r"\d\s*$")


def _is_meant(word: str, text: str) -> bool:
    """A word that is also another word counts only with its capital."""
    if word not in _AMBIGUOUS_SHORT:
        return True
    return any(found[0].isupper() for found in _LETTERS.findall(text) if found.lower() == word)
