"""Quantities that a text states: numbers, their units and currencies. Different quantities, different facts."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from consolidate.guards.verdict import Finding, compare
from consolidate.lexicon.filler import NUMBER_WORDS
from consolidate.memo import Memo
from consolidate.words import CACHED_TEXTS, words

_UNITS: Final[dict[str, str]] = {
    spelling: spellings.split()[0]
    for spellings in (
        "percent percents %", "nanosecond nanoseconds ns", "microsecond microseconds us µs μs",
        "millisecond milliseconds ms", "second seconds sec secs s", "minute minutes min mins",
        "hour hours hr hrs h hourly",
        "day days d daily", "week weeks w weekly", "month months monthly", "year years yr yrs y yearly annually",
        "quarterly", "kilometer kilometers kilometre kilometres km", "mile miles mi",
        "meter meters metre metres", "centimeter centimeters cm", "millimeter millimeters mm", "foot feet ft",
        "inch inches", "kilogram kilograms kilo kilos kg", "gram grams g", "milligram milligrams mg", "lb lbs",
        "ounce ounces oz", "liter liters litre litres l", "milliliter milliliters ml", "gallon gallons",
        "celsius °c", "fahrenheit °f", "byte bytes", "kilobyte kilobytes kb", "megabyte megabytes mb",
        "gigabyte gigabytes gb", "terabyte terabytes tb", "kib", "mib", "gib", "tib", "kbps", "mbps", "gbps", "hz",
        "khz", "mhz", "ghz", "m", "k", "b", "usd dollar dollars", "eur euro euros", "gbp", "pound pounds",
        "jpy yen", "cny yuan", "inr rupee rupees", "chf franc francs", "thousand", "million millions",
        "billion billions",
    )
    for spelling in spellings.split()
}  # fmt: skip
_SHORT = frozenset("ns us ms sec second s min h d w y mi l g m k b inch foot".split())
"""Units only right after a number: elsewhere they are words."""
_AFTER_NUMBER = re.compile(r"\d\s*(%|°\s?[CFcf]|[A-Za-zµμ]{1,12})(?![\w])")
_BITS = re.compile(r"[KMGT]i?b(?:ps|/s)?")
_ORDINAL_WORDS = {
    word: str(at)
    for at, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), start=1)
}
_DIGITS = re.compile(
    r"[-−+]?(?:(?<![\w.])\.)?\d+(?:[.,:/]\d+)*\+?(?![\w+])|[-−+]?(?:(?<![\w.])\.)?\d+(?:[.,:/]\d+)*|[A-Za-z]+"
)
_JOINTS: Final = {
    **dict.fromkeys(("-", "–", "—", "−", "to", "through", "..", "..."), "-"),
    **{sign: sign for sign in ("+", "*", "×", "_", "/", "÷", ":", "^", "±", "%")},
}
"""What between two numbers makes one statement of them: a range, a ratio, a sum."""
_LONGEST_JOINT = 9
_DIGIT = re.compile(r"\d")
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+")


def numbers(a: Memo, b: Memo) -> Finding | None:
    """Numbers differ, or stand in another order."""
    return compare("numbers", numbers_in(a.text), numbers_in(b.text))


def units(a: Memo, b: Memo) -> Finding | None:
    """Units or currencies differ."""
    return compare("units", units_in(a.text), units_in(b.text))


@lru_cache(maxsize=CACHED_TEXTS)
def numbers_in(text: str) -> tuple[str, ...]:
    """The numbers of a text in order, spelled-out small ones as digits."""
    if not _DIGIT.search(text):
        return tuple([_number_word(word) for word in words(text) if word in NUMBER_WORDS or word in _ORDINAL_WORDS])
    found: list[str] = []
    end = -_LONGEST_JOINT - 1
    for match in _DIGITS.finditer(text):
        token = match.group().lower()
        value = _number_word(token) if token.isalpha() else _digits(text, match)
        if not value:
            continue
        start = match.start() + (token[0] in "-−+" and end == match.start())
        if start - end <= _LONGEST_JOINT and (joint := _JOINTS.get(text[end:start].strip().lower())):
            found.append(joint)
        found.append(value)
        end = match.end()
    return tuple(found)


def _number_word(word: str) -> str:
    return NUMBER_WORDS.get(word) or _ORDINAL_WORDS.get(word, "")


def _digits(text: str, match: re.Match[str]) -> str:
    token = match.group().replace("−", "-").lstrip("+")
    glued = match.start() > 0 and (text[match.start() - 1].isalnum() or text[match.start() - 1] in ")]")
    if token.startswith("-") and glued:
        token = token[1:]
    return token.replace(",", "") if _GROUPED.fullmatch(token) else token


@lru_cache(maxsize=CACHED_TEXTS)
def units_in(text: str) -> tuple[str, ...]:
    """Units and currencies, by one name each."""
    found = {_UNITS[word] for word in words(text) if word in _UNITS and word not in _SHORT}
    if _DIGIT.search(text):
        found.update(_unit(match.group(1)) for match in _AFTER_NUMBER.finditer(text))
    if "$" in text or not text.isascii():
        found.update(_UNITS.get(char, _SIGNS.get(char, char)) for char in text if unicodedata.category(char) == "Sc")
    return tuple(sorted(found - {""}))


_SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr"}


def _unit(token: str) -> str:
    """Case counts where it must: megabits (Mb), millions (M), milli- and megawatts (mW, MW)."""
    if _BITS.fullmatch(token) or token in {"M", "mW", "MW", "mA", "MA", "G"}:
        return token
    return _UNITS.get(token.lower().replace(" ", ""), "")
