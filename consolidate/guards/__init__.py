"""Why two look-alikes must stay apart: one small strategy each, by the name that reports show."""

from __future__ import annotations

from typing import Final

from consolidate.guards import force, names, polarity, scope, values, wording
from consolidate.guards.verdict import Finding, Guard, Verdict
from consolidate.memo import Memo

GUARDS: Final[dict[str, Guard]] = {
    "emptiness": wording.emptiness,
    "scope": scope.scope,
    "language": scope.language,
    "question": force.question,
    "numbers": values.numbers,
    "units": values.units,
    "dates": values.dates,
    "identifiers": values.identifiers,
    "quotations": values.quotations,
    "negation": polarity.negation,
    "opposites": polarity.opposites,
    "quantifiers": force.quantifiers,
    "modality": force.modality,
    "names": names.names,
    "entities": names.entities,
    "persons": names.persons,
    "argument_order": names.argument_order,
    "letter_case": names.letter_case,
    "wording": wording.wording,
}


def speak(a: Memo, b: Memo) -> tuple[Finding, ...]:
    """What every guard has to say of a pair, in the order of `GUARDS`; the pair's own order does not matter."""
    first, second = sorted((a, b), key=lambda memo: (memo.text, memo.id))
    return tuple(finding for guard in GUARDS.values() if (finding := guard(first, second)) is not None)


__all__ = ["GUARDS", "Finding", "Guard", "Verdict", "speak"]
