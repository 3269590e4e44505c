"""What one turn is given, put together: one way for the turn itself and for those who look at it beforehand.

    select     the banks that are meant, by scope and by name       (select)
    rules      whole, in part, by name                              (rules)
    digest     standing memories, whole ones                        (digest)
    prefix     against what the client has: unchanged, or a change  (prefix)
    notes      what matches, less what the client has               (notes)

A bank that fails at any step gives nothing at all: the turn is put together again without it, and names it. What of it
the client has already still holds as far as anybody knows, so it is not told as gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from recall.context.digest import make_digest, opening
from recall.context.notes import make_notes
from recall.context.prefix import Given, State, carried, change, hash_of
from recall.context.rules import give_rules, section
from recall.context.settings import ContextSettings
from recall.context.standing import Standing, Standings, line
from recall.context.turn import Assembled, GivenRules, Key, Mount, Notes, Omission, Omitted, PrefixState, Turn
from recall.memory.bank import Bank
from recall.memory.record import MemoryId, Record
from recall.memory.rule_book import RuleBook
from recall.memory.rule_state import Rule
from recall.ranking.errors import QueryHasNoWords
from recall.ranking.results import Ranked

Ask = Callable[[str, str, int], Ranked]
"""(bank, query, limit) → its answer. May raise whatever a recall raises."""
NO_NOTES = Notes((), 0, {}, (), "")


class BankFailed(Exception):  # noqa: N818 - named for what is wrong
    """A bank could not be read while a turn was put together."""

    def __init__(self, bank: str, why: Exception) -> None:
        super().__init__(f"bank {bank!r}: {why}")
        self.bank, self.why = bank, why


@dataclass(frozen=True, slots=True)
class Material:
    """What a turn is made of: its banks, which stay open meanwhile."""

    mounts: tuple[Mount, ...]
    omitted: tuple[Omitted, ...]
    banks: Mapping[str, Bank]
    ask: Ask
    now: int
    owner: str
    """Whose sessions are meant: nobody is told what another was given."""

    def without(self, failed: BankFailed) -> Material:
        """Less a bank that failed."""
        left = tuple(mount for mount in self.mounts if mount.name != failed.bank)
        gone = Omitted(failed.bank, Omission.UNAVAILABLE, str(failed.why))
        return replace(self, mounts=left, omitted=(*self.omitted, gone))


class Assembler:
    """Puts turns together. Thread-safe."""

    def __init__(self, settings: ContextSettings) -> None:
        self.settings = settings
        self._standings = Standings(settings.most_considered)
        self._given = Given(settings.sessions)

    def assemble(self, turn: Turn, material: Material) -> Assembled:
        """What the turn is given. Leaves no trace: `note` remembers it."""
        while True:
            try:
                return self._assembled(turn, material)
            except BankFailed as failed:
                material = material.without(failed)

    def note(self, turn: Turn, owner: str, given: Assembled) -> None:
        """The session has this now."""
        self._given.note(owner, turn.session, given.prefix_hash, given.state_now)

    def _assembled(self, turn: Turn, material: Material) -> Assembled:
        budgets = turn.budgets
        standings = {mount.name: self._standing(mount, material) for mount in material.mounts}
        read = partial(_text, material)
        in_force = [(mount.name, rule) for mount in material.mounts for rule in _rules(mount, material)]
        rules = give_rules(in_force, budgets.rule_characters, self.settings.least_rule_characters)
        digest = make_digest(material.mounts, standings, read, budgets.digest_characters)
        now = dict([*rules.sections, *digest.lines])
        whole = rules.text + digest.text
        state, after, message = self._against_known(turn, material, now, _still(material, rules, _by_key(in_force)))
        shown = frozenset((key[0], key[2]) for key in after if key[1] == "memory")
        notes = self._notes(turn, material, standings, shown)
        return Assembled(
            state=state,
            prefix=whole if state is PrefixState.WHOLE else "",
            whole_prefix=whole,
            prefix_hash=hash_of(after),
            change=message,
            notes=notes,
            rules=rules,
            digest=digest,
            mounts=material.mounts,
            omitted=material.omitted,
            state_now=after,
        )

    def _against_known(
        self, turn: Turn, material: Material, now: State, holds: Callable[[Key, str], bool]
    ) -> tuple[PrefixState, State, str]:
        has = turn.prefix_hash
        if turn.since_last and turn.session:
            has = self._given.last(material.owner, turn.session)
        known = self._given.known(material.owner, has) if has else None
        if known is None:  # a server that was started anew knows it again when nothing changed
            return (PrefixState.UNCHANGED if has == hash_of(now) else PrefixState.WHOLE), now, ""
        after = carried(known, now, holds)
        message = change(known, after)
        return (PrefixState.CHANGED if message else PrefixState.UNCHANGED), after, message

    def _notes(
        self,
        turn: Turn,
        material: Material,
        standings: Mapping[str, Standing],
        shown: frozenset[tuple[str, str]],
    ) -> Notes:
        if not turn.query:
            return NO_NOTES
        ask, read = partial(_asked, material, turn.query), partial(_text, material)
        return make_notes(material.mounts, standings, shown, turn.budgets, self.settings.ambient_floor, ask, read)

    def _standing(self, mount: Mount, material: Material) -> Standing:
        try:
            return self._standings.of(material.banks[mount.name], material.now)
        except Exception as error:
            raise BankFailed(mount.name, error) from error


def _by_key(in_force: Sequence[tuple[str, Rule]]) -> dict[Key, Rule]:
    """Rules by what stands for them in a prefix."""
    return {(bank, "rule", rule.name): rule for bank, rule in in_force}


def _rules(mount: Mount, material: Material) -> list[Rule]:
    try:
        return RuleBook(material.banks[mount.name]).in_force()
    except Exception as error:
        raise BankFailed(mount.name, error) from error


def _text(material: Material, bank: str, record: Record) -> str:
    try:
        return material.banks[bank].text(record)
    except Exception as error:
        raise BankFailed(bank, error) from error


def _asked(material: Material, query: str, bank: str, limit: int) -> Ranked | None:
    try:
        return material.ask(bank, query, limit)
    except QueryHasNoWords:
        return None
    except Exception as error:
        raise BankFailed(bank, error) from error


def _still(material: Material, rules: GivenRules, in_force: Mapping[Key, Rule]) -> Callable[[Key, str], bool]:
    """Whether what a client was given, and a new prefix has no room for, is true as it was given."""
    mounted = {mount.name for mount in material.mounts}
    unknown = {gone.bank for gone in material.omitted if gone.reason is Omission.UNAVAILABLE}
    left_out = set(rules.left_out)

    def holds(key: Key, text: str) -> bool:
        bank, what, name = key
        if bank in unknown:
            return True
        if bank not in mounted:
            return False
        if what == "rule":
            return key in left_out and section(bank, in_force[key]) == text
        if what == "preamble":
            info = next(mount.info for mount in material.mounts if mount.name == bank)
            return opening(info) == text
        return _memory_holds(material, bank, MemoryId(name), text)

    return holds


def _memory_holds(material: Material, bank: str, memory_id: MemoryId, text: str) -> bool:
    try:
        record = material.banks[bank].get(memory_id)
    except Exception:  # noqa: BLE001 - whatever it is, it cannot be given any more
        return False
    return record.selectable(material.now) and line(bank, record, _text(material, bank, record)) == text
