"""`recall context preview`: what a turn would be given."""

from __future__ import annotations

from command_line import CommandLine


def test_a_preview_shows_rules_what_is_recalled_banks_and_omissions(recall: CommandLine) -> None:
    recall.ok("rule", "set", "tone", "Be brief.")
    recall.ok("save", "Blog posts go out on Tuesday mornings")
    asked = ("context", "preview", "--bank", recall.bank, "--bank", "not-there", "--query", "blog posts")
    shown = recall.ok(*asked).out
    wanted = ("Be brief.", "<recalled-notes>", "Tuesday mornings", f"bank {recall.bank} (named): 1 rules")
    assert [part for part in wanted if part not in shown] == []
    assert "omitted not-there: not_found" in shown
    document = recall.ok(*asked, "--json").document
    assert document["whole_prefix"] == document["given"]["prefix"]


def test_a_preview_of_a_reference_that_is_too_long_is_wrong_input(recall: CommandLine) -> None:
    done = recall("context", "preview", "--agent", "a" * 300)
    assert (done.code, "turn.agent: must have at most 256 characters" in done.err) == (2, True)
