"""The hand-made pairs, and the measurement that reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.compaction import pairs
from benchmarks.compaction.__main__ import app
from benchmarks.compaction.growth import plan_made_up
from benchmarks.compaction.pairs import BUILT_IN, LabelledPair
from consolidate.guards import Verdict
from consolidate.judgement import Likeness, judge
from consolidate.memo import Memo
from consolidate.settings import ConsolidateSettings


def verdicts(chosen: list[LabelledPair]) -> list[Verdict]:
    """As alike as can be: what only the guards and the wording still decide."""
    settings = ConsolidateSettings()
    return [judge(Memo("1", p.a), Memo("2", p.b), Likeness(1.0, 1.0), settings).verdict for p in chosen]


@pytest.mark.parametrize("half", BUILT_IN)
def test_however_alike_no_two_facts_of_the_set_merge(half: str) -> None:
    different = [pair for pair in pairs.read(BUILT_IN[half]) if not pair.same]
    assert len(different) >= 100
    assert verdicts(different).count(Verdict.MERGE) == 0


@pytest.mark.parametrize("half", BUILT_IN)
def test_restatements_in_other_wording_merge(half: str) -> None:
    wording = [pair for pair in pairs.read(BUILT_IN[half]) if pair.kind.startswith("wording")]
    assert len(wording) >= 60
    assert verdicts(wording).count(Verdict.MERGE) >= 0.95 * len(wording)


@pytest.mark.parametrize("half", BUILT_IN)
def test_guards_let_paraphrases_be_proposed(half: str) -> None:
    paraphrases = [pair for pair in pairs.read(BUILT_IN[half]) if pair.kind == "paraphrase"]
    kept = verdicts(paraphrases).count(Verdict.KEEP)
    assert kept <= 0.1 * len(paraphrases)


def test_the_halves_share_no_pair() -> None:
    seen, unseen = ({frozenset((pair.a, pair.b)) for pair in pairs.read(path)} for path in BUILT_IN.values())
    assert len(seen) >= 220
    assert len(unseen) >= 220
    assert not seen & unseen


@pytest.mark.parametrize(
    "content",
    [
        "x\ty\t1\nv\tw\t0\n",
        "a\tb\tsame\nx\ty\t1\nv\tw\t0\n",
        'id\tsentence1\tsentence2\tlabel\r\n1\tx\ty\t1\r\n\r\n2\t"v"\tw\t0\r\n',
        "kind\tsame\tb\ta\nk\ttrue\ty\tx\nk\tfalse\tw\tv",
        "x\ty\t1\tk\r\nv\tw\t0\tk\r\n",
    ],
)
def test_pair_files_with_and_without_header_and_kind(tmp_path: Path, content: str) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(content, newline="")
    assert [(p.a, p.b, p.same) for p in pairs.read(file)] == [("x", "y", True), ("v", "w", False)]


@pytest.mark.parametrize(("content", "line"), [("x\ty\n", 1), ("a\tb\tsame\nx\ty\tmaybe\n", 2)])
def test_a_line_that_is_no_pair_is_named(tmp_path: Path, content: str, line: int) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(content)
    with pytest.raises(pairs.PairFileError, match=f"pairs.tsv:{line}:"):
        pairs.read(file)


def test_the_command_writes_counts_and_a_page(tmp_path: Path) -> None:
    file, out = tmp_path / "mine.tsv", tmp_path / "out.json"
    file.write_text("Tea is on\ttea is on!\t1\nAlice manages Bob\tBob manages Alice\t0\n")
    done = CliRunner().invoke(app, ["--pairs", str(file), "--out", str(out), "--model", "hashing:64"])
    assert done.exit_code == 0, done.output
    found = json.loads(out.read_text())
    assert (found["n_same"], found["n_different"]) == (1, 1)
    assert found["ours"] == {
        "merged_same": 1, "merged_different": 0, "proposed_same": 0, "proposed_different": 0,
    }  # fmt: skip
    assert found["baselines"]["token set"]["merged_different"] == 1
    page = out.with_suffix(".html").read_text()
    assert "<svg" in page
    assert "http" not in page


def test_a_made_up_bank_is_planned_whole() -> None:
    found = plan_made_up(500)
    assert found.merges == 50
