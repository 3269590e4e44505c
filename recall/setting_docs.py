"""The line that explains a setting, read from the source of the class that declares it.

A field is documented by `field(metadata={"doc": …})`, by the string below it, by the comment on its line or by the
comments above it, whichever comes first in this order.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any


@cache
def doc_lines(section: type[Any]) -> dict[str, str]:
    """One line for each documented field; inherited fields are looked up in the class that declares them."""
    found: dict[str, str] = {}
    for owner in reversed(section.__mro__):
        if owner is not object:
            found |= _documented(owner)
    for each in fields(section) if is_dataclass(section) else ():
        if "doc" in each.metadata:
            found[each.name] = str(each.metadata["doc"])
    return {name: " ".join(line.split()) for name, line in found.items()}


def _documented(owner: type[Any]) -> dict[str, str]:
    try:
        source = textwrap.dedent(inspect.getsource(owner))
    except (OSError, TypeError):
        return {}
    lines = source.splitlines()
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for position, node in enumerate(body.body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            after = body.body[position + 1] if position + 1 < len(body.body) else None
            found[node.target.id] = _string(after) or _same_line(lines, node) or _above(lines, node)
    return {name: line for name, line in found.items() if line}


def _string(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return ""


def _same_line(lines: list[str], node: ast.AnnAssign) -> str:
    end = node.end_lineno or node.lineno
    rest = lines[end - 1].encode()[node.end_col_offset :].decode().strip()
    return rest.lstrip("# ") if rest.startswith("#") else ""


def _above(lines: list[str], node: ast.AnnAssign) -> str:
    comments: list[str] = []
    for line in reversed(lines[: node.lineno - 1]):
        if not line.strip().startswith("#"):
            break
        comments.append(line.strip().lstrip("# "))
    return " ".join(reversed(comments))
