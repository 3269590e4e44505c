"""Figures, their JSON, the comparison of two runs and the page."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from benchmarks import plots
from benchmarks.quality import compare, held_out, metrics, page, peers, promises, tables
from benchmarks.quality.dataset import Dataset, Document, DocumentId, Dropped
from benchmarks.quality.figures import Figures, figures, read, write
from benchmarks.quality.judgement import Judgement
from benchmarks.quality.run import Outcome, Run
from benchmarks.quality.significance import ResamplingSettings
from benchmarks.quality.systems import UnknownSystemError, chosen
from recall.v1.admin_service_pb2 import EmbedderStatus

_FEW = ResamplingSettings(samples=200)


def _outcome(ranks: dict[str, tuple[int | None, ...]]) -> Outcome:
    outcome = Outcome()
    for number, (name, found) in enumerate(ranks.items()):
        outcome.judgements.append(Judgement(name, "5" if name == "adversarial" else "1", found, (1,) * len(found)))
        outcome.latency_ms.append(1.0 + number)
    return outcome


def _figures(hybrid_rank: int = 1) -> Figures:
    dropped = Dropped()
    dropped.add("turn: <no> text", "c1:D1:1")
    dataset = Dataset("tiny", "turn", (), dropped, frozenset("1234"), "categories 1-4")
    outcomes = {
        "lexical": _outcome({"q1": (20,), "q2": (1, None), "adversarial": (None,)}),
        "hybrid": _outcome({"q1": (hybrid_rank,), "q2": (1, 2), "adversarial": (3,)}),
    }
    outcomes["lexical"].degraded["QUERY_CAPPED"] += 2
    run = Run(outcomes, documents=4, memories=3, parted=0, embedder=EmbedderStatus(model="m", backend="b"), load_s=0.1)
    return figures(dataset, run, "lexical", {"limit": "100"}, _FEW)


def test_the_headline_leaves_out_what_the_set_says_and_the_rest_stands_beside() -> None:
    found = _figures()
    assert (found.n, found.all_categories_n, found.category_n) == (2, 3, {"1": 2, "5": 1})
    assert found.systems["hybrid"]["fraction@10"] == 1.0
    assert found.systems["lexical"]["fraction@10"] == 0.25
    assert found.all_categories["lexical"]["fraction@10"] == pytest.approx(0.5 / 3, abs=1e-6)
    assert found.by_category["5"]["hybrid"]["MRR"] == pytest.approx(1 / 3, abs=1e-6)


def test_the_json_holds_set_unit_n_and_a_value_for_each_system_and_metric(tmp_path: Path) -> None:
    write(_figures(), tmp_path / "out" / "run.json")
    content = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert (content["set"], content["unit"], content["n"]) == ("tiny", "turn", 2)
    assert content["systems"]["hybrid"]["fraction@10"] == 1.0
    assert content["dropped"] == {"turn: <no> text": {"count": 1, "ids": ["c1:D1:1"]}}
    assert content["degraded"]["lexical"] == {"QUERY_CAPPED": 2}
    assert content["questions"]["lexical"][1] == ["q2", "1", [1, None], [1, 1]]


def test_what_is_written_is_read_again_and_the_same_bytes_come_twice(tmp_path: Path) -> None:
    write(_figures(), tmp_path / "a.json")
    write(_figures(), tmp_path / "b.json")
    assert read(tmp_path / "a.json") == _figures()
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_run_compared_with_itself_shows_no_difference() -> None:
    for one in compare.compare(_figures(), _figures(), _FEW):
        assert {compare.verdict(change) for change in one.change.values()} == {"no difference shown"}


def test_a_comparison_pairs_the_headline_questions_of_shared_systems() -> None:
    found = {one.system: one for one in compare.compare(_figures(hybrid_rank=50), _figures(), _FEW)}
    assert found["hybrid"].n == 2
    assert found["hybrid"].change["fraction@10"].mean == pytest.approx(0.5)
    assert found["lexical"].change["fraction@10"].mean == 0.0


def test_runs_of_different_units_are_not_compared() -> None:
    with pytest.raises(compare.IncomparableError, match="session"):
        compare.compare(_figures(), _with_unit("session"), _FEW)


def _with_unit(unit: str) -> Figures:
    fields = {name: getattr(_figures(), name) for name in Figures.__struct_fields__}
    return Figures(**{**fields, "unit": unit})


def test_the_tables_name_every_system_metric_category_and_loss() -> None:
    screen = io.StringIO()
    tables.show(_figures(), Console(file=screen, width=160))
    for expected in (
        "lexical",
        "hybrid",
        "fraction@5",
        "all@10",
        "categories 1-4, n = 2",
        "category 5",
        "[+",
        "dropped 1",
    ):
        assert expected in screen.getvalue()


def test_the_page_fetches_nothing_and_draws_every_plot() -> None:
    html = page.render(_figures())
    assert not re.search(r'(src|href)="|@import|url\(|<script', html)
    drawn = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]
    assert len(drawn) == 6
    assert "turn: &lt;no&gt; text" in html


def test_every_colour_of_a_plot_is_defined_however_many_systems_there_are() -> None:
    series = {f"s{number}": [(1.0, 0.1), (10.0, 0.2)] for number in range(plots.COLOURS + 3)}
    drawn = plots.curves(series, "k") + plots.bars({"g": dict.fromkeys(series, 0.5)}, list(series))
    used = set(re.findall(r"var\((--s\d+)\)", drawn))
    defined = set(re.findall(r"(--s\d+):", page.render(_figures())))
    assert used <= defined
    assert drawn.count("stroke-dasharray") == 3


def test_systems_are_chosen_by_name_or_group_each_once() -> None:
    assert [system.name for system in chosen("modes")] == ["lexical", "semantic", "hybrid"]
    assert [system.name for system in chosen("hybrid, modes")] == ["hybrid", "lexical", "semantic"]
    assert len(chosen("all")) == len({system.name for system in chosen("all")})
    with pytest.raises(UnknownSystemError, match="vector"):
        chosen("vector")


def test_an_ablation_asks_for_weight_zero_and_leaves_other_weights_to_the_server() -> None:
    (system,) = chosen("hybrid -entity")
    weights = system.weights.to_request()
    assert weights.HasField("entity")
    assert weights.entity == 0.0
    assert not weights.HasField("neighbour")


def test_a_peer_that_nobody_knows_is_named() -> None:
    assert peers.chosen("") == peers.chosen("none") == peers.Choice()
    with pytest.raises(peers.UnknownPeerError, match="there are bm25s, lancedb, chroma"):
        peers.chosen("lucene")


def test_peers_that_are_not_installed_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("bm25s", "lancedb", "chromadb"):
        monkeypatch.setitem(sys.modules, package, None)
    found = peers.chosen("installed")
    assert found.peers == ()
    assert [told.rpartition(": ")[2] for told in found.left_out] == [
        "pip install bm25s",
        "pip install lancedb",
        "pip install chromadb",
    ]
    with pytest.raises(peers.UnknownPeerError, match="pip install lancedb"):
        peers.chosen("lancedb")


def test_a_peer_that_needs_vectors_is_left_out_where_there_is_no_encoder() -> None:
    found = peers.chosen("installed", {"embedding.model": "none"})
    assert sum("embedding.model is none" in told for told in found.left_out) == 2


def test_bm25s_ranks_by_the_words_of_our_analysis() -> None:
    pytest.importorskip("bm25s")
    (peer,) = peers.chosen("bm25s").peers
    texts = ("the boats were sailing", "a red boat", "nothing of the kind")
    search = peer.index([Document(DocumentId(str(number)), text) for number, text in enumerate(texts)])
    assert search("Which boat sailed?", 10) == [0, 1]


@pytest.mark.parametrize("name", ["lancedb", "chroma"])
def test_a_peer_with_vectors_finds_the_nearest_first(name: str) -> None:
    pytest.importorskip({"chroma": "chromadb"}.get(name, name))
    (peer,) = peers.chosen(name, {"embedding.model": "hashing:64"}).peers
    for texts in (
        ("a red boat", "green pears"),
        ("one", "two", "a red boat"),
    ):  # the second haystack replaces the first
        search = peer.index([Document(DocumentId(str(number)), text) for number, text in enumerate(texts)])
        assert search("red boat", 10)[0] == texts.index("a red boat")


def _promised(found: Figures) -> dict[tuple[str, str], bool]:
    return {(one.told, one.metric): one.held for one in found.promises}


def test_the_hybrid_is_held_to_its_better_leg_in_every_metric() -> None:
    assert set(_promised(_figures()).values()) == {True}
    assert {metric for _, metric in _promised(_figures())} == set(metrics.PRINTED)


@pytest.mark.parametrize(("margin", "held"), [(0.02, True), (0.04, False)])
def test_words_alone_may_lose_three_points_against_bm25s(margin: float, held: bool) -> None:
    missed = round(100 * margin)
    peer = [Judgement(str(number), "1", (1,), (1,)) for number in range(100)]
    ours = [Judgement(str(number), "1", (None,) if number < missed else (1,), (1,)) for number in range(100)]
    found = promises.kept(["MRR"], {"lexical": ours, "bm25s": peer}, _FEW)
    assert [one.held for one in found] == [held]


def test_a_hybrid_below_a_leg_by_more_than_the_interval_breaks_the_promise() -> None:
    leg = [Judgement(str(number), "1", (1,), (1,)) for number in range(40)]
    ours = [Judgement(str(number), "1", (2,), (1,)) for number in range(40)]
    (one,) = promises.kept(["MRR"], {"semantic": leg, "hybrid": ours}, _FEW)
    assert (one.reference, one.held) == ("semantic", False)


def _two_conversations() -> Figures:
    """On conversation `a` the first system is the better one, on `b` the second."""
    ranks = {"first": {"a": 1, "b": 4}, "second": {"a": 2, "b": 1}}
    outcomes = {}
    for system, of in ranks.items():
        outcomes[system] = _outcome({f"{name}/{number}": (of[name],) for name in "ab" for number in range(3)})
    run = Run(outcomes, documents=6, memories=6, parted=0, embedder=EmbedderStatus(model="m"), load_s=0.1)
    return figures(Dataset("tiny", "turn", (), Dropped()), run, "first", {}, _FEW)


def test_what_is_best_elsewhere_is_judged_on_the_conversation_left_out() -> None:
    made = {fold.haystack: fold for fold in held_out.folds(_two_conversations())}
    assert {name: fold.chosen for name, fold in made.items()} == {"a": "second", "b": "first"}
    assert [one.ranks for one in made["b"].judged] == [(4,)] * 3
    (only, _) = held_out.folds(_two_conversations(), ["first"])
    assert only.chosen == "first"


def test_one_conversation_alone_cannot_be_left_out(tmp_path: Path) -> None:
    fields = {name: getattr(_two_conversations(), name) for name in Figures.__struct_fields__}
    alone = {name: judged[:3] for name, judged in fields["questions"].items()}
    with pytest.raises(held_out.TooFewHaystacksError):
        held_out.folds(Figures(**{**fields, "questions": alone}))
    write(_two_conversations(), tmp_path / "run.json")
    screen = io.StringIO()
    held_out.show(tmp_path / "run.json", (), "first", Console(file=screen, width=120))
    assert "all, unseen" in screen.getvalue()


def test_a_power_is_a_straight_line_on_two_logarithmic_axes() -> None:
    drawn = plots.powers({"square": [(x, x**2) for x in (1.0, 10.0, 100.0)]}, "n", "s")
    points = re.search(r'polyline points="([^"]+)"', drawn)
    assert points is not None
    (x0, y0), (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in points[1].split())
    assert (x1 - x0, y1 - y0) == pytest.approx((x2 - x1, y2 - y1), abs=0.2)
    with pytest.raises(ValueError, match="no place for zero"):
        plots.powers({"none": [(1.0, 0.0)]}, "n", "s")
