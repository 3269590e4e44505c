"""Punctuation that changes what is said; elsewhere it is wording.

"Let's eat, grandma", "the users, who pay, get support", "he left? Fine.", "a man-eating shark". A text whose
punctuation was stripped as a whole says nothing by lacking it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from consolidate.canonical import same_wording
from consolidate.guards.verdict import Finding, Verdict
from consolidate.lexicon.filler import IMPERATIVES
from consolidate.memo import Memo
from consolidate.words import CACHED_TEXTS, words

_ORDER = "order"
_LAST_WORD = re.compile(r",\s*[\w-]+\s*[.!?]*")
_HAZARDS = (
    (re.compile(r",\s*(who|which|whose|whom)\b"), "the comma before"),
    (re.compile(r",\s*(said|says|asked|asks|thinks|thought|wrote)\b[^,]*,"), "commas around"),
    (re.compile(r"(?:\bnot|n't)\b[^.!?,]*,\s*(because)\b"), "the comma before"),
)
_AT_THE_START = (
    (re.compile(r"\W*(however|still|now|again|once|only|instead|later)\s*,"), "the comma after"),
    (re.compile(r"\W*\w+,\s*(\w\w+)"), _ORDER),
)
_COMMA = re.compile(r"[\"”)]?(?:[,;]|\s[-–—])\s+[\"“(]?")
_ANIMATE = re.compile(r"\b(?:man|men|woman|women|child|dog|cat|bird|fish|bear|person|people)-\w+ing\b")
_INNER = frozenset(",;-–—")
_ENDS = re.compile(r"[.!?？؟]+(?=\s|$)")
_ANY = re.compile(r"[.,;:!?]")
_TAKES_OBJECT = IMPERATIVES | frozenset(
    "eat know see understand cook drink love believe hear follow win fire shoot kill hit pay drive teach feed visit me "
    "him them us eating cooking driving painting calling helping".split()
)


def punctuation(a: Memo, b: Memo) -> Finding | None:
    """Commas, question marks within or hyphens differ where they decide what is said."""
    left, right = pointed_in(a.text), pointed_in(b.text)
    if left == right or not same_wording(a.text, b.text) or _is_stripped(a.text, b.text):
        return None
    if left[0] != right[0] and len(left[0]) == len(right[0]):
        return Finding("punctuation", Verdict.PROPOSE, "a question within against a statement")
    for mine, other in ((left, b), (right, a)):
        for hazard in sorted(set(mine[1]) - set((right if mine is left else left)[1])):
            what, word = hazard.split(" ", 1) if hazard.startswith(_ORDER) else ("", "")
            if not what or f"{word}s" in words(other.text):
                return Finding("punctuation", Verdict.PROPOSE, f"only one has {hazard}")
    if _lost_comma(left[2] - right[2], b.text) and _lost_comma(right[2] - left[2], a.text):
        return Finding("punctuation", Verdict.PROPOSE, "the commas stand elsewhere")
    return None


def _lost_comma(commas: frozenset[tuple[str, str]], text: str) -> bool:
    """Whether two words that a comma parts elsewhere stand side by side in this text."""
    return bool(commas) and not commas.isdisjoint(pairwise(words(text)))


def _is_stripped(a: str, b: str) -> bool:
    """Whether one text has no punctuation at all, and the other ends a sentence."""
    return any(not _ANY.search(bare) and _ENDS.search(full) is not None for bare, full in ((a, b), (b, a)))


@lru_cache(maxsize=CACHED_TEXTS)
def pointed_in(text: str) -> tuple[str, tuple[str, ...], frozenset[tuple[str, str]]]:
    """How the sentences end ("." or "?" each), what punctuation decides, and the words at the commas."""
    ends = "".join(["." if "?" not in end else "?" for end in _ENDS.findall(text)])
    if _INNER.isdisjoint(text):
        return ends, (), frozenset()
    lower = text.lower()
    found: list[str] = _ANIMATE.findall(lower) if "-" in text else []
    if "," not in text:
        return ends, tuple(found), _at_commas(lower)
    for pattern, what in _HAZARDS:
        found += [f"{what} {match}" for match in pattern.findall(lower)]
    for pattern, what in _AT_THE_START:
        if first := pattern.match(lower):
            found.append(f"{what} {first[1]}")
    if _LAST_WORD.fullmatch(lower, at := lower.rfind(",")) and (lower[:at].split() or [""])[-1] in _TAKES_OBJECT:
        found.append("a comma before whom it addresses")
    return ends, tuple(found), _at_commas(lower)


def _at_commas(lower: str) -> frozenset[tuple[str, str]]:
    """The words before and after each comma, semicolon or dash."""
    pieces = [piece.split() for piece in _COMMA.split(lower)]
    return frozenset([(before[-1], after[0]) for before, after in pairwise(pieces) if before and after])
