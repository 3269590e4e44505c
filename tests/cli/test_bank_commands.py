"""The verbs on banks, and the check-up."""

from __future__ import annotations

from command_line import CommandLine


def test_a_bank_is_made_changed_trashed_and_restored(recall: CommandLine) -> None:
    name = f"{recall.bank}-made"
    assert (
        recall.ok("bank", "create", name, "--description", "for tests", "--user", "Dana").out == f"made bank {name}\n"
    )
    recall.ok("save", "User is called Dana", "--bank", name)
    recall.ok("bank", "update", name, "--default-limit", "3", "--half-life-days", "7", "--policy", "governed")
    shown = recall.ok("bank", "show", name).out
    assert [part for part in ("for tests", "1 live", "7 days", "Dana", "governed") if part not in shown] == []
    assert name in recall.ok("bank", "list").out
    trashed = recall.ok("bank", "delete", name, "--json").document["trash_id"]
    assert recall("ask", "who am I", "--bank", name).code == 4
    assert trashed in recall.ok("bank", "trash").out
    assert recall.ok("bank", "restore", trashed).out == f"restored bank {name}: 1 live memories\n"
    assert "User is called Dana" in recall.ok("ask", "who am I", "--bank", name).out
    assert recall.ok("bank", "reload", name).out == f"reloaded bank {name}: 0 hand edits taken in\n"
    assert "are superseded" in recall.ok("bank", "vacuum", name, "--dry-run").out
    assert recall.ok("bank", "vacuum", name, "--history", "archive").out.startswith(
        f"vacuumed bank {name}: the log has"
    )
    assert " history" in recall.ok("bank", "show", name).out


def test_the_doctor_passes_and_the_status_names_the_model(recall: CommandLine) -> None:
    recall.save("something to embed")
    recall.ok("bank", "show", "--wait")
    assert "all is well" in recall.ok("doctor").out
    status = recall.ok("status").out
    assert "hashing:64: ready" in status
    assert "MemoryService/Save" in status


def test_settings_show_value_and_origin(recall: CommandLine) -> None:
    (setting,) = recall.ok("settings", "--set", "embedding.model=none", "--changed", "--json").document
    assert (setting["setting"], setting["value"], setting["origin"]) == ("embedding.model", "none", "flag")
    assert setting["doc"]
    shown = recall.ok("settings", "--set", "embedding.api_key=s3cret").out
    assert "********" in shown
    assert "s3cret" not in shown


def test_help_names_every_verb_and_each_has_help(recall: CommandLine) -> None:
    from recall.commands.verbs import BANK_VERBS, VERBS

    overview = recall.ok().out
    for verb in VERBS:
        assert f"\n  {verb.name} " in overview
        assert "Usage: recall" in recall.ok(verb.name, "--help").out
    banks = recall.ok("bank").out
    assert [verb.name for verb in BANK_VERBS if f"\n  {verb.name} " not in banks] == []
