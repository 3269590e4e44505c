"""The parts of benchmarks.peers that need no peer."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import page
from benchmarks.peers.bars import verdicts
from benchmarks.peers.exact import ExactWords, accepted
from benchmarks.peers.fusion import by_rank
from benchmarks.peers.prepared import prepare, read
from benchmarks.peers.registry import OURS, PEERS, UnknownPeerError, chosen
from benchmarks.peers.report import PeersFigures, ratios
from benchmarks.peers.table import TableEmbedder
from benchmarks.peers.worker import PeerFigures, recall
from index.errors import EmbeddingError

_ENDED = """
import time
from benchmarks.ending import ended_by_sigterm, temporary_folder
ended_by_sigterm()
with temporary_folder("recall-ended-") as folder:
    print(folder, flush=True)
    time.sleep(60)
"""


def test_a_rarer_word_counts_more_and_a_longer_text_less() -> None:
    scores = ExactWords(["red car", "red boat", "red boat goes far out"]).scores("red boat")
    assert scores[1] > scores[2] > scores[0] > 0.0


def test_fusion_prefers_what_both_legs_like_and_a_short_leg_forgets_the_rest() -> None:
    bm25, cosine = np.array([3.0, 2.0, 0.0]), np.array([0.1, 0.9, 0.5], np.float32)
    assert [accepted(bm25, cosine, k).tolist() for k in (1, 2, 3)] == [[1], [0, 1], [0, 1, 2]]
    assert by_rank(([0, 1], [1, 2, 0]), 3) == [1, 0, 2]
    assert accepted(bm25, cosine, 2, depth=1).tolist() == [0, 1]


def test_where_scores_are_equal_either_row_is_right() -> None:
    cosine = np.array([0.9, 0.5, 0.5, 0.1], np.float32)
    assert accepted(np.zeros(4), cosine, 2).tolist() == [0, 1, 2]
    assert accepted(np.array([0.0, 1.0, 0.0, 0.0]), cosine, 2).tolist() == [0, 1]
    assert [recall(found, [0, 1, 2], 2) for found in ([0, 2], [1, 2], [0, 3], [0])] == [1.0, 1.0, 0.5, 0.5]


def test_the_corpus_is_the_same_each_time_and_its_vectors_are_found_by_text(tmp_path: Path) -> None:
    for name in ("one", "two"):
        prepare(tmp_path / name, 200, 2, 5)
    one, two = read(tmp_path / "one"), read(tmp_path / "two")
    assert one.texts == two.texts
    assert one.exact == two.exact
    table = TableEmbedder.read(tmp_path / "one")
    assert np.array_equal(table.encode([one.texts.saved[1]])[0], one.vectors[201])
    assert np.array_equal(table.encode([one.texts.questions[0]])[0], one.questions[0])
    with pytest.raises(EmbeddingError):
        table.encode(["a text that nobody prepared"])


def test_ours_is_always_measured_and_an_unknown_name_is_refused() -> None:
    assert chosen("chroma") == (OURS, "chroma")
    assert chosen("") == tuple(PEERS)
    with pytest.raises(UnknownPeerError, match="nobody"):
        chosen("nobody")


def test_ratios_are_above_one_where_ours_is_better() -> None:
    ours = PeerFigures(100.0, 1.0, 1.0, 1.0, 1.0, 2.0, 10.0, 1.0, 10, 1, 1)
    other = PeerFigures(50.0, 3.0, 3.0, 1.0, 1.0, 8.0, 20.0, 1.0, 30, 1, 1)
    found = ratios({OURS: ours, "other": other})["other"]
    assert (found.search, found.visible, found.fill, found.rss, found.disk) == (3.0, 4.0, 2.0, 2.0, 3.0)
    assert recall([1, 2, 9], [1, 2, 3, 4], 4) == 0.5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qdrant-edge", "search ≥ 1.5 holds, visible ≥ 5 missed"),
        ("lancedb", "search ≥ 8 missed, visible ≥ 5 missed"),
        ("chroma", "visible ≥ 5 missed"),
        ("langgraph", ""),
        ("recall-grpc", ""),
    ],
)
def test_a_system_is_judged_by_what_it_does(name: str, expected: str) -> None:
    figures = PeerFigures(100.0, 1.0, 1.0, 0.9, 1.0, 2.0, 10.0, 1.0, 10, 1, 1)
    assert verdicts(name, 2.0, 4.0, {OURS: figures, name: figures}) == expected


def test_a_faster_answer_with_less_recall_is_no_win() -> None:
    ours, other = (PeerFigures(1.0, 1.0, 1.0, recall_at_10, 1.0, 1.0, 1.0, 1.0, 1, 1, 1) for recall_at_10 in (0.5, 0.9))
    assert "search ≥ 1.5 missed" in verdicts("qdrant-edge", 9.0, 9.0, {OURS: ours, "qdrant-edge": other})


def test_a_benchmark_that_is_ended_takes_its_folder_with_it() -> None:
    with subprocess.Popen([sys.executable, "-c", _ENDED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert folder.is_dir()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 128 + signal.SIGTERM
    assert not folder.exists()


def test_the_page_draws_every_system_twice_and_fetches_nothing() -> None:
    one = PeerFigures(100.0, 1.0, 1.0, 1.0, 1.0, 2.0, 10.0, 1.0, 10, 1, 1)
    made = page.render(PeersFigures(1_000, {OURS: one, "qdrant-edge": one}, {}, "a machine", {}))
    assert made.count("<circle") == 4
    assert "qdrant-edge: 1.00 ms, 1.000" in made
    assert "http" not in made
