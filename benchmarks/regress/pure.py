"""Run by path inside each checkout, with that checkout first on the path: no import of `benchmarks` here.

Prints JSON: {part: [median seconds of a run, instructions of the interpreter that a run takes]}.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

_REPEATS = 15
_QUERIES = 10
_LOAD_S = 10.0
_FOLDER = TemporaryDirectory(prefix="recall-regress-")
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
    asked = [dict.fromkeys(found.tokens(text), 1) for text in _TEXTS[:_QUERIES]]
    return lambda: [lexical.dense(terms, len(_TEXTS)) for terms in asked]


def encode_saves() -> Callable[[], object]:
    from recall.memory.events import Body, Entry, Sum, encode
    from recall.memory.record import LOCAL

    entries = [Entry(Body(op="save", id=str(number), text=text), 1, LOCAL) for number, text in enumerate(_TEXTS)]
    return lambda: [encode(entry, seq, Sum("0" * 16), seq) for seq, entry in enumerate(entries, 1)]


def whole_recall() -> Callable[[], object]:
    """Legs, fusion, cut and texts of one engine over one bank; its folder goes when the process ends."""
    from index.analysis_settings import AnalysisSettings
    from index.embedder import EmbedderSlot, EmbeddingSettings
    from index.query_cache import QueryCache
    from index.sidecar import text_key
    from recall.memory.banks import DEFAULT_TENANT, Banks
    from recall.memory.clock import SystemClock
    from recall.memory.files import DiskFiles
    from recall.memory.record import NewMemory
    from recall.memory.settings import StorageSettings
    from recall.ranking.bank_index import BankIndex, IndexSettings  # type: ignore[attr-defined]  # as in older commits
    from recall.ranking.budget import Budget
    from recall.ranking.engine import Engine
    from recall.ranking.query import Mode, RecallQuery
    from recall.ranking.settings import RankingSettings
    from recall.server.app import analyzer

    folder = Path(_FOLDER.name)
    slot = EmbedderSlot(EmbeddingSettings(model="hashing:384"), folder)
    slot.start()
    slot.wait(_LOAD_S)
    embedder = slot.current()
    assert embedder is not None
    bank = Banks(folder / "data", StorageSettings(), DiskFiles(), SystemClock()).create(DEFAULT_TENANT, "regress")
    bank.save([NewMemory(text=text) for text in _TEXTS])
    index = BankIndex.open(bank, folder / "derived", analyzer(AnalysisSettings()), IndexSettings(), slot.current)
    index.store(embedder.model_id, [(text_key(text), embedder.encode([text])) for text in _TEXTS])
    engine = Engine(RankingSettings(), QueryCache(slot), slot, SystemClock())
    query = RecallQuery(_TEXTS[0], mode=Mode.HYBRID)

    def run() -> object:
        now = time.monotonic()
        return engine.recall(index, bank, query, Budget(now, now + _LOAD_S))

    return run


PARTS = {
    "analyse 100 texts": analyse,
    "hash 100 texts": hash_vectors,
    "search words of 10 texts": search_words,
    "encode 100 saves": encode_saves,
    "one recall over 100": whole_recall,
}


def seconds(run: Callable[[], object]) -> float:
    taken = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        run()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def instructions(run: Callable[[], object]) -> int:
    """Bytecodes of all Python frames in this thread; native code counts nothing."""
    count = 0

    def heard(frame: FrameType, event: str, argument: object) -> Any:  # noqa: ARG001 - the system's signature
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
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
        found[name] = (seconds(run), instructions(run))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
