"""Bytes changed here and there: what makes one generated input many."""

from __future__ import annotations

import random
from collections.abc import Iterator

_PUT = (b"", b"\n", b"\0", b"\0" * 64, b"\r\n", b"}\n{", b"\xff", b'"', b"\\", b"9" * 30, b"-", b"[", b"\xef\xbb\xbf")
_CUTS, _LONGEST = 3, 60


def mutants(data: bytes, dice: random.Random, count: int) -> Iterator[bytes]:
    """`data` itself, then so many others with one to three pieces cut out, put in, or a bit flipped."""
    yield data
    for _ in range(count):
        changed = data
        for _ in range(dice.randint(1, _CUTS)):
            changed = _flipped(changed, dice) if dice.random() < 0.5 else _spliced(changed, dice)
        yield changed


def _flipped(data: bytes, dice: random.Random) -> bytes:
    if not data:
        return data
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]


def _spliced(data: bytes, dice: random.Random) -> bytes:
    at = dice.randint(0, len(data))
    return data[:at] + dice.choice(_PUT) + data[at + dice.randrange(_LONGEST) :]
