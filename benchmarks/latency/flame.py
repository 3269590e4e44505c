"""A flame graph as one SVG that fetches nothing: a box a function, as wide as its share of the processor's time, its
callers below it. A pointer shows name, milliseconds and share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from html import escape

_WIDTH, _ROW, _LEAST, _CHARACTER = 1_200.0, 17.0, 0.4, 6.6
_HEAD = 40.0
_STYLE = "text{font:11px ui-monospace,monospace}rect{stroke:#fff;stroke-width:.5}.t{font:14px system-ui}"


@dataclass(slots=True)
class Node:
    """A function under its callers; `weight` in nanoseconds, its callees' included."""

    name: str
    weight: int = 0
    below: dict[str, Node] = field(default_factory=dict)


def tree(lines: Iterable[str]) -> Node:
    """Of collapsed stacks. Raises ValueError for a line that is none."""
    root = Node("all")
    for line in lines:
        stack, _, weight = line.rstrip("\n").rpartition(" ")
        node = root
        node.weight += int(weight)
        for name in stack.split(";"):
            node = node.below.setdefault(name, Node(name))
            node.weight += int(weight)
    return root


def svg(root: Node, title: str) -> str:
    """The picture; functions of less than a pixel are left out. Raises ValueError when nothing was sampled."""
    if not root.weight:
        raise ValueError("no stack was sampled")
    rows = 1 + max(depth for depth, _, _ in _placed(root, 0, 0.0, _WIDTH / root.weight))
    height = _HEAD + rows * _ROW + _ROW
    boxes = "".join(
        _box(node, root.weight, x, height - _ROW * (depth + 2), node.weight * _WIDTH / root.weight)
        for depth, x, node in _placed(root, 0, 0.0, _WIDTH / root.weight)
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {height:g}" width="{_WIDTH:g}">'
    ground = f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
    return f'{head}{ground}<text class="t" x="8" y="24">{escape(title)}</text>{boxes}</svg>\n'


def _placed(node: Node, depth: int, x: float, scale: float) -> Iterator[tuple[int, float, Node]]:
    yield depth, x, node
    for below in sorted(node.below.values(), key=lambda one: one.name):
        if below.weight * scale >= _LEAST:
            yield from _placed(below, depth + 1, x, scale)
        x += below.weight * scale


def _box(node: Node, whole: int, x: float, y: float, width: float) -> str:
    told = f"{node.name}: {node.weight / 1e6:.1f} ms, {node.weight / whole:.1%}"
    short = ".".join(node.name.split(".")[-2:])
    room = int(width / _CHARACTER)
    text = f'<text x="{x + 3:.1f}" y="{y + 12:.1f}">{escape(short[:room])}</text>' if room > 2 else ""
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_ROW:g}" fill="{_colour(node.name)}"/>'
    return f"<g><title>{escape(told)}</title>{box}{text}</g>"


def _colour(name: str) -> str:
    """One a package, so that the eye finds what belongs together."""
    drawn = blake2b(name.split(".", maxsplit=1)[0].encode(), digest_size=2).digest()
    return f"hsl({20 + drawn[0] % 60 + 180 * (drawn[1] % 2)} 70% 72%)"
