"""A figure beside the bar it has to keep."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from rich.table import Table


class AtMost(msgspec.Struct, frozen=True, tag=True):
    """Kept when the value is not over the bar."""

    value: float
    bar: float
    unit: str = ""

    @property
    def holds(self) -> bool:
        return self.value <= self.bar


class AtLeast(msgspec.Struct, frozen=True, tag=True):
    """Kept when the value is not under the bar."""

    value: float
    bar: float
    unit: str = ""

    @property
    def holds(self) -> bool:
        return self.value >= self.bar


Bar = AtMost | AtLeast


def all_hold(bars: Mapping[str, Bar]) -> bool:
    """Whether every bar is kept."""
    return all(bar.holds for bar in bars.values())


def table(title: str, bars: Mapping[str, Bar]) -> Table:
    """One row a bar."""
    made = Table("figure", title=title, title_justify="left")
    for heading in ("measured", "bar", ""):
        made.add_column(heading, justify="right")
    for name, bar in bars.items():
        sign = "≤" if isinstance(bar, AtMost) else "≥"
        verdict = "[green]holds[/green]" if bar.holds else "[red]missed[/red]"
        made.add_row(name, f"{bar.value:.2f} {bar.unit}".strip(), f"{sign} {bar.bar:g} {bar.unit}".strip(), verdict)
    return made
