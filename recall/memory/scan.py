"""One pass over the bytes of a log: which events can be trusted, and what is wrong after the last of them.

The reader works on bytes and judges each line alone. The pass ends at the first thing that does not hold:

| what stands there | verdict |
|---|---|
| a last line without newline whose sum holds | whole: only its newline is missing, and is added |
| any other last line without newline that is a whole JSON object | damage: a person wrote it, no part of a line is |
| any other last line without newline | torn |
| the end of the file in the middle of a command (`more` > 0) | torn, from the first event of that command |
| a line with zero bytes, and every readable line after it belongs to the same write (`batch`) | torn |
| anything else: a sum, a chain, a seq that does not hold | damage |

Torn is what a crash leaves of a write that was never acknowledged; it may be cut off, after a copy was kept. Damage may
be anything, a person's edit among it, and is reported.
"""

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from msgspec import UNSET

from recall.memory.beginning import OPS_OF_A_VACUUM
from recall.memory.events import NO_SUM, Event, LineError, Sum, decode, is_object

CHUNK_BYTES = 1 << 20

Group = tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Tear:
    """The bytes from `offset` on are the rest of a write that was not acknowledged."""

    offset: int
    line: int


@dataclass(frozen=True, slots=True)
class Damage:
    """The line that does not hold: `line` from 1, `offset` of its first byte, and why."""

    line: int
    offset: int
    problem: str


@dataclass(frozen=True, slots=True)
class Start:
    """What of a log is known already: where each of its first lines ends, and the sum of the last of them.

    The first line is event `base` + 1, and `base_sum` what it goes on from: 0 and "" unless the log was vacuumed.
    """

    offsets: "array[int]"
    last_sum: Sum
    base: int = 0
    base_sum: Sum = NO_SUM

    @property
    def last_seq(self) -> int:
        """The last event that is known."""
        return self.base + len(self.offsets) - 1

    @classmethod
    def first_byte(cls) -> "Start":
        """Nothing is."""
        return cls(array("q", [0]), NO_SUM)


class Scan:
    """Iterate it for the events, a whole command at a time; then look at what it found."""

    def __init__(self, read_at: Callable[[int, int], bytes], size: int, start: Start | None = None) -> None:
        """Reads from the first byte, or what comes after `start`, whose offsets it goes on with."""
        start = start or Start.first_byte()
        self._read_at = read_at
        self._size = size
        self.offsets = start.offsets  # where each line ends; so line n lies in offsets[n-1]:offsets[n]
        self.last_sum = start.last_sum
        self.base, self.base_sum = start.base, start.base_sum
        self.tear: Tear | None = None
        self.damage: Damage | None = None
        self.newline_missing = False
        self._held: list[Event] = []
        self._held_sum = Sum("")
        self._held_ends: list[int] = []
        self._least = 0  # the log was vacuumed, and no crash ever left it without all up to this seq

    @property
    def last_seq(self) -> int:
        """The last event that can be trusted."""
        return self.base + len(self.offsets) - 1

    @property
    def end(self) -> int:
        """Where the trusted bytes end."""
        return self.offsets[-1]

    def __iter__(self) -> Iterator[Group]:
        if self._size == 0:
            self.damage = Damage(1, 0, "the file is empty")
            return
        for start, line, whole in self._lines():
            try:
                event = self._next(line)
            except LineError as error:
                self._judge(start, line, whole, str(error))
                return
            self._held.append(event)
            self._held_ends.append(start + len(line) + 1)
            if event.more == 0:
                self.newline_missing = not whole
                yield self._release()
        if self._held or self.last_seq < self._least:
            self._torn()

    def line_of(self, seq: int) -> tuple[int, int]:
        """(number from 1, byte offset) of the line of a trusted event."""
        return seq - self.base, self.offsets[seq - self.base - 1]

    def _lines(self) -> Iterator[tuple[int, bytes, bool]]:
        """(start, line without its newline, had a newline)."""
        start, rest, position = self.end, b"", self.end
        while position < self._size:
            chunk = self._read_at(position, min(CHUNK_BYTES, self._size - position))
            if not chunk:
                break
            position += len(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield start, line, True
                start += len(line) + 1
        if rest:
            yield start, rest, False

    def _next(self, line: bytes) -> Event:
        event, stamp = decode(line)
        self._begin(event)
        seq = self.last_seq + len(self._held) + 1
        if event.seq != seq:
            raise LineError(_order_problem(event.seq, seq))
        if event.prev != (self._held_sum if self._held else self.last_sum):
            raise LineError(f"does not continue the line before it (seq {seq - 1})")
        if self._held and event.more != self._held[-1].more - 1:
            raise LineError("does not continue the command of the line before it")
        self._held_sum = stamp
        return event

    def _begin(self, event: Event) -> None:
        """The first line of a log that was vacuumed says itself what it goes on from."""
        first = len(self.offsets) == 1 and not self._held
        if event.vacuum is UNSET or not first:
            if event.op in OPS_OF_A_VACUUM and (first or self.last_seq + len(self._held) >= self._least):
                raise LineError(f"is a {event.op!r}, which only the beginning of a log holds")
            return
        self.base, self.base_sum = event.vacuum.seqs, Sum(event.vacuum.head)
        self.last_sum = self.base_sum
        self._least = self.base + 1 + event.vacuum.follow

    def _release(self) -> Group:
        group = tuple(self._held)
        self.offsets.extend(self._held_ends)
        self.last_sum = self._held_sum
        self._held.clear()
        self._held_ends.clear()
        return group

    def _judge(self, start: int, line: bytes, whole: bool, problem: str) -> None:
        seq = self.last_seq + len(self._held) + 1
        cut_short = not whole and not is_object(line)
        if cut_short or (b"\0" in line and self._last_write_only(start + len(line) + 1, seq)):
            self._torn()
        else:
            self.damage = Damage(seq - self.base, start, problem)

    def _torn(self) -> None:
        """A log gets its name with its first event on disk, or with all that a vacuum kept: no crash tears that."""
        lines = len(self.offsets) - 1
        if lines == 0:
            self.damage = Damage(1, 0, "holds no whole event, which no crash leaves")
        elif self.last_seq < self._least:
            self.damage = Damage(lines + 1, self.end, "is not all that a vacuum kept, which no crash leaves")
        else:
            self.tear = Tear(self.end, lines + 1)

    def _last_write_only(self, position: int, seq: int) -> bool:
        """True when no readable line from `position` on comes from a later write than the one that holds `seq`."""
        rest = b""
        while position < self._size:
            chunk = self._read_at(position, min(CHUNK_BYTES, self._size - position))
            if not chunk:
                break
            position += len(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            if any(_first_of_write(line) > seq for line in lines):
                return False
        return _first_of_write(rest) <= seq


def _first_of_write(line: bytes) -> int:
    try:
        return decode(line)[0].first_of_write
    except LineError:
        return 0


def _order_problem(found: int, expected: int) -> str:
    if found < expected:
        return f"is seq {found} again: a line was doubled or moved"
    if found == expected + 1:
        return f"is seq {found}, but {expected} is missing: a line was removed or moved"
    return f"is seq {found}, but {expected} to {found - 1} are missing: lines were removed or moved"
