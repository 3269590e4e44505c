"""How like a proposal is to what is in use: exact Jaccard of character trigrams against every memory in use.

Linear in the bank: some 0.1 s for 10,000 memories of a sentence. A review is a person's pace, and exact is worth it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from consolidate.shingles import Shingles
from recall.memory.bank import Bank
from recall.memory.names import text_hash
from recall.memory.record import Record, Status
from recall.memory.twins import Compared

NEAR_DUPLICATE = 0.72
"""Jaccard from which a promotion needs an override."""
LEAST_SHOWN = 0.2
"""Jaccard below which a memory in use is not shown beside a proposal."""
MOST_SHOWN = 3
_WORDS = re.compile(r"\S+|\s+")


@dataclass(frozen=True, slots=True)
class Alike:
    """A memory in use and its Jaccard with a proposal."""

    record: Record
    text: str
    score: float


def most_alike(bank: Bank, proposals: Sequence[Record], now: int) -> list[list[Alike]]:
    """For each proposal the memories in use that are most like it, most alike first."""
    in_use = [record for record in bank.records() if record.status is Status.ACCEPTED and not record.expired(now)]
    if not in_use or not proposals:
        return [[] for _ in proposals]
    texts = [bank.text(record) for record in in_use]
    shingles = Shingles.of([*(bank.text(record) for record in proposals), *texts])
    others = np.arange(len(proposals), len(proposals) + len(in_use))
    found = []
    for place, proposal in enumerate(proposals):
        scores = shingles.jaccard(np.full(len(others), place), others)
        best = np.argsort(-scores, kind="stable")[: MOST_SHOWN + 1]
        alike = [Alike(in_use[at], texts[at], float(scores[at])) for at in best if scores[at] >= LEAST_SHOWN]
        found.append([one for one in alike if one.record.id != proposal.id][:MOST_SHOWN])
    return found


def near_duplicate(
    bank: Bank, record: Record, text: str, now: int, leaving: frozenset[str] = frozenset()
) -> tuple[Alike | None, Compared]:
    """The memory in use that `text` is a near-duplicate of, and what is needed to look again under the writer's lock.

    `record` is what the text would come into use as; `leaving` go in the same write and do not count.
    """
    twin, compared = near_duplicate_of_text(bank, text, now, leaving | {record.id})
    return twin, replace(compared, text_hash=record.text_hash, revision=record.revision)


def near_duplicate_of_text(
    bank: Bank, text: str, now: int, leaving: frozenset[str] = frozenset()
) -> tuple[Alike | None, Compared]:
    """As near_duplicate, for a memory that does not exist yet."""
    snapshot = bank.snapshot()
    in_use = [one for one in snapshot.records if one.status is Status.ACCEPTED and not one.expired(now)]
    others = [one for one in in_use if one.id not in leaving]
    texts = [bank.text(one) for one in others]
    scores = likeness(text, texts)
    best = max(range(len(scores)), key=lambda place: (scores[place], -place), default=None)
    twin = None if best is None else Alike(others[best], texts[best], scores[best])
    compared = Compared(snapshot.last_seq, text_hash(text), 0, likeness, NEAR_DUPLICATE, leaving)
    return (twin if twin is not None and twin.score >= NEAR_DUPLICATE else None), compared


def likeness(text: str, others: Sequence[str]) -> list[float]:
    """Jaccard of the character trigrams of a text with those of each other text."""
    if not others:
        return []
    shingles = Shingles.of([text, *others])
    return [float(score) for score in shingles.jaccard(np.zeros(len(others), np.int64), np.arange(1, len(others) + 1))]


def word_diff(before: str, after: str) -> str:
    """From one text to the other, word by word: `[-gone-]` and `{+new+}`."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    told: list[str] = []
    for op, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, come = "".join(old[i:j]), "".join(new[k:m])
        if op == "equal":
            told.append(come)
            continue
        told += [f"[-{gone}-]"] if gone else []
        told += [f"{{+{come}+}}"] if come else []
    return "".join(told)
