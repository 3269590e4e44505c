"""The verbs on memories, against a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import COLUMNS, CommandLine
from google.protobuf.json_format import ParseDict
from rich.cells import cell_len

from recall.v1 import admin_service_pb2 as admin
from recall.v1 import bank_service_pb2 as banks
from recall.v1 import memory_pb2 as memory
from recall.v1 import memory_service_pb2 as memories
from recall.v1 import recall_service_pb2 as recalls

HOSTILE = "red \x1b[31malert\x1b[0m \x07bell \u202egnirts \u2028 new [bold]markup[/bold] :smile: end"


def test_a_saved_text_is_asked_listed_shown_and_retired(recall: CommandLine) -> None:
    id_ = recall.save("Blog posts go out on Tuesday mornings", "--author", "Dana", "--tag", "Blog", "--pin")
    asked = recall.ok("ask", "when", "do", "blog", "posts", "go", "out?")
    assert "Blog posts go out on Tuesday mornings" in asked.out
    assert id_ in asked.out
    listed = recall.ok("list")
    assert "pinned · fact · Dana · just now · #blog" in listed.out
    shown = recall.ok("show", id_).out
    assert [word for word in ("Dana", "accepted", "blog", id_) if word not in shown] == []
    assert recall.ok("tags").out.split()[-2:] == ["blog", "1"]
    assert recall.ok("rm", id_).out == f"retired {id_}\n"
    assert recall.ok("rm", id_).out == f"{id_} was retired already\n"
    assert "nothing matches" in recall.ok("ask", "blog posts").out
    assert "retired" in recall.ok("show", id_).out


def test_a_text_saved_again_is_strengthened_and_a_retry_changes_nothing(recall: CommandLine) -> None:
    first = recall.ok("save", "The deploy key rotates monthly", "--request-id", "r1")
    assert first.out.startswith("saved ")
    assert "done before" in recall.ok("save", "The deploy key rotates monthly", "--request-id", "r1").out
    assert "strengthened (1 ×)" in recall.ok("save", "The deploy key rotates monthly").out


def test_texts_come_from_stdin_with_a_dash(recall: CommandLine) -> None:
    saved = recall.ok("save", "-", "--json", stdin="first line\nsecond line\n").document
    assert saved["memory"]["text"] == "first line\nsecond line"
    assert "second line" in recall.ok("ask", "-", stdin="which line\n").out
    id_ = saved["memory"]["id"]
    recall.ok("edit", id_, "--text", "-", stdin="third line")
    assert recall.ok("show", id_, "--json").document["text"] == "third line"


def test_an_edit_changes_what_is_named_and_nothing_else(recall: CommandLine) -> None:
    id_ = recall.save("Standup is at nine", "--tag", "team", "--author", "Dana")
    assert "now at revision" in recall.ok("edit", id_, "--text", "Standup is at ten", "--kind", "convention").out
    edited = recall.ok("show", id_, "--json").document
    assert (edited["text"], edited["kind"]) == ("Standup is at ten", "KIND_CONVENTION")
    assert (edited["tags"], edited["author"]) == (["team"], "Dana")
    recall.ok("edit", id_, "--tag", "")
    assert recall.ok("show", id_, "--json").document["tags"] == []
    history = recall.ok("history", id_)
    assert [op for op in ("save", "update") if op not in history.out] == []
    assert len(recall.ok("history", id_, "--json").document["events"]) == 3


def test_pin_and_supersede(recall: CommandLine) -> None:
    loser, winner = recall.save("The office is in Bern"), recall.save("The office moved to Basel")
    assert recall.ok("pin", loser).out == f"pinned {loser}\n"
    assert recall("supersede", loser, winner).code == 5
    assert recall.ok("pin", loser, "--off").out == f"unpinned {loser}\n"
    assert recall.ok("supersede", loser, winner).out == f"superseded {loser} by {winner}\n"
    assert loser not in recall.ok("ask", "where is the office").out
    assert "SUPERSEDED" in recall.ok("ask", "where is the office in Bern", "--superseded").out


def test_an_explained_answer_has_a_bar_for_each_signal(recall: CommandLine) -> None:
    recall.save("Blog posts go out on Tuesday mornings")
    recall.save("The office is in Bern")
    answer = recall.ok("ask", "blog posts on Tuesday", "--explain", "--json").document
    signals = [signal["name"] for signal in answer["results"][0]["signals"]]
    assert "lexical" in signals
    shown = recall.ok("ask", "blog posts on Tuesday", "--explain").out
    assert [name for name in signals if name not in shown] == []
    assert "█" in shown


def test_an_absent_memory_is_explained(recall: CommandLine) -> None:
    found = recall.save("Blog posts go out on Tuesday mornings")
    absent = recall.save("The office is in Bern")
    legs = recall.ok("ask", "blog posts", "--why-not", absent, "--json").document["why_not"]["legs"]
    assert {leg["leg"]: leg["best_id"] for leg in legs}["lexical"] == found
    assert f"why not {absent}: " in recall.ok("ask", "blog posts", "--why-not", absent, "--limit", "1").out
    recall.ok("rm", absent)
    assert "cannot be a result" in recall.ok("ask", "blog posts", "--why-not", absent).out


def test_filters_of_ask_and_list(recall: CommandLine) -> None:
    recall.save("Tea is served at four", "--kind", "convention", "--tag", "kitchen", "--created", "2020-05-01")
    recall.save("Tea is green", "--kind", "preference", "--session", "s1", "--position", "0")
    for verb in (["ask", "tea"], ["list"]):
        for flags in (["--tag", "kitchen"], ["--kind", "convention"], ["--before", "2021-01-01T00:00:00+02:00"]):
            found = recall.ok(*verb, *flags).out
            assert ("at four" in found, "green" in found) == (True, False), (verb, flags)
    assert "green" in recall.ok("list", "--session", "s1").out
    assert "green" in recall.ok("list", "--after", "1h").out
    assert "no memories" in recall.ok("list", "--status", "retired").out


def test_lists_go_on_with_the_token_they_print(recall: CommandLine) -> None:
    for number in range(5):
        recall.save(f"Note number {number}")
    first = recall.ok("list", "--limit", "3")
    assert "3 of 5; go on with --page " in first.out
    rest = recall.ok("list", "--page", first.out.split("--page ")[1].split()[0])
    assert [f"number {n}" in rest.out for n in range(5)] == [True, True, False, False, False]


@pytest.mark.parametrize("verb", [["ask", "alert bell"], ["list"], ["show"], ["history"]])
def test_text_cannot_drive_the_terminal(recall: CommandLine, verb: list[str]) -> None:
    id_ = recall.save(HOSTILE, "--author", "a\x1b]0;title\x07", "--meta", "k=\x9b2J")
    shown = recall.ok(*verb, *([id_] if verb[0] in ("show", "history") else [])).out
    assert not set(shown) & set("\x1b\x07\u202e\u2028\x9b"), ascii(shown)
    flat = " ".join(shown.split())
    assert r"\x1b[31malert" in flat
    assert r"\u202egnirts" in flat
    assert "[bold]markup[/bold] :smile:" in flat


def test_tables_fit_into_80_columns(recall: CommandLine) -> None:
    texts = ["word " * 300, "x" * 2_000, "世界大战" * 200, "🎉" * 300, HOSTILE]
    ids = [recall.save(text, "--author", "author " * 15, "--tag", "t" * 64, "--uri", "u" * 2_000) for text in texts]
    commands = [["list"], ["ask", "word", "--explain", "--superseded"], ["status"], ["doctor"], ["bank", "list"]]
    commands += [["bank", "show", recall.bank], ["settings"], ["tags"]]
    commands += [[verb, id_] for id_ in ids for verb in ("show", "history")]
    for command in commands:
        wide = [line for line in recall.ok(*command).out.splitlines() if cell_len(line) > COLUMNS]
        assert [line for line in wide if "--page" not in line] == [], command


def test_ids_are_never_cut(recall: CommandLine) -> None:
    id_ = recall.save("Ids from recall work everywhere")
    for command in (["ask", "ids"], ["list"], ["show", id_], ["ask", "ids", "--explain"]):
        assert id_ in recall.ok(*command).out, command


def test_json_is_the_contracts_with_its_field_names(recall: CommandLine, tmp_path: Path) -> None:
    one, two = recall.save("Blog posts go out on Tuesday"), recall.save("The office is in Bern")
    (tmp_path / "notes.jsonl").write_text('{"text": "From a file"}\n')
    documents: dict[tuple[str, ...], Any] = {
        ("save", "x"): memories.SaveResponse,
        ("ask", "blog", "--explain"): recalls.RecallResponse,
        ("list",): memories.ListResponse,
        ("show", one): memory.Memory,
        ("history", one): memories.GetHistoryResponse,
        ("edit", one, "--author", "Dana"): memories.UpdateResponse,
        ("pin", one): memories.PinResponse,
        ("pin", one, "--off"): memories.PinResponse,
        ("supersede", one, two): memories.SupersedeResponse,
        ("rm", two): memories.DeleteResponse,
        ("tags",): memories.ListTagsResponse,
        ("import", str(tmp_path / "notes.jsonl")): memories.ImportResponse,
        ("status",): admin.StatusResponse,
        ("doctor",): admin.DoctorResponse,
        ("bank", "list"): banks.BankServiceListResponse,
        ("bank", "show", recall.bank): banks.Bank,
        ("bank", "update", recall.bank, "--description", "d"): banks.Bank,
        ("bank", "reload", recall.bank): banks.ReloadResponse,
        ("bank", "vacuum", recall.bank): banks.VacuumResponse,
        ("bank", "trash"): banks.BankServiceListResponse,
        ("bank", "delete", recall.bank): banks.TrashedBank,
    }
    for command, message in documents.items():
        document = recall.ok(*command, "--json").document
        assert set(document) <= set(message.DESCRIPTOR.fields_by_name), command
        ParseDict(document, message())
