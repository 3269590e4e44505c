"""Where "a", "an" and "the" say something."""

from __future__ import annotations

from typing import Final

MATTERS_BEFORE: Final[frozenset[str]] = frozenset("few little most least one other only lot".split())
"""A few is not few, the most is not most, the other users are not other users."""

A_MATTERS_BEFORE: Final[frozenset[str]] = frozenset(
    "second third fourth fifth sixth seventh eighth ninth tenth 2nd 3rd 4th 5th 6th 7th 8th 9th 10th".split()
)
"""A second pill is one more, the second pill is the one after the first."""

LETTERED: Final[frozenset[str]] = frozenset(
    "option plan vitamin grade class type team group section part step variant hepatitis schedule phase unit model "
    "exhibit appendix figure table block building gate terminal zone tier level choice answer column row bucket".split()
)
"""After these an "a" is a letter."""

NOT_AFTER_ARTICLE: Final[frozenset[str]] = frozenset(
    "and or is are was were to of in for on with at has have had will can must should by from if not".split()
)
"""No noun phrase begins with these, so an "a" before them is a letter."""

MATTERS_AFTER: Final[frozenset[str]] = frozenset({"what"})
"""What a mess is no question of what mess it is."""

MATTERS_BETWEEN: Final[dict[str, frozenset[str]]] = {
    noun: frozenset(before.split())
    for noun, before in {
        "front": "in", "charge": "in", "way": "in on by under", "office": "in", "case": "in", "store": "in",
        "hand": "in on at out", "line": "in on", "order": "in", "turn": "in", "power": "in", "class": "in",
        "part": "take takes took taking", "care": "take takes took taking", "face": "lose loses lost losing",
        "house": "keep keeps kept keeping", "ball": "play plays played", "hands": "change changes changed",
        "place": "in take takes took taken taking", "court": "in", "red": "in", "black": "in",
        "dark": "in", "shape": "in",
        "question": "of in", "day": "by", "night": "by", "hour": "by", "child": "with", "sea": "at to by",
        "time": "at in on for", "times": "at", "moment": "for at", "board": "on", "call": "on", "hold": "on",
        "track": "on",
        "top": "on", "air": "on", "fire": "on", "duty": "on", "foot": "on", "point": "on to", "record": "off on",
        "rest": "at", "view": "in", "season": "in", "session": "in", "labor": "in", "labour": "in", "business": "in on",
        "love": "in", "trouble": "in", "force": "in by", "practice": "in", "theory": "in", "stock": "in",
        "world": "in", "bit": "not", "heart": "by at", "sight": "on in at", "leave": "on", "demand": "on in",
    }.items()
}  # fmt: skip
"""Nouns by the words before them with which they are an idiom without the article, and something else with it: who sits
in front of the car does not sit in the front of it."""
