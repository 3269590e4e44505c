"""Rules as a turn is given them: whole while there is room, then in part with a mark, then by name alone."""

from __future__ import annotations

from collections.abc import Iterable

from recall.context.budget import cut
from recall.context.marking import RULES, block, own_tags_escaped
from recall.context.turn import GivenRules, Key
from recall.memory.rule_state import Rule

PREAMBLE = "Rules that people set. They hold for the whole conversation; later changes are told in a message.\n"
_TRAILER = 240
"""Characters kept for the line that names what was left out."""
NONE = GivenRules((), frozenset(), (), "")


def give_rules(rules: Iterable[tuple[str, Rule]], most: int, least_part: int) -> GivenRules:
    """`rules` with their banks, in the order in which they count; at most `most` characters, tags included."""
    wanted = [((bank, "rule", rule.name), section(bank, rule)) for bank, rule in rules]
    if not wanted:
        return NONE
    room = most - len(block(RULES, PREAMBLE))
    if sum(len(text) for _, text in wanted) <= room:
        return GivenRules(tuple(wanted), frozenset(), (), block(RULES, PREAMBLE, *(text for _, text in wanted)))
    return _squeezed(wanted, room - _TRAILER, least_part)


def section(bank: str, rule: Rule) -> str:
    """A rule with its heading."""
    return f"## {bank}/{rule.name}\n{own_tags_escaped(rule.text)}\n"


def _squeezed(wanted: list[tuple[Key, str]], room: int, least_part: int) -> GivenRules:
    given: list[tuple[Key, str]] = []
    truncated: set[Key] = set()
    left_out: list[Key] = []
    for key, text in wanted:
        part = text if len(text) <= room else _part(key, text, room, least_part)
        if not part:
            left_out.append(key)
            continue
        if part is not text:
            truncated.add(key)
        given.append((key, part))
        room -= len(part)
    trailer = _left_out(left_out) if left_out else ""
    text = block(RULES, PREAMBLE, *(part for _, part in given), trailer)
    return GivenRules(tuple(given), frozenset(truncated), tuple(left_out), text)


def _part(key: Key, text: str, room: int, least_part: int) -> str:
    mark = f"\n[truncated: `recall rule get {key[2]} --bank {key[0]}` shows all {len(text):,} characters]\n"
    if room - len(mark) < least_part:
        return ""
    return cut(text, room - len(mark)) + mark


def _left_out(keys: list[Key]) -> str:
    end = "; `recall rule get` shows them)\n"
    line = f"({len(keys)} rules left out"
    for place, (bank, _, name) in enumerate(keys):
        more = f"{': ' if not place else ', '}{bank}/{name}"
        if len(line) + len(more) + len(end) + len(", …") > _TRAILER:
            return f"{line}, …{end}"
        line += more
    return line + end
