"""What a session has been given once, and how it is told of a change without touching a byte of that.

The state of a prefix is what its lines say, by what they stand for; its hash does not depend on their order, nor on how
many were left out. What fell out of a later prefix for want of room alone still holds, so it stays in the state.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import TypeVar

import msgspec

from recall.context.marking import CHANGE, block
from recall.context.standing import handle
from recall.context.turn import Key

State = Mapping[Key, str]
_Value = TypeVar("_Value")

PREAMBLE = "What changed in the rules and memories that this conversation began with.\n"


def hash_of(state: State) -> str:
    """32 hex digits."""
    return blake2b(msgspec.json.encode(sorted(state.items())), digest_size=16).hexdigest()


def carried(known: State, now: State, holds: Callable[[Key, str], bool]) -> dict[Key, str]:
    """What a session that was given `known` has once it is told of the change to `now`."""
    return {**{key: text for key, text in known.items() if key not in now and holds(key, text)}, **now}


def change(known: State, after: State) -> str:
    """One message from the one to the other; empty when nothing changed."""
    fresh = [(key, text) for key, text in after.items() if known.get(key) != text]
    gone = [key for key in known if key not in after]
    if not fresh and not gone:
        return ""
    return block(CHANGE, PREAMBLE, *_fresh(fresh, known), *_gone(gone))


def _fresh(items: Iterable[tuple[Key, str]], known: State) -> list[str]:
    told = []
    for key, text in items:
        what = "Rule" if key[1] == "rule" else "About bank" if key[1] == "preamble" else "Memory of"
        told.append(f"{what} {key[0]}, {'changed' if key in known else 'new'}:\n{text}")
    return told


def _gone(keys: Iterable[Key]) -> list[str]:
    """By name or handle alone: what was taken out of use is not said again."""
    return [f"No longer holds: {_name(key)}\n" for key in keys]


def _name(key: Key) -> str:
    bank, what, name = key
    return f"({handle(bank, name)})" if what == "memory" else f"{what} {bank}/{name}".rstrip("/")


class Given:
    """The states that sessions were given, the latest `most` of them. Safe in any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._states: OrderedDict[tuple[str, str], State] = OrderedDict()
        self._last: OrderedDict[tuple[str, str], str] = OrderedDict()

    def known(self, tenant: str, hash_: str) -> State | None:
        """The state of a hash; None when it is not known any more."""
        with self._lock:
            return self._states.get((tenant, hash_))

    def last(self, tenant: str, session: str) -> str:
        """The hash that a session was given last; empty when there is none."""
        with self._lock:
            return self._last.get((tenant, session), "")

    def note(self, tenant: str, session: str, hash_: str, state: State) -> None:
        """A session has this state now."""
        with self._lock:
            self._put(self._states, (tenant, hash_), state)
            if session:
                self._put(self._last, (tenant, session), hash_)

    def _put(self, kept: OrderedDict[tuple[str, str], _Value], key: tuple[str, str], value: _Value) -> None:
        kept[key] = value
        kept.move_to_end(key)
        while len(kept) > self._most:
            kept.popitem(last=False)
