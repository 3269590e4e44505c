"""Values that a text states: numbers with their units, dates, times, identifiers. Different values, different facts."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from consolidate.guards.verdict import Finding, Verdict
from consolidate.lexicon import NUMBER_WORDS
from consolidate.memo import Memo

_UNIT = re.compile(
    r"(?P<number>\d)\s*(?P<unit>%|°\s?[cf]|[kmgt]i?b(?:/s)?|[kmg]bps|[kmg]?hz|ms|µs|us|ns|s|sec(?:ond)?s?|m|min(?:ute)?s?|"
    r"h|hrs?|hours?|d|days?|w|weeks?|months?|y|yrs?|years?|km|cm|mm|mi|miles?|ft|feet|inch(?:es)?|kg|g|mg|lbs?|oz|"
    r"l|ml|usd|eur|gbp|jpy|cny|dollars?|euros?|pounds?|yen|[kmb])(?![\w])"
)
_CURRENCY = re.compile(r"[$€£¥₹]|\b(?:usd|eur|gbp|jpy|cny|inr|chf|dollars?|euros?|pounds?|yen|rupees?|francs?)\b")
_UNIT_WORD = re.compile(
    r"\b(?:percent|seconds?|minutes?|hours?|days?|weeks?|months?|years?|kilometers?|miles?|meters?|kilograms?|"
    r"pounds?|grams?|liters?|gallons?|celsius|fahrenheit|bytes?|kilobytes?|megabytes?|gigabytes?|terabytes?|"
    r"hourly|daily|weekly|monthly|yearly|annually|quarterly|milliseconds?)\b"
)
_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_CALENDAR = {name: name for name in [*_MONTHS, *_DAYS]} | {name[:3]: name for name in [*_MONTHS, *_DAYS]}
_CALENDAR |= {"sept": "september", "tues": "tuesday", "thur": "thursday", "thurs": "thursday", "weds": "wednesday"}
_AMBIGUOUS_SHORT = frozenset({"mar", "may", "sun", "sat", "dec", "jan", "wed", "march"})
_RELATIVE = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|noon|midnight|morning|afternoon|evening|night|spring|summer|autumn|"
    r"fall|winter|weekends?|weekdays?|(?:last|next|this)\s+(?:week|month|year|quarter)|q[1-4]|[ap]\.?m\.?)(?!\w)"
)
_IDENTIFIER = re.compile(
    r"https?://\S+|[\w.+-]+@[\w-]+\.[\w.]+|(?:[~.]{0,2}/)?[\w.-]+(?:/[\w.-]+)+|[A-Za-z]:\\\S+|(?<![\w-])--?[a-z][\w-]*|"
    r"\b[A-Za-z]\w*[+#]+|\b\w+\.\w[\w.]*\b|\b\w*[a-z]\w*_\w+\b|\b[a-z]+[A-Z]\w*\b|\b(?=\w*\d)(?=\w*[A-Za-z])[\w-]+\b|[@#]\w[\w-]*"
)
_QUOTED = re.compile(r"[\"“”«»`]([^\"“”«»`]{1,200})[\"“”«»`]|(?<!\w)'([^']{1,200})'(?!\w)")
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_ORDINAL_WORDS = {
    word: str(at)
    for at, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), start=1)
}


def numbers(a: Memo, b: Memo) -> Finding | None:
    """Numbers differ, or stand in another order."""
    return _compare("numbers", _numbers(a.text), _numbers(b.text))


def units(a: Memo, b: Memo) -> Finding | None:
    """Units or currencies differ."""
    return _compare("units", _units(a.text), _units(b.text))


def dates(a: Memo, b: Memo) -> Finding | None:
    """Months, weekdays, times of day or relative dates differ."""
    return _compare("dates", _dates(a.text), _dates(b.text))


def identifiers(a: Memo, b: Memo) -> Finding | None:
    """URLs, paths, addresses, versions, flags or code names differ."""
    return _compare("identifiers", _identifiers(a.text), _identifiers(b.text))


def quotations(a: Memo, b: Memo) -> Finding | None:
    """Quoted text differs."""
    return _compare("quotations", _quotations(a.text), _quotations(b.text))


def _compare(guard: str, left: tuple[str, ...], right: tuple[str, ...]) -> Finding | None:
    if left == right:
        return None
    if not left or not right:
        return Finding(guard, Verdict.PROPOSE, f"only one names {', '.join((left or right)[:4])}")
    if Counter(left) == Counter(right):
        return Finding(guard, Verdict.KEEP, f"in another order: {', '.join(left[:4])}")
    return Finding(guard, Verdict.KEEP, f"{_only(left, right)} against {_only(right, left)}")


def _only(left: tuple[str, ...], right: tuple[str, ...]) -> str:
    return ", ".join(list((Counter(left) - Counter(right)).elements())[:4]) or "nothing"


@lru_cache(maxsize=65_536)
def _numbers(text: str) -> tuple[str, ...]:
    found: list[tuple[int, str]] = []
    for match in re.finditer(r"[-−+]?\d+(?:[.,:/]\d+)*|[A-Za-z]+", text):
        token = match.group().casefold()
        value = NUMBER_WORDS.get(token) or _ORDINAL_WORDS.get(token, "") if token.isalpha() else _digits(text, match)
        if value:
            found.append((match.start(), value))
    return tuple(value for _, value in found)


def _digits(text: str, match: re.Match[str]) -> str:
    token = match.group().replace("−", "-").lstrip("+")
    glued = match.start() > 0 and (text[match.start() - 1].isalnum() or text[match.start() - 1] in ")]")
    if token.startswith("-") and glued:
        token = token[1:]
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+", token):
        token = token.replace(",", "")
    return token


@lru_cache(maxsize=65_536)
def _units(text: str) -> tuple[str, ...]:
    folded = text.casefold()
    found = [match.group("unit") for match in _UNIT.finditer(folded)]
    found += [match.group() for match in _CURRENCY.finditer(folded)]
    found += [match.group() for match in _UNIT_WORD.finditer(folded)]
    return tuple(sorted({_UNIT_NAMES.get(unit.rstrip("s") or unit, unit.rstrip("s") or unit) for unit in found}))


_UNIT_NAMES = {
    "$": "usd", "dollar": "usd", "€": "eur", "euro": "eur", "£": "gbp", "¥": "jpy", "yen": "jpy", "%": "percent",
    "": "second", "sec": "second", "min": "minute", "h": "hour", "hr": "hour", "d": "day", "w": "week", "yr": "year",
    "y": "year", "mi": "mile", "m": "m", "kg": "kilogram", "g": "gram", "lb": "pound", "km": "kilometer",
    "inche": "inch", "byte": "byte", "m ": "m",
}  # fmt: skip


@lru_cache(maxsize=65_536)
def _dates(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for match in re.finditer(r"[A-Za-z]+", text):
        word = match.group()
        name = _CALENDAR.get(word.casefold().removesuffix("s")) or _CALENDAR.get(word.casefold())
        if name and (word.casefold() not in _AMBIGUOUS_SHORT or word[0].isupper()):
            found.append(name)
    found += sorted({re.sub(r"[.\s]+", " ", match.group()).strip().removesuffix("s") for match in _relative(text)})
    return tuple(found)


def _relative(text: str) -> list[re.Match[str]]:
    return list(_RELATIVE.finditer(text.casefold()))


@lru_cache(maxsize=65_536)
def _identifiers(text: str) -> tuple[str, ...]:
    found = {match.group().rstrip(".,;:!?)") for match in _IDENTIFIER.finditer(text)}
    return tuple(sorted({_identifier(token) for token in found} - {""}))


def _identifier(token: str) -> str:
    if _ORDINAL.match(token.casefold()) or re.fullmatch(r"\d+[a-z]{1,3}", token.casefold()):
        return ""  # numbers and units speak of these
    if re.fullmatch(r"(?:[a-z]\.){1,3}[a-z]?", token.casefold()) or not any(c.isalpha() for c in token):
        return ""  # a.m., e.g., dates
    return token if "/" in token or "\\" in token or token.startswith("-") else token.casefold()


@lru_cache(maxsize=65_536)
def _quotations(text: str) -> tuple[str, ...]:
    parts = (match.group(1) or match.group(2) or "" for match in _QUOTED.finditer(text))
    return tuple(sorted(" ".join(part.casefold().split()) for part in parts))
