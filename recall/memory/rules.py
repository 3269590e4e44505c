"""Rules: markdown documents of a bank. What the log says is the truth; `rules/<name>.md` is its copy for people.

A rule is written to the log first, then to its file (a new file beside it, synced, renamed over it, the folder synced).
So a crash leaves a file that is missing or says what an earlier revision said, and a deleted rule's file may still be
there. `mend` brings such files up to date when the bank is opened. A file that says anything else was edited by hand:
it is left alone, the log's text holds, `Set` is refused, until a reload takes the edit in as a revision of its own. A
file that is missing is written again: a rule goes by `Delete` alone.
"""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import UNSET

from recall.memory.commands import Setting
from recall.memory.errors import InvalidField, RuleNotFound, StaleRule
from recall.memory.events import Body, RuleText
from recall.memory.files import Files
from recall.memory.names import LIMITS, bank_name, checked_rule, text_hash
from recall.memory.rule_state import Rule
from recall.memory.state import Draft

SET, UNSET_OP = "rule", "unrule"
LEARNED: Final = "learned"
LEARNED_HEAD = "Learned from what people asked for, a line each:\n\n"
BULLET = "- "
SUFFIX = ".md"
_FRESH = ".new"
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RuleWritten:
    """The rule after the write; seq 0 when nothing had to change."""

    rule: Rule
    seq: int


@dataclass(frozen=True, slots=True)
class SetRule:
    """Write a rule; `text` in its kept form. The text that it has changes nothing."""

    name: str
    text: str
    expected_revision: int | None = None
    note: str = ""

    def plan(self, draft: Draft, setting: Setting) -> RuleWritten:
        """Raises StaleRule, InvalidField."""
        before = draft.rule(self.name)
        if before is not None and before.text == self.text:
            return RuleWritten(before, 0)
        _check_revision(before, self.name, self.expected_revision)
        if (before is None or not before.text) and len(draft.rules_in_force()) >= LIMITS.rules:
            raise InvalidField("name", f"would be one rule more than the {LIMITS.rules} that a bank may have")
        revision = 1 if before is None else before.revision + 1
        body = Body(op=SET, rule=RuleText(self.name, revision, self.text), note=self.note or UNSET)
        draft.emit_info(body, setting.now)
        return _written(draft, self.name)


@dataclass(frozen=True, slots=True)
class DeleteRule:
    """Take a rule out of use."""

    name: str
    expected_revision: int | None = None
    note: str = ""

    def plan(self, draft: Draft, setting: Setting) -> RuleWritten:
        """Raises RuleNotFound, StaleRule."""
        before = draft.rule(self.name)
        if before is None or not before.text:
            raise RuleNotFound(setting.bank, self.name)
        _check_revision(before, self.name, self.expected_revision)
        body = Body(op=UNSET_OP, rule=RuleText(self.name, before.revision + 1), note=self.note or UNSET)
        draft.emit_info(body, setting.now)
        return _written(draft, self.name)


@dataclass(frozen=True, slots=True)
class Learn:
    """Add lines to the rule `learned`; those it holds already are not added again."""

    lines: tuple[str, ...]

    def plan(self, draft: Draft, setting: Setting) -> tuple[RuleWritten | None, list[bool]]:
        """The rule, and for each line whether it is new. Raises InvalidField when the rule is full."""
        before = draft.rule(LEARNED)
        text = before.text if before is not None else ""
        seen = {fingerprint(line) for line in text.splitlines()}
        fresh: list[bool] = []
        for line in self.lines:
            mark = fingerprint(line)
            fresh.append(mark not in seen)
            if mark not in seen:
                seen.add(mark)
                text = (text or LEARNED_HEAD) + f"{BULLET}{line}\n"
        if not any(fresh):
            return (None if before is None else RuleWritten(before, 0)), fresh
        return SetRule(LEARNED, checked_rule(text, "texts")).plan(draft, setting), fresh


