"""Memories as JSON lines: what `recall export` writes, and any other file that `--map` can explain.

A row is a memory in the JSON form of the contract (fields as in `Memory`, times with any offset, kinds as `KIND_FACT`
or `fact`), or a string, which is then its text. Empty rows are skipped. A memory's history is one more field, `events`:
a list of `MemoryEvent`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from recall.commands.failure import CommandError
from recall.commands.moments import moment
from recall.v1 import memory_pb2, memory_service_pb2

EVENTS = "events"
_TIMES = ("created_at", "updated_at", "expires_at")
_PREFIXES = {"kind": "KIND_", "status": "STATUS_"}
_SURROGATE = b"\\ud"
_REMEDY = "rename it with --map, or skip it with --ignore-unknown"


class Reading:
    """Reads rows one after the other, and remembers what became of them."""

    def __init__(self, renamed: Mapping[str, str], ignore_unknown: bool) -> None:
        self._renamed, self._ignore_unknown = renamed, ignore_unknown
        self._rows: list[int] = []
        self.problems: list[tuple[int, str]] = []
        """Row (from 1) and what is wrong with it, for rows that are no memory."""

    def requests(self, source: Iterable[bytes]) -> Iterator[tuple[bytes, memory_service_pb2.ImportRequest]]:
        """The request for each row that is a memory, with the row's bytes."""
        for number, row in enumerate(source, start=1):
            if not row.strip():
                continue
            try:
                request = self._request(row)
            except (ValueError, TypeError, AttributeError, RecursionError, ParseError, CommandError) as error:
                self.problems.append((number, " ".join(str(error).split())))
            else:
                self._rows.append(number)
                yield row, request

    def row_of(self, record: int) -> int:
        """The row (from 1) of the record-th memory (from 1) that was sent."""
        return self._rows[record - 1] if 0 < record <= len(self._rows) else record

    def _request(self, row: bytes) -> memory_service_pb2.ImportRequest:
        value = _value(row)
        fields = {"text": value} if isinstance(value, str) else value
        if not isinstance(fields, dict):
            raise ValueError("the row is neither a JSON object nor a string")
        ours = {self._renamed.get(name, name): each for name, each in fields.items()}
        events = ours.pop(EVENTS, [])
        unknown = [name for name in ours if name not in memory_pb2.Memory.DESCRIPTOR.fields_by_name]
        if unknown and not self._ignore_unknown:
            raise ValueError(f"a memory has no field {unknown[0]!r}: {_REMEDY}")
        known = {name: _in_contract(name, each) for name, each in ours.items() if name not in unknown}
        request = {"memory": known, EVENTS: events}
        return ParseDict(request, memory_service_pb2.ImportRequest(), ignore_unknown_fields=self._ignore_unknown)


def as_row(answer: memory_service_pb2.ExportResponse) -> str:
    """An exported memory, and its events where they are told, as one line of JSON."""
    row = MessageToDict(answer.memory, preserving_proto_field_name=True)
    if answer.events:
        row[EVENTS] = [MessageToDict(event, preserving_proto_field_name=True) for event in answer.events]
    return json.dumps(row, ensure_ascii=False)


def _value(row: bytes) -> Any:
    """The JSON of a row. A lone surrogate anywhere in it is refused: as a name it breaks the protobuf runtime."""
    value = json.loads(row.decode("utf-8-sig"))
    if _SURROGATE in row.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("the row holds a lone surrogate, which is no character") from None
    return value


def _in_contract(name: str, value: Any) -> Any:
    if name in _TIMES and isinstance(value, str):
        return moment(name, value).isoformat().replace("+00:00", "Z")
    if name in _PREFIXES and isinstance(value, str) and not value.startswith(_PREFIXES[name]):
        return _PREFIXES[name] + value.upper()
    return value
