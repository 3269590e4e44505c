"""Punctuation that changes what is said; elsewhere it is wording.

"Let's eat, grandma", "the users, who pay, get support", "he left? Fine.", "a man-eating shark". A text whose
punctuation was stripped as a whole says nothing by lacking it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from consolidate.canonical import same_wording
from consolidate.guards.verdict import Finding, Verdict
from consolidate.lexicon.filler import IMPERATIVES
from consolidate.memo import Memo
from consolidate.words import CACHED_TEXTS, words

_ORDER, _ADDRESS = "the order ", "a comma before whom it addresses"
_LAST_WORD = re.compile(r",\s*([\w-]+)\s*[.!?]*")
_HAZARDS = (
    (re.compile(r",\s*(who|which|whose|whom)\b"), "the comma before"),
    (re.compile(r",\s*(said|says|asked|asks|thinks|thought|wrote)\b[^,]*,"), "commas around"),
    (re.compile(r"(?:\bnot|n't)\b[^.!?,]{0,200},\s*(because)\b"), "the comma before"),
)
_AT_THE_START = (
    (re.compile(r"\W*(however|still|now|again|once|only|instead|later)\s*,"), "the comma after "),
    (re.compile(r"\W*\w+,\s*(\w\w+)"), _ORDER),
)
_FIRST_WORD = re.compile(r"\W*(\w+)\s*,")
_COMMA = re.compile(r"[\"”)]?(?:[,;]|\s[-–—])\s+[\"“(]?")
_ANIMATE = re.compile(r"\b(?:man|men|woman|women|child|dog|cat|bird|fish|bear|person|people)-\w+ing\b")
_BARE: Final = {ends: (ends, tuple[str, ...](), frozenset[tuple[str, str]]()) for ends in ("", ".", "?", "..")}
"""What most texts have: one value for all of them."""
_INNER = frozenset(",;-–—")
_ENDS = re.compile(r"[.!?？؟]+(?=\s|$)")
_ANY = re.compile(r"[.,;:!?]")
_TAGS = frozenset(
    "too though please huh right yeah yes no ok okay lol eh either again instead however then now anyway actually "
    "really honestly basically today tomorrow yesterday tonight currently sometimes usually often already "
    "maybe perhaps".split()
)
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
    lost = _lost_comma(left[2] - right[2], b.text), _lost_comma(right[2] - left[2], a.text)
    for one, two, text, gone in ((left, right, b.text, lost[0]), (right, left, a.text, lost[1])):
        for hazard in sorted(set(one[1]) - set(two[1])):
            if _decides(hazard, text, gone):
                return Finding("punctuation", Verdict.PROPOSE, f"only one has {hazard}")
    if all(lost):
        return Finding("punctuation", Verdict.PROPOSE, "the commas stand elsewhere")
    return None


def _decides(hazard: str, other: str, gone: bool) -> bool:
    """Whether what one text has makes another statement of it than the other, where a comma may be gone, is."""
    if hazard.startswith(_ORDER):
        return f"{hazard.removeprefix(_ORDER)}s" in words(other)
    return gone or not hazard.startswith(_ADDRESS)


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
        return _BARE.get(ends) or (ends, (), frozenset())
    lower = text.lower()
    found: list[str] = _ANIMATE.findall(lower) if "-" in text else []
    if "," not in text:
        return ends, tuple(found), _at_commas(lower)
    for pattern, what in _HAZARDS:
        found += [f"{what} {match}" for match in pattern.findall(lower)]
    for pattern, what in _AT_THE_START:
        if first := pattern.match(lower):
            found.append(f"{what}{first[1]}")
    if (verb := _FIRST_WORD.match(lower)) and verb[1] in _TAKES_OBJECT:
        found.append(f"the comma after {verb[1]}")
    if _addresses(text):
        found.append(_ADDRESS)
    return ends, tuple(found), _at_commas(lower)


def _addresses(text: str) -> bool:
    """Whether the only word after the last comma is somebody spoken to, who without it would be spoken of.

    That is so after a verb, and of a common noun; "that is great, Ann" says the same without its comma.
    """
    last = _LAST_WORD.fullmatch(text, at := text.rfind(","))
    before = text[:at].lower().split()
    if last is None or not before:
        return False
    noun = last[1].islower() and last[1] not in _TAGS and len(before) > 1 and text.count(",") == 1
    return noun or before[-1] in _TAKES_OBJECT


def _at_commas(lower: str) -> frozenset[tuple[str, str]]:
    """The words before and after each comma, semicolon or dash."""
    pieces = [piece.split() for piece in _COMMA.split(lower)]
    return frozenset([(before[-1], after[0]) for before, after in pairwise(pieces) if before and after])
