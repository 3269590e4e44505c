"""Run by path inside each checkout, with that checkout first on the path: no import of `benchmarks` here.

Prints JSON: {part: [median seconds of a run, lines of Python that a run passes]}.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

_REPEATS = 15
_QUERIES = 10
_TEXTS = tuple(
    f"Zoë moved the {word} meeting of project {number} from Lisbon to 世界 on Tuesday, and paid {number}.50 for it."
    for number, word in enumerate(("weekly", "budget", "planning", "hiring") * 25)
)


def analyse() -> Callable[[], object]:
    from index.analysis_settings import AnalysisSettings
    from recall.server.app import analyzer

    found = analyzer(AnalysisSettings())
    return lambda: [found.tokens(text) for text in _TEXTS]


def hash_vectors() -> Callable[[], object]:
    from index.hashing import HashingEmbedder

    embedder = HashingEmbedder(384)
    return lambda: embedder.encode(_TEXTS)


def search_words() -> Callable[[], object]:
    from index.analysis_settings import AnalysisSettings
    from index.lexical import Lexical
    from recall.server.app import analyzer

    found = analyzer(AnalysisSettings())
    lexical = Lexical(found)
    lexical.rebuild(enumerate(_TEXTS), 1)
    asked = [{term: 1 for term in found.tokens(text)} for text in _TEXTS[:_QUERIES]]
    return lambda: [lexical.dense(terms, len(_TEXTS)) for terms in asked]


def encode_saves() -> Callable[[], object]:
    from recall.memory.events import Body, Entry, Sum, encode
    from recall.memory.record import LOCAL

    entries = [Entry(Body(op="save", id=str(number), text=text), 1, LOCAL) for number, text in enumerate(_TEXTS)]
    return lambda: [encode(entry, seq, Sum("0" * 16), seq) for seq, entry in enumerate(entries, 1)]


PARTS = {
    "analyse 100 texts": analyse,
    "hash 100 texts": hash_vectors,
    "search words of 10 texts": search_words,
    "encode 100 saves": encode_saves,
}


def seconds(run: Callable[[], object]) -> float:
    taken = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        run()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def lines(run: Callable[[], object]) -> int:
    count = 0

    def heard(frame: FrameType, event: str, argument: object) -> Any:  # noqa: ARG001 - the signature is the system's
        nonlocal count
        count += event == "line"
        return heard

    before = sys.gettrace()
    sys.settrace(heard)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


def main() -> None:
    found = {}
    for name, make in PARTS.items():
        run = make()
        run()
        found[name] = (seconds(run), lines(run))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
