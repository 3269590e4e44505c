"""The rules of one bank: read, written, mended, and hand edits taken in. See `rules` for what a crash may leave."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from recall.memory import names
from recall.memory.data_folder import RULES
from recall.memory.errors import HistoryArchived, InvalidField, MemoryServiceError, RuleEditedByHand, RuleNotFound
from recall.memory.events import Event
from recall.memory.record import LOCAL, Actor
from recall.memory.refusal import refusals
from recall.memory.rule_state import Rule
from recall.memory.rules import DeleteRule, Learn, RuleFolder, RuleWritten, SetRule, learned_line

if TYPE_CHECKING:
    from recall.memory.bank import Bank

HAND = Actor("hand", "admin")
HAND_NOTE = "edited by hand"
LEARNED = "learned"
_logger = logging.getLogger(__name__)


class RuleBook:
    """The rules of one bank. Cheap to make; one write at a time over all banks, as rules are written rarely."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._folder = RuleFolder(bank.place.folder / RULES, bank.outfit.files)
        self._lock = bank.outfit.rule_lock

    def in_force(self) -> list[Rule]:
        """The rules that have a text, by name."""
        return sorted((rule for rule in self._bank.rule_states() if rule.text), key=lambda rule: rule.name)

    def get(self, name: str) -> Rule:
        """One rule. Raises RuleNotFound."""
        found = next((rule for rule in self.in_force() if rule.name == name), None)
        if found is None:
            raise RuleNotFound(self._bank.name, name)
        return found

    def revisions(self, name: str) -> list[tuple[Rule, Actor]]:
        """Every revision that can be read, oldest first, and who wrote it; of a rule that is gone too.

        Raises RuleNotFound.
        """
        rule = next((rule for rule in self._bank.rule_states() if rule.name == name), None)
        if rule is None:
            raise RuleNotFound(self._bank.name, name)
        found = []
        for place, event in enumerate(self._events(rule), 1):
            if event is not None and event.rule is not UNSET:
                was = Rule(name, event.rule.text, event.rule.revision, event.at, rule.seqs[:place])
                found.append((was, event.actor))
        return found

    def writer(self, rule: Rule) -> str:
        """Who wrote it last; "" where a vacuum archived that and it was taken away."""
        *_, last = self._events(rule)
        return "" if last is None else last.actor.id

    def edited_by_hand(self, name: str) -> bool:
        """Whether the file of a rule says what no revision said."""
        rule = next((rule for rule in self._bank.rule_states() if rule.name == name), None)
        with refusals(self._bank.place.folder, "read the rules of"):
            found = self._folder.found(name)
        return found is not None and found != (rule.text if rule else None) and found not in self._past(rule)

    def set(
        self, name: str, text: str, actor: Actor = LOCAL, expected_revision: int | None = None, note: str = ""
    ) -> RuleWritten:
        """Write a rule. Raises InvalidField, StaleRule, RuleEditedByHand, ReadOnly, StorageFailure."""
        names.bank_name(name, "name")
        why = names.checked_line("note", note, names.LIMITS.note)
        command = SetRule(name, names.checked_rule(text), expected_revision, why)
        with self._lock:
            self._check_file(name)
            written = self._bank.write(command, actor)
            self._folder.try_put(written.rule)
        return written

    def delete(
        self, name: str, actor: Actor = LOCAL, expected_revision: int | None = None, note: str = ""
    ) -> RuleWritten:
        """Take a rule out of use. Raises as `set` does, and RuleNotFound."""
        names.bank_name(name, "name")
        why = names.checked_line("note", note, names.LIMITS.note)
        with self._lock:
            self._check_file(name)
            written = self._bank.write(DeleteRule(name, expected_revision, why), actor)
            self._folder.try_put(written.rule)
        return written

    def learn(self, texts: Sequence[str], actor: Actor) -> list[bool]:
        """Add lines to the rule `learned`; for each whether it is new. Raises as `set` does."""
        lines = tuple(learned_line(text, f"texts[{place}]") for place, text in enumerate(texts))
        with self._lock:
            self._check_file(LEARNED)
            written, fresh = self._bank.write(Learn(lines), actor)
            if written is not None and written.seq:
                self._folder.try_put(written.rule)
        return fresh

    def mend(self) -> None:
        """After opening: bring the files up to date. A disk that refuses is logged, and keeps no bank from opening."""
        rules = self._bank.rule_states()
        try:
            mended = self._folder.mend(rules, [self._past(rule) for rule in rules])
        except (OSError, MemoryServiceError) as error:
            _logger.warning("rule files not mended bank=%s problem=%s", self._bank.name, error)
            return
        if mended:
            _logger.info("rule files written again bank=%s rules=%s", self._bank.name, ",".join(mended))

    def take_in(self) -> list[str]:
        """Make hand edits revisions of their own; one line for each. What cannot be taken in is told and left."""
        with self._lock:
            with refusals(self._bank.place.folder, "read the rules of"):
                self.mend()
                edits = self._folder.edits(self._bank.rule_states())
            return [self._taken_in(edit.name, edit.text, edit.problem) for edit in edits]

    def _taken_in(self, name: str, text: str, problem: str) -> str:
        file = f"{RULES}/{name}.md"
        if problem:
            return f"{file} was not taken in: {problem}"
        try:
            written = self._bank.write(SetRule(name, text, note=HAND_NOTE), HAND)
        except InvalidField as bad:
            return f"{file} was not taken in: {bad}"
        self._folder.try_put(written.rule)
        return f"{file} was edited or added by hand: now revision {written.rule.revision}"

    def _check_file(self, name: str) -> None:
        if self.edited_by_hand(name):
            raise RuleEditedByHand(self._bank.name, name)

    def _past(self, rule: Rule | None) -> frozenset[str]:
        """What earlier revisions said: read from the log, and only where the file differs from the last."""
        if rule is None or self._folder.found(rule.name) in (None, rule.text):
            return frozenset()
        found = (event.rule for event in self._events(rule) if event is not None)
        return frozenset(one.text for one in found if one is not UNSET and one.text)

    def _events(self, rule: Rule) -> Iterator[Event | None]:
        """The events that wrote it; None for one that was archived and taken away."""
        for seq in rule.seqs:
            try:
                yield self._bank.event(seq)
            except HistoryArchived:
                yield None
