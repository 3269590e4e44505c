"""Plots as inline SVG: no library, no network, readable in light and dark.

Every plot is drawn in user units on a fixed canvas and scales with its box. Colours are CSS variables of the page
(``--s0`` …), one a system and the same in every plot; past the last of them the same colours come again, hollow and
dashed. Each mark has a <title>, so a pointer shows its value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = 13
"""How many colours the page defines."""

_GROUP_WIDTH = 92.0
_LABELLED = 8
_GAP = 9.0


@dataclass(frozen=True)
class Canvas:
    """Size and margins of a plot, user units."""

    width: float = 760.0
    height: float = 300.0
    left: float = 46.0
    right: float = 14.0
    top: float = 12.0
    bottom: float = 44.0

    @property
    def inner_width(self) -> float:
        return self.width - self.left - self.right

    @property
    def floor(self) -> float:
        return self.height - self.bottom

    def y(self, value: float) -> float:
        """Where a value of 0..1 lies."""
        return self.floor - value * (self.floor - self.top)


@dataclass(frozen=True, slots=True)
class Point:
    """A mark with its label."""

    x: float
    y: float
    label: str


def bars(groups: Mapping[str, Mapping[str, float]], series: Sequence[str]) -> str:
    """One group of bars for each key; values in 0..1. A series that a group lacks leaves a gap.

    Many groups make the plot wider than its box; the box then scrolls.
    """
    canvas = Canvas(width=max(Canvas.width, _GROUP_WIDTH * len(groups)), bottom=70.0)
    slot = canvas.inner_width / max(1, len(groups))
    bar = min(30.0, slot * 0.8 / max(1, len(series)))
    marks = []
    for number, (name, values) in enumerate(groups.items()):
        middle = canvas.left + slot * (number + 0.5)
        for place, system in enumerate(series):
            if system in values:
                x = middle + (place - len(series) / 2) * bar
                marks.append(
                    _bar(x, max(1.0, bar - 2), values[system], place, f"{name}, {system}: {values[system]:.3f}", canvas)
                )
        marks += [_text(middle, canvas.floor + 16 + 13 * row, word) for row, word in enumerate(name.split())]
    return _svg(_grid(canvas) + "".join(marks), canvas)


def curves(lines: Mapping[str, Sequence[tuple[float, float]]], x_label: str, canvas: Canvas = Canvas()) -> str:
    """Lines over a logarithmic x axis; y in 0..1."""
    all_x = sorted({x for points in lines.values() for x, _ in points})
    scale = _LogScale(all_x[0], all_x[-1], canvas)
    marks = [_text(scale.x(x), canvas.floor + 16, f"{x:g}") for x in all_x]
    for number, (system, points) in enumerate(lines.items()):
        marks += _line([Point(scale.x(x), canvas.y(y), f"{system} at {x:g}: {y:.3f}") for x, y in points], number)
    return _svg(_grid(canvas) + "".join(marks) + _axis_label(x_label, canvas), canvas)


def powers(
    lines: Mapping[str, Sequence[tuple[float, float]]], x_label: str, unit: str, canvas: Canvas = Canvas()
) -> str:
    """Lines over two logarithmic axes, where a power is a straight line; `unit` is that of y.

    Raises ValueError for what has no logarithm.
    """
    points = [point for each in lines.values() for point in each]
    if any(value <= 0 for point in points for value in point):
        raise ValueError("a logarithmic axis has no place for zero and below")
    low, high = _decades([y for _, y in points])
    across, all_x = _LogScale(min(x for x, _ in points), max(x for x, _ in points), canvas), {x for x, _ in points}
    span = math.log(high / low)
    marks = [_text(across.x(x), canvas.floor + 16, f"{x:g}") for x in sorted(all_x)]
    for decade in range(round(math.log10(low)), round(math.log10(high)) + 1):
        marks.append(_rule(canvas.y(math.log(10.0**decade / low) / span), f"{10.0**decade:g}", canvas))
    for number, (name, each) in enumerate(lines.items()):
        at = [Point(across.x(x), canvas.y(math.log(y / low) / span), f"{name} at {x:g}: {y:g} {unit}") for x, y in each]
        marks += _line(at, number)
    return _svg("".join(marks) + _axis_label(x_label, canvas), canvas)


def scatter(points: Mapping[str, tuple[float, float]], x_label: str, canvas: Canvas = Canvas()) -> str:
    """One dot a series over a logarithmic x axis; y in 0..1. Few series have their names beside them."""
    values = [x for x, _ in points.values()]
    scale = _LogScale(*_decades(values), canvas)
    marks = [_text(scale.x(tick), canvas.floor + 16, f"{tick:g}") for tick in scale.ticks()]
    for number, (system, (x, y)) in enumerate(points.items()):
        point = Point(scale.x(x), canvas.y(y), f"{system}: {x:.2f} ms, {y:.3f}")
        marks.append(_dot(point, number, 6))
        if len(points) <= _LABELLED:
            right = point.x > canvas.left + canvas.inner_width / 2
            marks.append(_text(point.x + (-_GAP if right else _GAP), point.y + 4, system, "end" if right else "start"))
    return _svg(_grid(canvas) + "".join(marks) + _axis_label(x_label, canvas), canvas)


def whiskers(
    rows: Mapping[str, tuple[float, float, float]], colours: Mapping[str, int], canvas: Canvas | None = None
) -> str:
    """One row a series: the mean difference as a dot, its interval (low, high) as a line, zero as the rule."""
    canvas = canvas or Canvas(height=40.0 + 30.0 * len(rows), left=150.0)
    reach = max(1e-6, *(max(abs(low), abs(high)) for _, low, high in rows.values())) * 1.1
    middle, half = canvas.left + canvas.inner_width / 2, canvas.inner_width / 2
    marks = [f'<line class="rule" x1="{middle}" x2="{middle}" y1="{canvas.top}" y2="{canvas.floor + 4}"/>']
    for number, (system, (mean, low, high)) in enumerate(rows.items()):
        y, place = canvas.top + 30 * number + 12, colours[system]
        x1, x2 = (middle + half * edge / reach for edge in (low, high))
        label = f"{system}: {mean:+.3f} [{low:+.3f}, {high:+.3f}]"
        marks.append(f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y}" y2="{y}" stroke="{colour(place)}" stroke-width="3"/>')
        marks.append(_dot(Point(middle + half * mean / reach, y, label), place, 5))
        marks.append(_text(canvas.left - 10, y + 4, system, "end"))
    ends = ((-reach, "start"), (0.0, "middle"), (reach, "end"))
    marks += [_text(middle + half * end / reach, canvas.floor + 20, f"{end:+.3f}", anchor) for end, anchor in ends]
    return _svg("".join(marks), canvas)


@dataclass(frozen=True, slots=True)
class _LogScale:
    low: float
    high: float
    canvas: Canvas

    def x(self, value: float) -> float:
        span = math.log(self.high / self.low) or 1.0
        return self.canvas.left + math.log(value / self.low) / span * (self.canvas.inner_width - 8) + 4

    def ticks(self) -> list[float]:
        decades = range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)
        every = [10.0**decade * step for decade in decades for step in (1, 2, 5)]
        return [tick for tick in every if self.low <= tick <= self.high]


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """The powers of ten around them."""
    return 10.0 ** math.floor(math.log10(min(values))), 10.0 ** math.ceil(math.log10(max(values)) + 1e-9)


def _line(at: Sequence[Point], number: int) -> list[str]:
    path = " ".join(f"{point.x:.1f},{point.y:.1f}" for point in at)
    dashes = "" if is_solid(number) else ' stroke-dasharray="5 4"'
    line = f'<polyline points="{path}" fill="none" stroke="{colour(number)}" stroke-width="2"{dashes}/>'
    return [line, *(_dot(point, number, 3) for point in at)]


def _svg(body: str, canvas: Canvas) -> str:
    box = f'viewBox="0 0 {canvas.width:g} {canvas.height:g}" style="min-width:{canvas.width * 0.8:.0f}px"'
    return f'<div class="scroll"><svg {box} role="img">{body}</svg></div>'


def _grid(canvas: Canvas) -> str:
    lines = []
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        lines.append(_rule(canvas.y(tick), f"{tick:.1f}", canvas))
    return "".join(lines)


def _rule(y: float, label: str, canvas: Canvas) -> str:
    line = f'<line class="grid" x1="{canvas.left}" x2="{canvas.width - canvas.right}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return line + _text(canvas.left - 8, y + 4, label, "end")


def _bar(x: float, width: float, value: float, series: int, label: str, canvas: Canvas) -> str:
    y = canvas.y(value)
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{canvas.floor - y:.1f}" rx="1.5" '
        f"{_paint(series)}><title>{escape(label)}</title></rect>"
    )


def _dot(point: Point, series: int, radius: float) -> str:
    return (
        f'<circle cx="{point.x:.1f}" cy="{point.y:.1f}" r="{radius:g}" {_paint(series)}>'
        f"<title>{escape(point.label)}</title></circle>"
    )


def legend(series: Sequence[str]) -> str:
    """The colours by name, as HTML."""
    spans = (f'<span><i style="{_swatch(place)}"></i>{escape(name)}</span>' for place, name in enumerate(series))
    return f'<p class="legend">{"".join(spans)}</p>'


def _swatch(series: int) -> str:
    painted = f"border:2px solid {colour(series)};box-sizing:border-box"
    return f"{painted};background:{colour(series)}" if is_solid(series) else painted


def colour(series: int) -> str:
    """The colour of a series, by its place among all."""
    return f"var(--s{series % COLOURS})"


def is_solid(series: int) -> bool:
    """False once the colours come again."""
    return series < COLOURS


def _paint(series: int) -> str:
    if is_solid(series):
        return f'fill="{colour(series)}"'
    return f'fill="var(--bg)" stroke="{colour(series)}" stroke-width="1.5"'


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _axis_label(text: str, canvas: Canvas) -> str:
    return _text(canvas.left + canvas.inner_width / 2, canvas.height - 6, text)
