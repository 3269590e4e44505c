"""The fold: events → memories, and the maps that keep texts and sources unique.

A `State` is what acknowledged events add up to. A `Draft` lies over a state and takes events that are not on disk
yet: commands are checked against it, so each command of a group sees those before it, and readers see none of them
until `commit`. Replay is one draft over an empty state, so writing and reading fold by the same code.
"""

from array import array
from collections import OrderedDict
from dataclasses import dataclass
from typing import TypeVar

from msgspec import UNSET

from recall.memory.answered import Answered
from recall.memory.beginning import KEPT, VACUUM, VACUUMED
from recall.memory.begun import Begun, held
from recall.memory.events import Body, Entry, Origin, Request
from recall.memory.fold import folded
from recall.memory.fold_error import FoldError
from recall.memory.record import Actor, BankInfo, Change, MemoryId, Record
from recall.memory.rule_state import Rule, folded_rule

_Key = TypeVar("_Key")
_OF_THE_BANK = frozenset({"bank", "run", "rule", "unrule", "settle", VACUUM, VACUUMED})


@dataclass(frozen=True, slots=True)
class RunState:
    """What consolidation runs left: the seqs of each run's events, merges taken back, the last episode mined."""

    seqs: dict[str, tuple[int, ...]]
    undone: frozenset[tuple[str, str]]
    mined: int


@dataclass(frozen=True, slots=True)
class Links:
    """Which events are whose: by seq the event before it of the same memory, by ordinal the memory's last event.

    The log begins with event `base` + 1, and so does `event_before`.
    """

    base: int
    event_before: "array[int]"
    last_event: "array[int]"


class State:
    """Acknowledged memories of one bank. Written under the bank's write lock only."""

    def __init__(self, request_ids_kept: int) -> None:
        self.records: list[Record] = []
        self.by_id: dict[str, int] = {}
        self.by_text: dict[bytes, int] = {}  # text hash → who holds it, or held it last
        self.by_source: dict[tuple[str, str], int] = {}  # provenance → its one live memory
        self.requests: OrderedDict[str, Answered] = OrderedDict()
        self.info = BankInfo()
        self.last_seq = 0
        self.runs: dict[str, list[int]] = {}  # consolidation run → the seqs of its events, its undoing included
        self.arrivals: dict[str, Origin] = {}  # id → where it comes from, of moves that are not settled
        self.undone: set[tuple[str, str]] = set()  # (winner, loser) of merges that a person took back
        self.rules: dict[str, Rule] = {}  # also those that were taken out of use
        self.mined = -1  # ordinal of the last episode that was mined
        self._request_ids_kept = request_ids_kept
        self.base = 0  # the events up to it are in no log any more, see `beginning`
        self._event_before = array("q", [0])  # seq - base → the event before it of the same memory, 0 when first
        self._last_event = array("q")  # ordinal → its last event

    def find(self, memory_id: str) -> Record | None:
        """The memory of this id, in any status."""
        ordinal = self.by_id.get(memory_id)
        return None if ordinal is None else self.records[ordinal]

    def run_state(self) -> RunState:
        """A snapshot of what runs left."""
        return RunState({run: tuple(seqs) for run, seqs in self.runs.items()}, frozenset(self.undone), self.mined)

    def events_of(self, ordinal: int) -> list[int]:
        """The seqs of a memory's events, oldest first; of those that are in the log no more the last one alone."""
        seqs = []
        seq = self._last_event[ordinal]
        while seq:
            seqs.append(seq)
            seq = self._event_before[seq - self.base] if seq > self.base else 0
        return seqs[::-1]

    def last_event(self, ordinal: int) -> int:
        """The seq of a memory's last event."""
        return self._last_event[ordinal]

    def changed_since(self, seq: int) -> list[int]:
        """The ordinals of memories with an event after `seq`."""
        return [ordinal for ordinal, last in enumerate(self._last_event) if last > seq] if seq < self.last_seq else []

    def links(self) -> "Links":
        """A copy of which events are whose."""
        return Links(self.base, self._event_before[:], self._last_event[:])

    def link(self, links: "Links") -> None:
        """Begin with the events of an earlier state; the other fields are the caller's to fill."""
        self._event_before, self._last_event = links.event_before, links.last_event
        self.base = links.base
        self.last_seq = links.base + len(links.event_before) - 1

    def take(self, draft: "Draft") -> None:
        """Take in what the draft adds up to; records before the maps, so a reader never finds a gap."""
        for ordinal, record in sorted(draft.records.items()):
            if ordinal == len(self.records):
                self.records.append(record)
                self._last_event.append(0)
            else:
                self.records[ordinal] = record
        self.by_id.update(draft.by_id)
        _merge(self.by_text, draft.by_text)
        _merge(self.by_source, draft.by_source)
        self.info = draft.info
        self._remember_requests(draft.requests)
        for run, seq in draft.runs:
            self.runs.setdefault(run, []).append(seq)
        self.undone.update(draft.undone)
        for memory_id, origin in draft.arrivals.items():
            self.arrivals.pop(memory_id, None)
            if origin is not None:
                self.arrivals[memory_id] = origin
        self.mined = draft.mined
        self.rules.update(draft.rules)
        self.base = draft.base
        self.last_seq = max(self.last_seq, self.base)
        for ordinal in draft.touched:
            self.last_seq += 1
            self._event_before.append(self._last_event[ordinal] if ordinal >= 0 else 0)
            if ordinal >= 0:
                self._last_event[ordinal] = draft.earlier.get(self.last_seq, self.last_seq)

    def _remember_requests(self, requests: dict[str, Answered]) -> None:
        for request_id, answered in requests.items():
            self.requests[request_id] = answered
            self.requests.move_to_end(request_id)
        while len(self.requests) > self._request_ids_kept:
            self.requests.popitem(last=False)


