"""One way of writing what can be written in several: dates, times of day, number words, units, initials, "&".

Guards and canonical forms read texts that went through here, so values are compared by what they are: "May 3, 2024"
and "2024-05-03" are one date, "3 p.m." and "15:00" one time, "twenty-five" and "25" one number. Only values that are
written unambiguously are rewritten; "05/06/2024" and "5 pounds" stay as they are. Pure, and the identity on its own
output.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import Final

_CACHED: Final = 131_072
_MOST_PASSES: Final = 4
_MONTHS: Final = (
    "January February March April May June July August September October November December"
).split()  # fmt: skip
_MONTH_OF = {month[:3].lower(): at for at, month in enumerate(_MONTHS, start=1)}
_MONTH = r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"  # noqa: E501 (one pattern)
_YEAR = r"(?:,? +((?:19|20)\d\d)(?![\d-]))?"
_ISO = re.compile(r"(?<![\w/-])(\d{4})-(\d\d)-(\d\d)(?![\w/-])")
_DAY_FIRST = re.compile(rf"(?<![\w:.])(\d{{1,2}})(?:st|nd|rd|th)? +(?:of +)?{_MONTH}(?!\w){_YEAR}", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b{_MONTH} +(?:the +)?(\d{{1,2}})(?:st|nd|rd|th)?(?![\w:.]\w|\w){_YEAR}", re.IGNORECASE)
_WHEN = r"(?<=\b)(on|every|by|each|until|till|next|last|this|in|since|before|after|to|through) +"
_SHORT_DAY = re.compile(_WHEN + r"(Mon|Tues?|Weds?|Thu|Thurs?|Fri|Sat)\b\.?(?! +[A-Z])")
_SHORT_MONTH = re.compile(_WHEN + r"(Feb|Apr|Aug|Sept?|Oct|Nov|Dec)\b\.?(?! +[A-Z])")
_DAY_OF = {day[:3]: day for day in "Monday Tuesday Wednesday Thursday Friday Saturday".split()}
_HALF_DAY = re.compile(r"(?<![\w.:])(\d{1,2})(?::(\d\d))? ?([ap])(?:\.m\.|\.m\b|m\b)", re.IGNORECASE)
_LEADING_ZERO = re.compile(r"(?<![\w.:/-])0(\d:\d\d)(?![\w:])")
_NOON: Final = 12
_DIGITAL = re.compile(r"\d")
_PERCENT = re.compile(r"(?<=\d) ?(?:%|per ?cent\b|pct\b)")
_NUMBER = r"(\d+(?:[.,]\d+){0,5})"
"""With an end, so that a long row of digits and commas is read once and not once from each of them."""
_DOLLARS = re.compile(rf"(?<![\w$])\$ ?{_NUMBER}(?![\w%])|(?<![\w.]){_NUMBER} ?USD\b")
_EUROS = re.compile(rf"€ ?{_NUMBER}(?![\w%])|(?<![\w.]){_NUMBER} ?(?:€|EUR\b)")
_UNIT_NAMES: Final = {
    "km": "kilometers", "kg": "kilograms", "cm": "centimeters", "mm": "millimeters", "ms": "milliseconds",
    "sec": "seconds", "secs": "seconds", "min": "minutes", "mins": "minutes", "hr": "hours", "hrs": "hours",
    "KB": "kilobytes", "MB": "megabytes", "GB": "gigabytes", "TB": "terabytes",
}  # fmt: skip
_UNIT = re.compile(rf"(?<![\w.-]){_NUMBER} ?({'|'.join(_UNIT_NAMES)})\b(?!/)")
_INITIALS = re.compile(r"\b(?:[A-Z]\.){2,3}(?!\w)|\bPh\.D\.?")
_AMPERSAND = re.compile(r"(?<=[\w\s])&(?=[\w\s])")

_SMALL: Final = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS: Final = {
    word: 10 * at for at, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_ORDINALS: Final = {
    word: at for at, word in enumerate("first second third fourth fifth sixth seventh eighth ninth".split(), 1)
}
_SCALES: Final = {"hundred": 100, "thousand": 1_000}
_WORTH = _SMALL | _TENS
_ONES = "|".join(list(_SMALL)[1:10])
_BELOW_100 = rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{_ONES}))?|{'|'.join(sorted(_SMALL, key=len, reverse=True))})"
_SCALED = re.compile(
    rf"\b({_BELOW_100}|a|\d{{1,3}})[ -](hundred|thousand)(?!s|th|[ -](?:hundred|thousand|million))"
    rf"(?: and)?(?: ({_BELOW_100}))?\b",
    re.IGNORECASE,
)
_ROUND = re.compile(
    rf"\b({'|'.join(_TENS)})(?:[ -]({_ONES}|(?!(?<= )second)(?:{'|'.join(_ORDINALS)})))?\b(?!-)", re.IGNORECASE
)
"""A "thirty second break" lasts thirty seconds; "thirty-second" is 32nd."""
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}
_COUNTS = ("hundred", "thousand", "dozen", *_TENS)
_DOZEN = re.compile(r"\ba dozen(?= [a-z])(?! of\b)", re.IGNORECASE)


@lru_cache(maxsize=_CACHED)
def plain(text: str) -> str:
    """The text with its values in one way of writing."""
    for _ in range(_MOST_PASSES):  # one value that was rewritten may be the neighbour that another one needs
        before, text = text, _pass(text)
        if text == before:
            break
    return text


def _pass(text: str) -> str:
    lower = text.lower()
    if any(count in lower for count in _COUNTS):
        text = _counted(text)
    if _DIGITAL.search(text):
        text = _measured(_dated(text))
    if "&" in text:
        text = _AMPERSAND.sub(" and ", text)
    if any(name in text for name in _SHORT_NAMES):
        text = _named_in_full(text)
    return _INITIALS.sub(lambda found: found[0].replace(".", ""), text) if "." in text else text


_SHORT_NAMES = tuple("Mon Tue Wed Thu Fri Sat Feb Apr Aug Sep Oct Nov Dec".split())


def _named_in_full(text: str) -> str:
    text = _SHORT_MONTH.sub(lambda found: f"{found[1]} {_MONTHS[_MONTH_OF[found[2][:3].lower()] - 1]}", text)
    return _SHORT_DAY.sub(lambda found: f"{found[1]} {_DAY_OF[found[2][:3]]}", text)


def _counted(text: str) -> str:
    text = _DOZEN.sub("12", _SCALED.sub(_scaled, text))
    return _ROUND.sub(_rounded, text)


def _scaled(found: re.Match[str]) -> str:
    value = _below_100(found[1].lower()) * _SCALES[found[2].lower()]
    if found[3] is None:
        tail = found[0][found.end(2) - found.start() :]
        return f"{value}{tail}"
    return str(value + _below_100(found[3].lower()))


def _below_100(spoken: str) -> int:
    if spoken == "a":
        return 1
    return int(spoken) if spoken.isdigit() else sum(_WORTH[word] for word in re.split(r"[ -]", spoken))


def _rounded(found: re.Match[str]) -> str:
    tens, ones = _TENS[found[1].lower()], (found[2] or "").lower()
    if ones in _ORDINALS:
        return f"{tens + _ORDINALS[ones]}{_ENDINGS.get(_ORDINALS[ones], 'th')}"
    return str(tens + _SMALL.get(ones, 0))


def _dated(text: str) -> str:
    text = _ISO.sub(lambda found: _day(found[0], int(found[1]), int(found[2]), int(found[3])), text)
    text = _DAY_FIRST.sub(lambda found: _named(found[2], found[1], found[3]), text)
    text = _MONTH_FIRST.sub(lambda found: _named(found[1], found[2], found[3]), text)
    return _LEADING_ZERO.sub(r"\1", _HALF_DAY.sub(_clock, text))


def _day(written: str, year: int, month: int, day: int) -> str:
    try:
        date(year, month, day)
    except ValueError:
        return written
    return f"{_MONTHS[month - 1]} {day} {year}"


def _named(month: str, day: str, year: str | None) -> str:
    return f"{_MONTHS[_MONTH_OF[month[:3].lower()] - 1]} {int(day)}{f' {year}' if year else ''}"


def _clock(found: re.Match[str]) -> str:
    hour = int(found[1])
    if not 1 <= hour <= _NOON:
        return found[0]
    return f"{hour % _NOON + _NOON * (found[3] in 'pP')}:{found[2] or '00'}"


def _measured(text: str) -> str:
    text = _PERCENT.sub(" percent", text)
    text = _DOLLARS.sub(lambda found: f"{found[1] or found[2]} dollars", text)
    text = _EUROS.sub(lambda found: f"{found[1] or found[2]} euros", text)
    return _UNIT.sub(lambda found: f"{found[1]} {_UNIT_NAMES[found[2]]}", text)
