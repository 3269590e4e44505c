"""A rule as the log says it stands, and how an event changes it."""

from __future__ import annotations

from dataclasses import dataclass

from recall.memory.errors import InvalidField
from recall.memory.events import RuleText
from recall.memory.fold_error import FoldError
from recall.memory.names import bank_name


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; without a text it was taken out of use. `at` in microseconds UTC, `seqs` the events that wrote it."""

    name: str
    text: str
    revision: int
    at: int
    seqs: tuple[int, ...]


def folded_rule(before: Rule | None, op: str, change: RuleText, seq: int, at: int) -> Rule:
    """The rule after an event. Raises FoldError for what cannot be a rule, or would lead out of the bank's folder."""
    try:
        bank_name(change.name, "name")
    except InvalidField as bad:
        raise FoldError(f"writes a rule whose {bad}") from None
    if bool(change.text) is not (op == "rule"):
        raise FoldError(f"writes rule {change.name!r} without what {op!r} needs")
    if change.revision <= (0 if before is None else before.revision):
        raise FoldError(f"writes revision {change.revision} of rule {change.name!r} a second time")
    seqs = () if before is None else before.seqs
    return Rule(change.name, change.text, change.revision, at, (*seqs, seq))
