"""What a text holds that must be the same letter by letter: identifiers, quotations, meaning-bearing symbols."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from consolidate.guards.verdict import Finding, compare
from consolidate.memo import Memo
from consolidate.words import CACHED_TEXTS

_IDENTIFIER = re.compile(
    r"https?://\S+|[\w.+-]+@[\w-]+\.[\w.]+|(?:[~.]{0,2}/)?[\w.-]+(?:/[\w.-]+)+|~?/[\w.-]+|[A-Za-z]:\\\S+|"
    r"(?<![\w-])--?[A-Za-z][\w-]*|\b[A-Za-z]\w*[+#]+|\b[A-Z]-(?![\w-])|\b\w+\.\w[\w.]*(?:-[a-z][\w.]*)?|\b[A-Za-z]\w*_\w+\b|"
    r"\b[a-z]+[A-Z]\w*\b|\b(?=\w*\d)(?=\w*[A-Za-z])[\w-]+\b|\b[A-Za-z]+-\d[\w-]*|[@#]\w[\w-]*|(?<![\w.])\.[A-Za-z]\w+"
)
_MAY_IDENTIFY = re.compile(r"[/@\\_#+\d]|\b[A-Z]-(?!\w)|\w\.\w|[a-z][A-Z]|(?<![\w-])--?[A-Za-z]|(?<![\w.])\.[A-Za-z]")
_LONGEST_NAME = 300
_QUOTED = re.compile(r"[\"“”«»`]([^\"“”«»`]{1,200})[\"“”«»`]|(?<!\w)'([^']{1,200})'(?!\w)")
_MAY_QUOTE = re.compile(r"[\"“”«»`']")
_NUMBERED = re.compile(r"\d+(?:st|nd|rd|th)|\d+[a-zµ%]{1,4}", re.IGNORECASE)
_ABBREVIATED = re.compile(r"(?:[a-z]\.){1,3}[a-z]?", re.IGNORECASE)
_SYMBOL = re.compile(
    r"(?m)(?<!^)[<>]=?|^[<>]=?(?=\s?\d)|[=~^+≠≤≥±×÷→←↑↓]|!(?=[\w=])|[:;]-?[()DP](?!\w)|&&?|\|\|?|\\|%(?=[A-Za-z])|\$(?=[A-Za-z_{])|"
    r"\*(?=[./])|(?<=/)\*|(?<=\w )[*%](?= [\w(])|(?<=\d)[*‰‱′″](?!\*)|"
    r"[\[(]\s?-?\d[\d.]*\s?,\s?-?[\d.∞]+\s?[\])]"
)
"""Punctuation that is read as a word: operators, wildcards, marks of variables, the brackets of an interval."""
_SIGNS = frozenset("<>=~^+‰‱′″≠≤≥±×÷→←↑↓!:;&|\\%$*[(")
"""One of them is in every text with a symbol; ";-)" and "!=" among them."""
_MAY_BE_INCHES = re.compile(r"\d[\"'](?!\w)")
_INCHES = re.compile(r"(?<![\"'\d.])\b\d+(?:\.\d+)?[\"'](?!\w)")
_PICTURES = frozenset({"So", "Sm"})
_ANSWER = re.compile(r"^\W*(no|yes|don't|stop|not)\s*,", re.IGNORECASE)


def identifiers(a: Memo, b: Memo) -> Finding | None:
    """URLs, paths, addresses, versions, flags or code names differ."""
    return compare("identifiers", identifiers_in(a.text), identifiers_in(b.text))


def quotations(a: Memo, b: Memo) -> Finding | None:
    """Quoted text differs."""
    return compare("quotations", quotations_in(a.text), quotations_in(b.text))


def symbols(a: Memo, b: Memo) -> Finding | None:
    """Signs that no word stands for differ: < and >, ~, emoji, and the comma of "No, restart it"."""
    return compare("symbols", symbols_in(a.text), symbols_in(b.text))


@lru_cache(maxsize=CACHED_TEXTS)
def identifiers_in(text: str) -> tuple[str, ...]:
    """Identifiers of a text; those whose case counts keep it."""
    if not _MAY_IDENTIFY.search(text):
        return ()
    found = {token for piece in text.split() if _MAY_IDENTIFY.search(piece) for token in _tokens(piece)}
    return tuple(sorted({_identifier(token) for token in found} - {""}))


def _tokens(piece: str) -> list[str]:
    """The identifiers in a piece without white space; one too long for a name is an identifier as a whole."""
    if len(piece) > _LONGEST_NAME:
        return [piece]
    return [match.group().rstrip(".,;:!?)") for match in _IDENTIFIER.finditer(piece)]


def _identifier(token: str) -> str:
    if _NUMBERED.fullmatch(token) or _ABBREVIATED.fullmatch(token) or not any(char.isalpha() for char in token):
        return ""  # ordinals, units, a.m., e.g., dates: other guards speak of these
    return token if "/" in token or "\\" in token or token.startswith("-") else token.casefold()


@lru_cache(maxsize=CACHED_TEXTS)
def quotations_in(text: str) -> tuple[str, ...]:
    """Quoted passages."""
    if not _MAY_QUOTE.search(text):
        return ()
    parts = (match.group(1) or match.group(2) or "" for match in _QUOTED.finditer(text))
    return tuple(sorted(" ".join(part.casefold().split()).strip(".,;:!?") for part in parts))


@lru_cache(maxsize=CACHED_TEXTS)
def symbols_in(text: str) -> tuple[str, ...]:
    """Signs that change what is said, in order."""
    found = [] if _SIGNS.isdisjoint(text) else _SYMBOL.findall(text)
    if _MAY_BE_INCHES.search(text):
        found += _INCHES.findall(text)
    if not text.isascii():
        found += [char for char in text if unicodedata.category(char) in _PICTURES]
    if answer := _ANSWER.match(text):
        found.append(f"{answer.group(1).lower()},")
    return tuple(found)
