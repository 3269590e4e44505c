"""Why two look-alikes must stay apart: one small strategy each, by the name that reports show."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from consolidate.guards import calendar, classes, force, marks, names, polarity, punctuation, quantities, scope, wording
from consolidate.guards.verdict import Finding, Guard, Verdict
from consolidate.memo import Memo
from consolidate.plain import plain
from consolidate.words import CACHED_TEXTS

GUARDS: Final[dict[str, Guard]] = {
    "emptiness": wording.emptiness,
    "scope": scope.scope,
    "entities": names.entities,
    "numbers": quantities.numbers,
    "negation": polarity.negation,
    "opposites": polarity.opposites,
    "classes": classes.classes,
    "quantifiers": force.quantifiers,
    "modality": force.modality,
    "question": force.question,
    "units": quantities.units,
    "dates": calendar.dates,
    "identifiers": marks.identifiers,
    "quotations": marks.quotations,
    "symbols": marks.symbols,
    "punctuation": punctuation.punctuation,
    "names": names.names,
    "persons": names.persons,
    "argument_order": names.argument_order,
    "language": scope.language,
    "letter_case": names.letter_case,
    "counts": classes.counts,
    "wording": wording.wording,
}
"""In the order in which they are asked: those that cost least and keep most come first."""

_OF_ONE_TEXT: Final = frozenset(
    "numbers negation quantifiers modality question units dates identifiers quotations symbols punctuation names "
    "persons language letter_case".split()
)
"""Guards that compare what each text states by itself: silent when both state the same."""
_ALWAYS: Final = tuple(guard for name, guard in GUARDS.items() if name not in _OF_ONE_TEXT)
_ALL: Final = tuple(GUARDS.values())


def speak(a: Memo, b: Memo) -> tuple[Finding, ...]:
    """What the guards say of a pair, in the order of `GUARDS`, up to the first that says KEEP: none can say more.

    The order of the pair does not matter.
    """
    return speak_plainly(plainly(a), plainly(b))


def speak_plainly(a: Memo, b: Memo) -> tuple[Finding, ...]:
    """As `speak`, of memories that went through `plainly`."""
    if (b.text, b.id) < (a.text, a.id):
        a, b = b, a
    findings: list[Finding] = []
    for guard in _ALWAYS if stated(a.text) == stated(b.text) else _ALL:
        if finding := guard(a, b):
            findings.append(finding)
            if finding.verdict is Verdict.KEEP:
                break
    return tuple(findings)


def plainly(memo: Memo) -> Memo:
    """The memory with the values of its text in one way of writing."""
    text = plain(memo.text)
    return memo if text == memo.text else replace(memo, text=text)


@lru_cache(maxsize=CACHED_TEXTS)
def stated(text: str) -> tuple[object, ...]:
    """What the guards of `_OF_ONE_TEXT` read in a text; most texts state nothing but their words."""
    return (
        quantities.numbers_in(text),
        polarity.negations_in(text),
        force.quantifiers_in(text),
        force.modals_in(text),
        force.asks(text),
        quantities.units_in(text),
        calendar.dates_in(text),
        marks.identifiers_in(text),
        marks.quotations_in(text),
        marks.symbols_in(text),
        punctuation.pointed_in(text),
        names.names_in(text),
        names.persons_in(text),
        scope.language_of(text),
        names.cased_in(text),
    )


__all__ = ["GUARDS", "Finding", "Guard", "Verdict", "plainly", "speak", "speak_plainly"]
