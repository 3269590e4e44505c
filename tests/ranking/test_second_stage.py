"""The second stage: reorders what it is given in time, says so when it could not, and never loses a result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from ranked_bank import RankedBank, ranked_bank
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace

from index.late_interaction import LateInteraction
from index.token_encoder import CompactTokens, TokenEncoder, max_similarity
from recall.ranking.budget import Budget
from recall.ranking.engine import Engine
from recall.ranking.query import Mode, RecallQuery
from recall.ranking.results import DegradedReason, Ranked
from recall.ranking.second_stage import SIGNAL, SecondStage
from recall.ranking.settings import RerankSettings

WORDS = ["[CLS]", "[UNK]", "[unused0]", "[unused1]", "river", "stream", "otter", "stone"]
DEADLINE_S = 20.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A token encoder for which a river is a stream, and every other word stands alone."""
    path = tmp_path / "colbert"
    path.mkdir()
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    tokenizer.save(str(path / "tokenizer.json"))
    rows = np.eye(len(WORDS), dtype=np.float32)
    rows[5] = rows[4]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["states"])],
        "encoder",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, [1, "tokens", len(WORDS)])],
        [numpy_helper.from_array(rows, "table")],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path / "model.onnx")
    )
    return path


@contextmanager
def staged(
    bank: RankedBank, folder: Path, candidates: int = 50, load: Callable[[], TokenEncoder] | None = None
) -> Iterator[Engine]:
    """An engine over the bank with a second stage that has begun to load."""
    settings = RerankSettings(model=str(folder), candidates=candidates, weight=5.0)
    with closing(LateInteraction(load or partial(TokenEncoder, folder, 32), 1 << 20, 100, time.monotonic)) as late:
        late.start()
        yield Engine(bank.settings, bank.queries, bank.slot, bank.clock, second_stage=SecondStage(late, settings))


def soon(seconds: float) -> Budget:
    """From now on."""
    now = time.monotonic()
    return Budget(now, now + seconds)


def settled(engine: Engine, bank: RankedBank, query: str, **fields: Any) -> Ranked:
    """The answer once the encoder is loaded and the texts are encoded."""
    until = time.monotonic() + DEADLINE_S
    while True:
        asked = RecallQuery(text=query, mode=Mode.HYBRID, **fields)
        answer = engine.recall(bank.index, bank.bank, asked, soon(5.0))
        if not answer.degraded or time.monotonic() > until:
            return answer


def test_max_similarity_is_the_mean_of_the_best_cosines() -> None:
    query = np.eye(3, dtype=np.float32)[:2]
    documents = [np.array([[127, 0, 0], [0, 0, 127]], np.int8), np.array([[0, 127, 0], [127, 0, 0]], np.int8)]
    assert max_similarity(query, documents) == pytest.approx([0.5, 1.0])


def test_it_puts_in_order_what_the_fusion_found(tmp_path: Path, folder: Path) -> None:
    with ranked_bank(tmp_path) as bank, staged(bank, folder) as engine:
        bank.save("otter stone", "otter stream", "otter otter otter stone stone")
        answer = settled(engine, bank, "river otter", explain=True)
        assert answer.results[0].text == "otter stream"
        assert bank.texts("river otter")[0] != "otter stream"
        assert SIGNAL in {signal.name for signal in answer.results[0].signals}
        assert [one.score for one in answer.results] == sorted((one.score for one in answer.results), reverse=True)


def test_results_beyond_its_candidates_keep_their_order_behind_them(tmp_path: Path, folder: Path) -> None:
    with ranked_bank(tmp_path) as bank, staged(bank, folder, candidates=2) as engine:
        bank.save(*[f"otter stone {'pebble ' * n}" for n in range(6)])
        fused = bank.texts("otter stone", limit=6)
        for k in range(1, 7):
            found = [one.text for one in settled(engine, bank, "otter stone", limit=k).results]
            assert set(found[:2]) <= set(fused[:2])
            assert found[2:] == fused[2:k]


class Gated(TokenEncoder):
    """Encodes no memory before it may."""

    gate: threading.Event

    def document(self, text: str) -> CompactTokens:
        assert self.gate.wait(DEADLINE_S)
        return super().document(text)


def test_without_time_the_fused_order_stands_and_the_answer_says_so(tmp_path: Path, folder: Path) -> None:
    encoder = Gated(folder, 32)
    encoder.gate = threading.Event()
    with ranked_bank(tmp_path) as bank, staged(bank, folder, load=lambda: encoder) as engine:
        bank.save("otter stone", "otter stream")
        fused = bank.texts("river otter")
        query = RecallQuery(text="river otter", mode=Mode.HYBRID)
        late = engine.recall(bank.index, bank.bank, query, soon(0.05))
        assert [one.reason for one in late.degraded] == [DegradedReason.RERANK_LATE]
        assert [one.text for one in late.results] == fused
        assert not engine.recall(bank.index, bank.bank, replace(query, mode=Mode.LEXICAL), soon(0.05)).degraded
        encoder.gate.set()
        assert not settled(engine, bank, "river otter").degraded


def test_a_model_that_does_not_load_is_told_and_costs_no_result(tmp_path: Path) -> None:
    with ranked_bank(tmp_path) as bank, staged(bank, tmp_path / "nothing") as engine:
        bank.save("otter stone", "otter stream")
        until = time.monotonic() + DEADLINE_S
        reasons: set[DegradedReason] = set()
        while DegradedReason.RERANK_DOWN not in reasons and time.monotonic() < until:
            answer = engine.recall(bank.index, bank.bank, RecallQuery(text="otter", mode=Mode.HYBRID), soon(5.0))
            reasons = {one.reason for one in answer.degraded}
        assert reasons == {DegradedReason.RERANK_DOWN}
        assert len(answer.results) == 2


def test_why_not_gives_the_rank_of_the_second_stage(tmp_path: Path, folder: Path) -> None:
    with ranked_bank(tmp_path) as bank, staged(bank, folder) as engine:
        records = bank.save("otter stone", "otter stream", "otter otter otter stone stone")
        answer = settled(engine, bank, "river otter", why_not_id=records[1].id)
        assert answer.why_not is not None
        assert answer.why_not.rank == 1