def fingerprint(line: str) -> bytes:
    """16 bytes, equal for lines that say the same: as `text_hash`, and punctuation at both ends does not count."""
    bare = line.strip()
    while bare and unicodedata.category(bare[0])[0] in "PZS":
        bare = bare[1:]
    while bare and unicodedata.category(bare[-1])[0] in "PZ":
        bare = bare[:-1]
    return text_hash(bare)


def learned_line(text: str, field: str) -> str:
    """One line of the rule `learned`. Raises InvalidField."""
    line = " ".join(text.split())
    if not line:
        raise InvalidField(field, "is empty")
    if len(line) > LIMITS.learned:
        raise InvalidField(field, f"has {len(line):,} characters; the limit is {LIMITS.learned:,}")
    if "\0" in line:
        raise InvalidField(field, "holds a zero byte")
    return line


def _check_revision(before: Rule | None, name: str, expected: int | None) -> None:
    actual = 0 if before is None or not before.text else before.revision
    if expected is not None and expected != actual:
        raise StaleRule(name, expected, actual)


def _written(draft: Draft, name: str) -> RuleWritten:
    rule = draft.rule(name)
    if rule is None:
        raise AssertionError(f"rule {name} was just written")
    return RuleWritten(rule, draft.last_seq)


@dataclass(frozen=True, slots=True)
class Edit:
    """A file that says what no revision said; no text where it cannot be taken in, and why."""

    name: str
    text: str
    problem: str = ""


class RuleFolder:
    """The files of one bank's rules."""

    def __init__(self, folder: Path, files: Files) -> None:
        self._folder = folder
        self._files = files

    def put(self, rule: Rule) -> None:
        """Make the file say what the log says. Raises OSError."""
        target = self._folder / f"{rule.name}{SUFFIX}"
        if rule.text:
            self._make_folder()
            fresh = target.with_name(target.name + _FRESH)
            self._files.write(fresh, rule.text.encode())
            self._files.rename(fresh, target)
        elif self._files.exists(target):
            self._files.remove(target)
        else:
            return
        self._files.sync_dir(self._folder)

    def try_put(self, rule: Rule) -> None:
        """As put; a disk that refuses is logged: the log has the rule, and the next opening mends the file."""
        try:
            self.put(rule)
        except OSError as error:
            _logger.warning("rule file not written folder=%s rule=%s problem=%s", self._folder, rule.name, error)

    def mend(self, rules: Sequence[Rule], past: Sequence[frozenset[str]]) -> list[str]:
        """Bring up to date what a crash left behind; the names of those files. `past` are the texts each rule had."""
        mended = []
        for rule, texts in zip(rules, past, strict=True):
            found = self.found(rule.name)
            if found == (rule.text or None):
                continue
            if found is None or found in texts:
                self.put(rule)
                mended.append(rule.name)
        return mended

    def edits(self, rules: Sequence[Rule]) -> list[Edit]:
        """Files that do not say what the log says, by name."""
        known = {rule.name: rule.text for rule in rules}
        found = []
        for entry in self._files.list_dir(self._folder):
            if entry.endswith(SUFFIX) and (edit := self._edit(entry, known)) is not None:
                found.append(edit)
        return found

    def found(self, name: str) -> str | None:
        """What the file of a rule says; None when there is none. Text that is no UTF-8 is shown with marks."""
        target = self._folder / f"{name}{SUFFIX}"
        if not self._files.exists(target):
            return None
        return self._files.read(target).decode("utf-8", "replace")

    def _edit(self, entry: str, known: dict[str, str]) -> Edit | None:
        name = entry.removesuffix(SUFFIX)
        try:
            bank_name(name, "name")
            text = self._files.read(self._folder / entry).decode()
            return None if text == known.get(name) else Edit(name, checked_rule(text))
        except (InvalidField, UnicodeDecodeError) as bad:
            return Edit(name, "", str(bad))

    def _make_folder(self) -> None:
        if not self._files.exists(self._folder):
            self._files.make_dir(self._folder)
            self._files.sync_dir(self._folder.parent)
