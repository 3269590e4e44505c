"""What the fold of a log gave, on disk: a start reads it instead of the events it stands for.

    magic "RECSTA01" · [length u32 · block] … · blake2b-128 of all that is before it              (little endian)

The first block is a `_Head`, the others are lists of records by ordinal; all are MessagePack. The image is derived
data: it counts only when its checksum holds, its shape is this program's and the log still has, at that very place, the
event it is as of; else the log is read from its first byte. Whoever changes what an event folds to raises `_FOLD`.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import msgspec
from msgspec.structs import fields

from recall.memory.answered import Answered
from recall.memory.events import Origin, Sum
from recall.memory.record import BankInfo, Record
from recall.memory.rule_state import Rule
from recall.memory.scan import Start
from recall.memory.state import Links, State

_MAGIC = b"RECSTA01"
_FOLD = 2
_SHAPE = f"{_FOLD}:{','.join(field.name for field in fields(Record))}"
_LENGTH = struct.Struct("<I")
_SUM_BYTES = 16
_BLOCK_RECORDS = 2_048
"""Records encoded at once: some two milliseconds, in which no other thread runs."""


class ImageError(ValueError):
    """The bytes are no image of this program; the message says why."""


class _Head(msgspec.Struct, frozen=True, array_like=True):
    shape: str
    base: int  # the seq before the first line
    base_sum: Sum
    last_sum: Sum
    offsets: bytes  # int64 by line: where it ends
    event_before: bytes
    last_event: bytes
    info: BankInfo
    requests: dict[str, Answered]
    sources: dict[str, dict[str, int]]
    texts: dict[bytes, int]  # holders that are not the youngest memory with their text
    free_texts: list[bytes]  # texts of memories that hold them no more
    runs: dict[str, list[int]]
    arrivals: dict[str, Origin]
    undone: list[tuple[str, str]]
    rules: dict[str, Rule]
    mined: int


@dataclass(frozen=True, slots=True)
class StateImage:
    """A state, and of which log it is."""

    records: Sequence[Record]
    by_text: dict[bytes, int]
    by_source: dict[tuple[str, str], int]
    requests: dict[str, Answered]
    info: BankInfo
    runs: dict[str, list[int]]
    arrivals: dict[str, Origin]
    undone: Sequence[tuple[str, str]]
    rules: dict[str, Rule]
    mined: int
    links: Links
    known: Start

    @property
    def last_seq(self) -> int:
        """The last event it holds."""
        return self.known.last_seq

    @classmethod
    def of(cls, state: State, known: Start) -> StateImage:
        """A copy that stays as it is while the state goes on. The caller keeps writes out meanwhile."""
        return cls(
            tuple(state.records),
            dict(state.by_text),
            dict(state.by_source),
            dict(state.requests),
            state.info,
            {run: list(seqs) for run, seqs in state.runs.items()},
            dict(state.arrivals),
            sorted(state.undone),
            dict(state.rules),
            state.mined,
            state.links(),
            known,
        )

    def encoded(self) -> bytes:
        """The content of the file."""
        digest = blake2b(_MAGIC, digest_size=_SUM_BYTES)
        parts = [_MAGIC]
        for block in self._blocks():
            for part in (_LENGTH.pack(len(block)), block):
                digest.update(part)
                parts.append(part)
        return b"".join([*parts, digest.digest()])

    def restored(self, request_ids_kept: int) -> State:
        """The state, to be used once."""
        state = State(request_ids_kept)
        state.records = list(self.records)
        state.by_id = {one.id: one.ordinal for one in self.records}
        state.by_text, state.by_source = self.by_text, self.by_source
        state.requests.update(self.requests)
        state.info, state.runs, state.arrivals = self.info, self.runs, self.arrivals
        state.undone, state.rules, state.mined = set(self.undone), self.rules, self.mined
        state.link(self.links)
        return state

    def _blocks(self) -> Iterator[bytes]:
        encoder = msgspec.msgpack.Encoder()
        youngest = _youngest(self.records)
        sources: dict[str, dict[str, int]] = {}
        for (kind, name), ordinal in self.by_source.items():
            sources.setdefault(kind, {})[name] = ordinal
        yield encoder.encode(
            _Head(
                shape=_SHAPE,
                base=self.known.base,
                base_sum=self.known.base_sum,
                last_sum=self.known.last_sum,
                offsets=self.known.offsets.tobytes(),
                event_before=self.links.event_before.tobytes(),
                last_event=self.links.last_event.tobytes(),
                info=self.info,
                requests=self.requests,
                sources=sources,
                texts={text: holder for text, holder in self.by_text.items() if youngest[text] != holder},
                free_texts=[text for text in youngest if text not in self.by_text],
                runs=self.runs,
                arrivals=self.arrivals,
                undone=list(self.undone),
                rules=self.rules,
                mined=self.mined,
            )
        )
        for start in range(0, len(self.records), _BLOCK_RECORDS):
            yield encoder.encode(self.records[start : start + _BLOCK_RECORDS])


def decoded(data: bytes) -> StateImage:
    """The image in these bytes. Raises ImageError."""
    if (
        not data.startswith(_MAGIC)
        or blake2b(data[:-_SUM_BYTES], digest_size=_SUM_BYTES).digest() != data[-_SUM_BYTES:]
    ):
        raise ImageError("its checksum does not hold")
    blocks = _split(memoryview(data)[len(_MAGIC) : -_SUM_BYTES])
    try:
        head = msgspec.msgpack.decode(next(blocks), type=_Head)
        if head.shape != _SHAPE:
            raise ImageError("another version of the program wrote it")
        records = _records(blocks)
        return _image(head, records)
    except (msgspec.MsgspecError, struct.error, StopIteration, UnicodeDecodeError) as error:
        raise ImageError(f"cannot be read: {error}") from None


def _image(head: _Head, records: list[Record]) -> StateImage:
    by_text: dict[bytes, int] = {**_youngest(records), **head.texts}
    for text in head.free_texts:
        del by_text[text]
    return StateImage(
        records,
        by_text,
        {(kind, name): ordinal for kind, names in head.sources.items() for name, ordinal in names.items()},
        head.requests,
        head.info,
        head.runs,
        head.arrivals,
        head.undone,
        head.rules,
        head.mined,
        Links(head.base, _numbers(head.event_before), _numbers(head.last_event)),
        Start(_numbers(head.offsets), head.last_sum, head.base, head.base_sum),
    )


def _split(data: memoryview) -> Iterator[memoryview]:
    position = 0
    while position < len(data):
        (length,) = _LENGTH.unpack_from(data, position)
        position += _LENGTH.size
        yield data[position : position + length]
        position += length


def _records(blocks: Iterator[memoryview]) -> list[Record]:
    decoder = msgspec.msgpack.Decoder(list[Record])
    records: list[Record] = []
    for block in blocks:
        records += decoder.decode(block)
    return records


def _youngest(records: Sequence[Record]) -> dict[bytes, int]:
    return {one.text_hash: one.ordinal for one in records}


def _numbers(data: bytes) -> array[int]:
    numbers = array("q")
    numbers.frombytes(data)
    return numbers