def _merge(target: dict[_Key, int], changes: dict[_Key, int | None]) -> None:
    for key, value in changes.items():
        if value is None:
            target.pop(key, None)
        else:
            target[key] = value


class Draft:
    """Events over a state that are not acknowledged yet. One thread uses it, then it is taken or thrown away."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.records: dict[int, Record] = {}
        self.by_id: dict[str, int] = {}
        self.by_text: dict[bytes, int | None] = {}
        self.by_source: dict[tuple[str, str], int | None] = {}
        self.requests: dict[str, Answered] = {}
        self.info = state.info
        self.runs: list[tuple[str, int]] = []
        self.undone: list[tuple[str, str]] = []
        self.arrivals: dict[str, Origin | None] = {}
        self.mined = state.mined
        self.rules: dict[str, Rule] = {}
        self.base = state.base
        self.earlier: dict[int, int] = {}  # seq of a `kept` → the last event of that memory before the log began
        self.touched: list[int] = []  # by event: the memory's ordinal, -1 for an event of the bank
        self.changes: list[Change] = []
        self.entries: list[Entry] = []
        self._command: list[tuple[Body, int]] = []
        self._size = len(state.records)

    @property
    def last_seq(self) -> int:
        """The seq of the last event, those of the draft included."""
        return max(self._state.last_seq, self.base) + len(self.touched)

    @property
    def dirty(self) -> bool:
        """True while a command has emitted and not finished."""
        return bool(self._command)

    def find(self, memory_id: str) -> Record | None:
        """The memory of this id, in any status."""
        ordinal = self.by_id.get(memory_id)
        return self._state_find(memory_id) if ordinal is None else self.records[ordinal]

    def text_holder(self, digest: bytes) -> Record | None:
        """The memory that holds a text, or held it last."""
        return self._at(self._holder(digest))

    def source_holder(self, provenance: tuple[str, str]) -> Record | None:
        """The live memory of a provenance."""
        if provenance in self.by_source:
            return self._at(self.by_source[provenance])
        return self._at(self._state.by_source.get(provenance))

    def text(self, record: Record) -> str | None:
        """The text of a memory when an event of the draft brought it."""
        return next((change.text for change in self.changes if change.seq == record.text_seq), None)

    def changed_since(self, seq: int) -> list[Record]:
        """The memories with an event after `seq`, as they stand now."""
        if seq >= self.last_seq:
            return []
        ordinals = dict.fromkeys([*self._state.changed_since(seq), *self.records])
        return [record for ordinal in ordinals if (record := self._at(ordinal)) is not None]

    def last_event(self, record: Record) -> int:
        """The seq of a memory's last event."""
        for place in range(len(self.touched) - 1, -1, -1):
            if self.touched[place] == record.ordinal:
                return self._state.last_seq + place + 1
        return self._state.last_event(record.ordinal)

    def answered(self, request_id: str) -> Answered | None:
        """What this request_id has done already."""
        return self.requests.get(request_id) or self._state.requests.get(request_id)

    def emit(self, body: Body, at: int) -> Change:
        """Add an event of a memory to the running command. Returns what it changes."""
        change = self.fold(body, at)
        self._command.append((body, at))
        if change is None:
            raise FoldError("is an event of the bank")
        return change

    def emit_info(self, body: Body, at: int) -> None:
        """Add an event of the bank to the running command."""
        self.fold(body, at)
        self._command.append((body, at))

    def finish(self, actor: Actor) -> None:
        """End the running command: all of its events reach the log, or none."""
        count = len(self._command)
        for index, (body, at) in enumerate(self._command):
            self.entries.append(Entry(body, at, actor, count - 1 - index))
        self._command.clear()

    def fold(self, body: Body, at: int) -> Change | None:
        """Fold the next event in. None for an event of the bank. Raises FoldError."""
        if body.run is not UNSET:
            self.runs.append((body.run, self.last_seq + 1))
        if body.op == "release" and body.loser is not UNSET:
            self.undone.append((body.id, body.loser))
        if body.op in ("settle", "return") or body.origin is not UNSET:
            self.arrivals[body.id] = None if body.origin is UNSET else body.origin
        if body.op in _OF_THE_BANK:
            self._fold_bank(body, at)
            self.touched.append(-1)
            return None
        before = self.find(body.id)
        ordinal = self._size if before is None else before.ordinal
        if body.op == KEPT and body.of is not UNSET and 0 < body.of <= self.base:
            self.earlier[self.last_seq + 1] = body.of
        after = folded(before, ordinal, self.last_seq + 1, at, body)
        self._keep(before, after)
        self.touched.append(ordinal)
        change = Change(self.last_seq, body.op, before, after, None if body.text is UNSET else body.text)
        self.changes.append(change)
        if body.request is not UNSET:
            self._answer(body.request, after.id)
        return change

    def rule(self, name: str) -> Rule | None:
        """The rule of this name, also when it was taken out of use."""
        return self.rules.get(name) or self._state.rules.get(name)

    def rules_in_force(self) -> list[str]:
        """Names of the rules that have a text."""
        return [name for name, rule in {**self._state.rules, **self.rules}.items() if rule.text]

    def _fold_bank(self, body: Body, at: int) -> None:
        if body.op == "settle":
            return
        if body.op == VACUUM:
            self._begin(body)
            return
        if body.op == VACUUMED:
            self._hold(body)
            return
        if body.op in ("rule", "unrule"):
            if body.rule is UNSET:
                raise FoldError("writes no rule")
            name = body.rule.name
            self.rules[name] = folded_rule(self.rule(name), body.op, body.rule, self.last_seq + 1, at)
            return
        if body.op == "run":
            if body.run is UNSET or body.report is UNSET:
                raise FoldError("records no run")
            self.mined = self.mined if body.mined is UNSET else body.mined
            return
        if body.info is UNSET:
            raise FoldError("has no info")
        self.info = body.info

    def _begin(self, body: Body) -> None:
        """The first event of a log that was vacuumed, which only a draft over nothing takes."""
        if body.vacuum is UNSET or self.last_seq:
            raise FoldError("begins a log anew, which only its first line may")
        begun = Begun.of(body.vacuum)
        self.base, self.info, self.mined = begun.base, begun.info, begun.mined
        self.rules, self.requests, self.runs, self.undone = begun.rules, begun.requests, begun.runs, begun.undone

    def _hold(self, body: Body) -> None:
        """A memory that a hand edit took away holds no text."""
        for digest, memory_id in held(body.holders).items():
            record = self.find(memory_id)
            self.by_text[digest] = None if record is None else record.ordinal

    def _keep(self, before: Record | None, after: Record) -> None:
        ordinal = after.ordinal
        self.records[ordinal] = after
        self.by_id[after.id] = ordinal
        if before is None:
            self._size += 1
        elif before.text_hash != after.text_hash and self._holder(before.text_hash) == ordinal:
            self.by_text[before.text_hash] = None
        returns = before is not None and after.status.live and not before.status.live
        if before is None or before.text_hash != after.text_hash or returns:
            self._hold_text(after)
        provenance = after.source.provenance if after.source is not None else None
        if provenance is not None:
            if after.status.live:
                self.by_source[provenance] = ordinal
            elif before is not None and before.status.live:
                self.by_source[provenance] = None

    def _hold_text(self, record: Record) -> None:
        """A memory that is not live never takes a text from one that is (an import may bring such)."""
        holder = self.text_holder(record.text_hash)
        if holder is None or record.status.live or not holder.status.live:
            self.by_text[record.text_hash] = record.ordinal

    def _answer(self, request: Request, memory_id: MemoryId) -> None:
        before = self.answered(request.id)
        items = {} if before is None or before.verb != request.verb else before.items
        self.requests[request.id] = Answered(request.verb, {**items, request.item: (memory_id, self.last_seq)})

    def _holder(self, digest: bytes) -> int | None:
        return self.by_text[digest] if digest in self.by_text else self._state.by_text.get(digest)

    def _state_find(self, memory_id: str) -> Record | None:
        ordinal = self._state.by_id.get(memory_id)
        return None if ordinal is None else self._at(ordinal)

    def _at(self, ordinal: int | None) -> Record | None:
        if ordinal is None:
            return None
        record = self.records.get(ordinal)
        return self._state.records[ordinal] if record is None else record
