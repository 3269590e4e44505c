"""Do two runs of one set differ by more than chance? Paired on the questions that both asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.quality import metrics, tables
from benchmarks.quality.figures import Figures, read
from benchmarks.quality.judgement import Judgement
from benchmarks.quality.significance import DEFAULT_RESAMPLING, Difference, ResamplingSettings, difference


class IncomparableError(ValueError):
    """The two runs are not of the same set and unit, or share no system or question."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One system in both runs: values of A and B for each compared metric, and B - A."""

    system: str
    n: int
    unpaired: int
    before: dict[str, float]
    after: dict[str, float]
    change: dict[str, Difference]


def compare(
    before: Figures, after: Figures, resampling: ResamplingSettings = DEFAULT_RESAMPLING
) -> tuple[Comparison, ...]:
    """Compares every system that both runs measured. Raises IncomparableError."""
    if (before.set, before.unit) != (after.set, after.unit):
        raise IncomparableError(f"{before.set}/{before.unit} against {after.set}/{after.unit}")
    shared = [name for name in before.questions if name in after.questions]
    if not shared:
        raise IncomparableError(f"no system in common: {', '.join(before.questions)} / {', '.join(after.questions)}")
    return tuple(_compare(name, before, after, resampling) for name in shared)


def _compare(system: str, before: Figures, after: Figures, resampling: ResamplingSettings) -> Comparison:
    old = {judged.question: judged for judged in before.headline_judgements(system)}
    new = {judged.question: judged for judged in after.headline_judgements(system)}
    pairs = [(old[question], new[question]) for question in old if question in new]
    if not pairs:
        raise IncomparableError(f"{system}: no question in common")
    left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return Comparison(
        system,
        len(pairs),
        len(old.keys() ^ new.keys()),
        _means(left),
        _means(right),
        {
            name: difference(metrics.values(name, left), metrics.values(name, right), resampling)
            for name in metrics.COMPARED
        },
    )


def _means(judged: list[Judgement]) -> dict[str, float]:
    return {name: metrics.mean(name, judged) for name in metrics.COMPARED}


def show(before: Path, after: Path, console: Console) -> None:
    """Prints the comparison of two files. Raises IncomparableError, OSError, msgspec.DecodeError."""
    old, new = read(before), read(after)
    found = compare(old, new)
    table = Table("system", "metric", title=f"{old.set}, unit {old.unit}, {old.headline}: B - A")
    for heading in ("A", "B", "B - A \\[95 % interval] p", "verdict"):
        table.add_column(heading, justify="right")
    for row in _rows(found):
        table.add_row(*row)
    console.print(table)
    console.print(f"A = {before} ({old.model}), B = {after} ({new.model}); n = {found[0].n}", highlight=False)
    if unpaired := max(one.unpaired for one in found):
        console.print(f"{unpaired} questions stand in one run only and were left out", style="yellow")


def _rows(found: tuple[Comparison, ...]) -> Iterator[tuple[str, ...]]:
    for one in found:
        for name, change in one.change.items():
            yield (
                one.system,
                name,
                f"{one.before[name]:.3f}",
                f"{one.after[name]:.3f}",
                tables.describe(change),
                verdict(change),
            )


def verdict(change: Difference) -> str:
    """ "better", "worse", or "no difference shown" when the interval holds zero."""
    if not change.is_significant:
        return "no difference shown"
    return "better" if change.mean > 0 else "worse"
