"""Leave one haystack out: the system that is best on the others, judged on the one that is left out.

What a choice among the systems of a run is worth on data that it did not see. *Best* is the greatest sum of fraction@10
and MRR; a haystack is one conversation, so nothing said in it helps to choose for it. Only what was a system of the run
is covered: which signals there are at all was decided on all of the development files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.quality import metrics
from benchmarks.quality.figures import Figures, read
from benchmarks.quality.judgement import Judgement

_AIMS = ("fraction@10", "MRR")
_LEAST_HAYSTACKS = 2

Judged = Mapping[str, list[Judgement]]


class TooFewHaystacksError(ValueError):
    """One haystack alone cannot be left out."""


@dataclass(frozen=True, slots=True)
class Fold:
    """One haystack, the system that was chosen on the others, and what it does here."""

    haystack: str
    chosen: str
    judged: tuple[Judgement, ...]


def folds(found: Figures, candidates: Iterable[str] = ()) -> tuple[Fold, ...]:
    """A fold for each haystack, over the headline; all systems of the run are candidates unless some are named."""
    names = tuple(candidates) or tuple(found.questions)
    judged = {name: found.headline_judgements(name) for name in names}
    haystacks = dict.fromkeys(haystack_of(one) for one in judged[names[0]])
    if len(haystacks) < _LEAST_HAYSTACKS:
        raise TooFewHaystacksError(f"{found.set} has {len(haystacks)} haystack with questions: none can be left out")
    return tuple(_fold(haystack, judged) for haystack in haystacks)


def haystack_of(judged: Judgement) -> str:
    """Loaders put it first in the id of a question."""
    return judged.question.partition("/")[0]


def _fold(haystack: str, judged: Judged) -> Fold:
    seen = {name: [one for one in all_of if haystack_of(one) != haystack] for name, all_of in judged.items()}
    chosen = max(seen, key=lambda name: sum(metrics.mean(aim, seen[name]) for aim in _AIMS))
    return Fold(haystack, chosen, tuple(one for one in judged[chosen] if haystack_of(one) == haystack))


def show(path: Path, candidates: Iterable[str], default: str, console: Console) -> None:
    """Prints each fold, all of them together, and the default beside. Raises TooFewHaystacksError, OSError."""
    found = read(path)
    table = Table("left out", "chosen on the others", "n", *metrics.COMPARED, title=f"{found.set}, {found.headline}")
    made = folds(found, candidates)
    for fold in made:
        table.add_row(fold.haystack, fold.chosen, str(len(fold.judged)), *_values(fold.judged))
    unseen = [one for fold in made for one in fold.judged]
    table.add_row("all, unseen", "", str(len(unseen)), *_values(unseen))
    if default in found.questions:
        table.add_row("all", default, str(found.n), *_values(found.headline_judgements(default)))
    console.print(table)


def _values(judged: Iterable[Judgement]) -> list[str]:
    return [f"{metrics.mean(name, list(judged)):.3f}" for name in metrics.COMPARED]
