"""Requests that nobody sane would send, for any message of the contract: a Hypothesis strategy out of its descriptor.

Every field may be missing or hold a value from the edges of its type; fields whose names tell what they mean (a bank,
an id, a mask) also get values that are right, so that requests come past the checks.
"""

from __future__ import annotations

import string
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

BANK = "fuzzed"
IDS = tuple(f"m{number}" for number in range(8))
DEEPEST = 3

BANK_NAMES = (
    *(
        "",
        ".",
        "..",
        "../etc",
        "../../tmp/x",
        "a/b",
        "a\\b",
        "/abs",
        "~",
        "C:",
        "con",
        "nul\0",
        "\0",
        "a" * 64,
        "a" * 65,
    ),
    *("Fuzzed", "fuzzed ", " fuzzed", "fuzzed\n", "-x", "_x", ".trash", ".new", "fuzzed%2f..", "fuzzed;rm", "LOCK"),
    *("fuzz\u0435d", "ｆｕｚｚｅｄ", "fuzzed\u200b", "ﬁle", "ß", "\u202efuzz", "é", "e\u0301", "x" * 5_000, "default"),
)
TEXTS = (
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\n",
        "\r\n",
        "\u2028",
        "\ufeff",
        "\u202e",
        "\x1b[2J",
        "\x7f",
        "�",
        "\U0010ffff",
        "👩‍👩‍👧",
    ),
    *('"', "'", "\\", "}", '{"seq":1}', "a" * 8_000, "a" * 8_001, "é" * 8_000, "世界大战" * 100, "\u0301" * 500),
    *("x AND y OR (", "field:value", "C++ / -dash +plus *", "<script>", "%s%n", "../../etc/passwd", "'; DROP", "1e999"),
    *("where is Dana's otter?", "The otter lives by the river", "Dana moved to Bern in May 2024", "who am I"),
)
IDENTIFIERS = (*IDS, "", "m0 ", "m 0", "M0", "m0\n", "m" * 128, "m" * 129, "a:b", "a/b", "../m0", "m0\0", "é", '"m0"')
PATHS = (
    *("text", "kind", "tags", "entities", "author", "confidence", "expires_at", "metadata", "pinned", "id", "status"),
    *(
        "description",
        "half_life_days",
        "default_limit",
        "user_handle",
        "scope_kind",
        "scope_ref",
        "agents",
        "name",
        "",
        "memory.text",
        "*",
        "text.",
        "a" * 999,
    ),
)
INTEGERS = (
    0,
    1,
    2,
    3,
    7,
    100,
    101,
    1_000,
    1_001,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**64 - 1,
    -1,
    -(2**31),
    -(2**63),
)
SECONDS = (
    *(0, 1, -1, 1_700_000_000, 4_000_000_000, -62_135_596_800, -62_135_596_801, 253_402_300_799, 253_402_300_800),
    *(2**63 - 1, -(2**63), 315_576_000_000, 315_576_000_001),
)
NANOS = (0, 1, -1, 999_999_999, 1_000_000_000, 2**31 - 1, -(2**31), 999)
FLOATS = (0.0, -0.0, 1.0, 0.5, -1.0, 1e308, -1e308, 5e-324, float("inf"), float("-inf"), float("nan"), 30.0, 36_500.0)

_LIMITS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_CHARACTERS = st.characters(exclude_categories=["Cs"])
_WORDS = st.sampled_from(TEXTS) | st.text(_CHARACTERS, max_size=40) | st.text(string.printable, max_size=40)
_BANKS = st.just(BANK) | st.just(BANK) | st.just(BANK) | st.sampled_from(BANK_NAMES) | _WORDS
_STRINGS: dict[str, SearchStrategy[str]] = {
    "bank": _BANKS,
    "name": _BANKS | st.sampled_from(("spare", "other")),
    "paths": st.sampled_from(PATHS) | st.sampled_from(PATHS[:8]),
}
_IDENTIFIERS = st.sampled_from(IDS) | st.sampled_from(IDENTIFIERS) | _WORDS


@cache
def messages(descriptor: Descriptor, depth: int = 0) -> SearchStrategy[Message]:
    """Messages of a type: any fields, any values."""
    if descriptor.full_name == "google.protobuf.Any":
        return st.builds(GetMessageClass(descriptor))
    made = GetMessageClass(descriptor)
    fields = {field.name: _values(field, depth) for field in descriptor.fields if _fits(field, depth)}
    always = {name: strategy for name, strategy in fields.items() if name in ("bank", "name", "query", "memory")}
    rest = {name: strategy for name, strategy in fields.items() if name not in always}
    likely = st.fixed_dictionaries(always, optional=rest)
    anything = st.fixed_dictionaries({}, optional=fields)
    return (likely | likely | anything).map(lambda given: made(**given))


def _fits(field: FieldDescriptor, depth: int) -> bool:
    return field.message_type is None or depth < DEEPEST


def _values(field: FieldDescriptor, depth: int) -> SearchStrategy[Any]:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        key, value = field.message_type.fields
        return st.dictionaries(_values(key, depth), _values(value, depth), max_size=4) | _large_map()
    one = _one(field, depth)
    return (st.lists(one, max_size=3) | st.lists(one, min_size=17, max_size=18)) if field.is_repeated else one


def _one(field: FieldDescriptor, depth: int) -> SearchStrategy[Any]:
    if field.message_type is not None:
        return messages(field.message_type, depth + 1)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return st.binary(max_size=64) if field.type == FieldDescriptor.TYPE_BYTES else _string(field.name)
    if field.enum_type is not None:
        known = st.sampled_from([value.number for value in field.enum_type.values])
        return known | known | st.sampled_from((-1, 99, 2**31 - 1, -(2**31)))
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return st.booleans()
    if field.cpp_type in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        return st.sampled_from(FLOATS) | st.floats(0.0, 1.0, width=32)
    return _integer(field)


def _string(name: str) -> SearchStrategy[str]:
    if name in _STRINGS:
        return _STRINGS[name]
    return _IDENTIFIERS if name == "id" or name.endswith("_id") else _WORDS


def _integer(field: FieldDescriptor) -> SearchStrategy[int]:
    low, high = _LIMITS[field.cpp_type]
    wanted = {"seconds": SECONDS, "nanos": NANOS}.get(field.name, INTEGERS)
    return st.sampled_from([value for value in wanted if low <= value <= high]) | st.integers(low, high)


def _large_map() -> SearchStrategy[dict[str, str]]:
    """Metadata that is too much, deep, or named like the memory's own fields."""
    return st.sampled_from(
        (
            {"k": "v" * 4_097},
            {str(number): "" for number in range(2_000)},
            {"bank": "other"},
            {"id": "x"},
            {"": "empty key"},
            {"json": "[" * 1_000 + "]" * 1_000},
            {"\0": "\0"},
        )
    )
