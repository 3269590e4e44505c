"""The tiny set through a real server: loaded, embedded, asked, judged, written, and the same figures twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.quality.__main__ import app
from benchmarks.quality.dataset import Document, DocumentId, Dropped, Haystack
from benchmarks.quality.figures import Figures, read
from benchmarks.quality.loading import LoadSettings, load
from benchmarks.quality.parts import MEMORY_LIMIT_CHARS
from benchmarks.quality.peers import Search
from benchmarks.quality.run import RunSettings, run
from benchmarks.quality.sets import registry
from benchmarks.quality.systems import chosen
from benchmarks.service import LaunchSettings, ServiceError, service

_HASHING = "embedding.model=hashing:64"
_RUNNER = CliRunner()


def _run(out: Path, *arguments: str) -> Figures:
    result = _RUNNER.invoke(
        app, ["--set", "tiny", "--out", str(out), "--setting", _HASHING, "--peers", "none", *arguments]
    )
    assert result.exit_code == 0, result.output
    return read(out)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    return _run(tmp_path_factory.mktemp("first") / "run.json")


def test_every_question_is_judged_in_every_mode_and_no_answer_is_degraded(first: Figures) -> None:
    assert (first.set, first.unit, first.n, first.all_categories_n) == ("tiny", "turn", 17, 19)
    assert {name: len(judged) for name, judged in first.questions.items()} == dict.fromkeys(first.systems, 19)
    assert first.degraded == {"lexical": {}, "semantic": {}, "hybrid": {}}


def test_words_are_found(first: Figures) -> None:
    assert first.systems["lexical"]["fraction@10"] >= 0.6
    assert first.systems["hybrid"]["fraction@10"] >= 0.6


def test_a_farewell_said_twice_is_one_memory(first: Figures) -> None:
    assert first.memories == first.documents - 1


def test_the_same_figures_come_twice(first: Figures, tmp_path: Path) -> None:
    again = _run(tmp_path / "again.json")
    assert again.questions == first.questions
    assert again.systems == first.systems


def test_ablations_run_on_the_same_server(tmp_path: Path) -> None:
    found = _run(tmp_path / "ablations.json", "--systems", "hybrid,hybrid -entity,BM25 alone", "--haystacks", "1")
    assert list(found.systems) == ["hybrid", "hybrid -entity", "BM25 alone"]


def test_a_page_lies_beside_the_json_and_compare_reads_it(first: Figures, tmp_path: Path) -> None:
    _run(tmp_path / "a.json")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    result = _RUNNER.invoke(app, ["compare", str(tmp_path / "a.json"), str(tmp_path / "a.json")])
    assert result.exit_code == 0, result.output
    assert "no difference shown" in result.output
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["n"] == first.n


def test_without_an_encoder_only_the_words_can_be_measured(tmp_path: Path) -> None:
    arguments = ["--set", "tiny", "--out", str(tmp_path / "x.json"), "--setting", "embedding.model=none"]
    assert _RUNNER.invoke(app, arguments).exit_code == 1
    assert _RUNNER.invoke(app, [*arguments, "--systems", "lexical"]).exit_code == 0


class _InOrder:
    """A peer that ranks documents as they stand."""

    name = "in order"

    def index(self, documents: Sequence[Document]) -> Search:
        return lambda _question, k: range(min(k, len(documents)))


class _Breaks:
    """A peer that takes in nothing."""

    name = "breaks"

    def index(self, documents: Sequence[Document]) -> Search:
        raise RuntimeError(f"no room for {documents[0].id}")


class _Unseen:
    """Progress that nobody looks at."""

    def start(self, stage: str, total: int) -> None: ...
    def advance(self, done: int) -> None: ...
    def at(self, done: int, total: int) -> None: ...


def test_a_peer_that_breaks_is_left_out_and_costs_the_run_nothing_else() -> None:
    dataset = registry.load("tiny", None)
    with service(None, LaunchSettings({"embedding.model": "none"})) as running:
        done = run(running, dataset, chosen("lexical"), [_Breaks(), _InOrder()], RunSettings(), _Unseen())
    assert {name: len(outcome.judgements) for name, outcome in done.outcomes.items()} == {"lexical": 19, "in order": 19}
    assert [told.partition(": ")[0] for told in done.peers_left_out] == ["the peer breaks broke"]


def test_a_long_document_is_kept_whole_in_parts_under_its_own_name() -> None:
    text = "\n\n".join(f"paragraph {number} " + "word " * 200 for number in range(20))
    documents = (Document(DocumentId("long"), text), Document(DocumentId("short"), "brief"))
    dropped = Dropped()
    with service(None, LaunchSettings({"embedding.model": "none"})) as running:
        loaded = load(running, "parts", Haystack("h", documents, ()), dropped, LoadSettings(), lambda _: None)
    assert len(text) > MEMORY_LIMIT_CHARS
    assert loaded.memories == 4
    assert loaded.parted == 2
    assert set(loaded.units) == {"long", "short"}
    assert not dict(dropped.items())


def test_a_server_that_cannot_start_is_one_line() -> None:
    with (
        pytest.raises(ServiceError, match="ended before it listened"),
        service(None, LaunchSettings({"embedding.model": "none", "no.such.setting": "1"})),
    ):
        pass
