"""Mending a log: cutting a torn tail, taking in hand edits, saving what can be read of a damaged one.

Nothing is thrown away: what is cut off or replaced is first copied to `log.broken-<n>` beside the log, durably. A log
that is rewritten is written beside the old one, synced, and renamed over it; a crash leaves the one or the other.
"""

from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from recall.memory.beginning import OPS_OF_A_VACUUM
from recall.memory.errors import Damaged
from recall.memory.events import NO_SUM, Body, Entry, HandEdit, LineError, Sum, decode, decode_edited, encode
from recall.memory.files import AppendHandle, Files
from recall.memory.fold_error import FoldError
from recall.memory.hand_edits import checked_edit
from recall.memory.scan import Damage, Scan
from recall.memory.state import Draft, State

REMEDY = "if this is your own edit, reload the bank to take it in; otherwise run `recall repair`"
EDIT_REMEDY = "correct the line, or run `recall repair`, which goes on without what it cannot read"
_BOM = b"\xef\xbb\xbf"
_Check = Callable[[HandEdit], HandEdit]


def cut_tear(path: Path, files: Files, handle: AppendHandle, scan: Scan) -> None:
    """Copy what a crash left of an unacknowledged write, then cut it off. The cut is not synced. Raises OSError."""
    keep_broken(path, files, handle.read_at(scan.end, handle.size() - scan.end))
    handle.truncate(scan.end)


def keep_broken(path: Path, files: Files, data: bytes) -> Path:
    """Durably write `data` to the next free `log.broken-<n>` beside the log."""
    taken = set(files.list_dir(path.parent))
    number = next(n for n in range(1, len(taken) + 2) if f"log.broken-{n}" not in taken)
    target = path.with_name(f"log.broken-{number}")
    files.write(target, data)
    files.sync_dir(path.parent)
    return target


def take_in_edits(path: Path, files: Files) -> list[str]:
    """Stamp a hand-edited log anew; one line for each change, none when nothing was edited.

    Raises Damaged for a line that cannot be read, holds what no caller may send, or cannot follow what came before it;
    the file is then untouched.
    """

    def refuse(damage: Damage) -> None:
        raise Damaged(path, damage.line, damage.offset, damage.problem, EDIT_REMEDY)

    return _restamp(path, files, checked_edit, refuse)


def repair_log(path: Path, files: Files) -> list[str]:
    """As take_in_edits, but goes on without the lines that cannot be taken in; each is named in the answer.

    What can be read is kept, over the limits or not: a repair is to lose as little as it can.
    """
    lost: list[str] = []

    def leave_out(damage: Damage) -> None:
        lost.append(f"line {damage.line} (byte {damage.offset}) {damage.problem}; it was left out")

    return _restamp(path, files, _as_it_is, leave_out) + lost


def _as_it_is(edit: HandEdit) -> HandEdit:
    return edit


def verified(data: bytes) -> Scan:
    """A finished pass over a whole log; a command that cannot be folded counts as damage."""
    scan = Scan(lambda offset, length: data[offset : offset + length], len(data))
    draft = Draft(State(0))
    for group in scan:
        for event in group:
            try:
                draft.fold(event, event.at)
            except FoldError as error:
                scan.damage = Damage(*scan.line_of(event.seq), str(error))
                return scan
        draft.changes.clear()
    return scan


def _restamp(path: Path, files: Files, check: _Check, unreadable: Callable[[Damage], None]) -> list[str]:
    data = files.read(path)
    if verified(data).damage is None:
        return []
    edits = _Edits(data, check, unreadable)
    if not edits.taken:
        raise Damaged(path, 1, 0, "holds no event at all", "bring it back from a backup, or delete the bank")
    kept = keep_broken(path, files, data)
    fresh = path.with_name(path.name + ".new")
    files.write(fresh, b"".join(_stamped(edits.taken)))
    files.rename(fresh, path)
    files.sync_dir(path.parent)
    return [*edits.changes, f"the log was stamped anew; as it was found it is kept in {kept.name}"]


class _Edits:
    """What a person left, line by line: what can be taken, and what is different from what was written."""

    def __init__(self, data: bytes, check: _Check, unreadable: Callable[[Damage], None]) -> None:
        self.taken: list[HandEdit] = []
        self.changes: list[str] = []
        self._check = check
        self._unreadable = unreadable
        self._draft = Draft(State(0))
        self._seen: set[Sum] = set()
        self._expected = 1
        if data.startswith(_BOM):
            self.changes.append("a byte order mark at the start was removed")
        if b"\r\n" in data:
            self.changes.append("line ends were CRLF and are LF again")
        self._read(data)

    def _read(self, data: bytes) -> None:
        offset = 0
        for number, raw in enumerate(data.split(b"\n"), 1):
            line = raw.removeprefix(_BOM if number == 1 else b"").rstrip(b"\r")
            if line.strip():
                self._take(number, offset, line)
            offset += len(raw) + 1

    def _take(self, number: int, offset: int, line: bytes) -> None:
        try:
            edit = decode_edited(line)
            if self._doubled(number, line):
                return
            if not _written_by_us(line):
                edit = self._check(edit)
            self._draft.fold(edit, edit.at)
        except (LineError, FoldError) as error:
            self._unreadable(Damage(number, offset, str(error)))
            return
        if not self.taken and edit.vacuum is not UNSET:
            self._expected = edit.vacuum.seqs + 1
        self._compare(number, line, edit)
        self.taken.append(edit)

    def _doubled(self, number: int, line: bytes) -> bool:
        try:
            _, stamp = decode(line)
        except LineError:
            return False
        if stamp in self._seen:
            self.changes.append(f"line {number} stood there before; the second one was left out")
            return True
        self._seen.add(stamp)
        return False

    def _compare(self, number: int, line: bytes, edit: HandEdit) -> None:
        what = f"{edit.op} of {edit.id}" if edit.id else edit.op
        try:
            event, _ = decode(line)
        except LineError:
            self.changes.append(f"line {number} ({what}) was edited or added")
            self._expected += 1
            return
        if event.seq > self._expected:
            self.changes.append(f"before line {number} ({what}): seq {self._expected} to {event.seq - 1} are gone")
        elif event.seq < self._expected:
            self.changes.append(f"line {number} ({what}) was moved")
        self._expected = event.seq + 1


def _written_by_us(line: bytes) -> bool:
    try:
        decode(line)
    except LineError:
        return False
    return True


def _before(edits: list[HandEdit]) -> tuple[int, Sum]:
    """What the first line goes on from: (seq, sum)."""
    begins = edits[0].vacuum
    return (0, NO_SUM) if begins is UNSET else (begins.seqs, Sum(begins.head))


def _following(edits: list[HandEdit]) -> int:
    """How many of the lines behind the first one belong to the beginning of a vacuumed log, as a person left it."""
    return sum(1 for _ in takewhile(lambda edit: edit.op in OPS_OF_A_VACUUM, edits)) - 1


def _stamped(edits: list[HandEdit]) -> list[bytes]:
    lines = []
    base, stamp = _before(edits)
    for seq, edit in enumerate(edits, base + 1):
        body = Body(**{name: getattr(edit, name) for name in Body.__struct_fields__})
        if body.vacuum is not UNSET:
            body = replace(body, vacuum=replace(body.vacuum, follow=_following(edits)))
        line, stamp = encode(Entry(body, edit.at, edit.actor), seq, stamp, seq)
        lines.append(line)
    return lines
