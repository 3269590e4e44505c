"""The README tells the truth: settings, rpcs, verbs and exit codes stand in it, and its examples run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import settings_table
from service_process import ServiceProcess, environment

from recall.commands.failure import ExitCode
from recall.commands.verbs import GROUPS, VERBS
from recall.v1 import (
    admin_service_pb2,
    bank_service_pb2,
    consolidate_service_pb2,
    context_service_pb2,
    memory_service_pb2,
    recall_service_pb2,
    review_service_pb2,
    rule_service_pb2,
)

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRACT: tuple[Any, ...] = (
    admin_service_pb2,
    bank_service_pb2,
    consolidate_service_pb2,
    memory_service_pb2,
    recall_service_pb2,
    review_service_pb2,
    rule_service_pb2,
    context_service_pb2,
)
FIRST_SCREEN_LINES = 24


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def section(title: str) -> str:
    _, _, rest = README.partition(f"\n## {title}\n")
    return rest.partition("\n## ")[0]


def test_every_setting_stands_in_the_readme_with_its_default_and_meaning() -> None:
    assert settings_table.rewritten(README) == README, "run `make docs`"


def test_every_rpc_stands_in_the_readme() -> None:
    rows = dict(re.findall(r"^\| `(\w+Service)` \| (.*) \|$", section("The rpcs"), re.MULTILINE))
    written = {service: set(re.findall(r"`(\w+)`", rpcs)) for service, rpcs in rows.items()}
    services = [service for module in CONTRACT for service in module.DESCRIPTOR.services_by_name.values()]
    assert written == {service.name: {method.name for method in service.methods} for service in services}


def test_every_verb_stands_in_the_readme() -> None:
    groups = "|".join(group.name for group in GROUPS)
    written = set(re.findall(rf"^\| `recall ((?:(?:{groups}) )?[a-z]+)", section("The command line"), re.MULTILINE))
    below = {f"{group.name} {verb.name}" for group in GROUPS for verb in group.verbs}
    assert written == {verb.name for verb in VERBS} | below


def test_every_exit_code_stands_in_the_readme() -> None:
    written = re.findall(r"^\| (\d+) \|", section("The command line"), re.MULTILINE)
    assert [int(code) for code in written] == list(ExitCode)


def test_every_folder_of_the_architecture_is_there_and_named() -> None:
    written = set(re.findall(r"^\| `([\w/.]+)` \|", section("How it is made"), re.MULTILINE))
    assert [name for name in written if not (ROOT / name).exists()] == []
    folders = {f"{path.parent.name}/{path.name}/" for path in (ROOT / "recall").iterdir() if path.is_dir()}
    assert {name for name in folders if "__pycache__" not in name} <= written


def test_the_two_commands_are_on_the_first_screen() -> None:
    first = README.splitlines()[:FIRST_SCREEN_LINES]
    assert [command for command in ("make serve", "make test") if not any(map(re.compile(command).match, first))] == []


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", README.replace("make are", ""))) <= targets


def test_every_guarantee_names_tests_that_are_there() -> None:
    rows = re.findall(
        r"^\| (?!promised|---)(.*) \| (.*) \|$", section("Guarantees").partition("\n### ")[0], re.MULTILINE
    )
    named = [re.findall(r"`(tests/[\w/.]+)`", shown) for _, shown in rows]
    assert rows
    assert all(named)
    assert [path for paths in named for path in paths if not (ROOT / path).exists()] == []


def test_links_inside_the_project_lead_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_python_examples_run(number: int, service: ServiceProcess, tmp_path: Path) -> None:
    example = tmp_path / "example.py"
    example.write_text(blocks("python")[number], encoding="utf-8")
    done = _run([sys.executable, "-W", "error", str(example)], service, tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_first_five_minutes_run_and_end_with_an_explained_recall(service: ServiceProcess, tmp_path: Path) -> None:
    turns = [
        {"speaker": "Caroline", "dia_id": "D1:1", "text": "I went to the LGBTQ support group yesterday"},
        {"speaker": "Melanie", "dia_id": "D1:2", "text": "How was the group?", "blip_caption": "a dog"},
    ]
    talk = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}
    (tmp_path / "locomo10.json").write_text(json.dumps([{"conversation": talk}]))
    scripts = re.findall(r"^```sh\n(.*?)^```$", section("The first five minutes"), re.DOTALL | re.MULTILINE)
    script = "\n".join(["set -e", *scripts])
    done = _run(["bash", "-c", script], service, tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    answers = done.stdout
    assert "Dana is allergic to peanuts" in answers
    assert "imported into talk: 2 new" in answers
    last = answers[answers.rindex("imported into talk") :]
    assert "I went to the LGBTQ support group yesterday" in last
    assert re.search(r"lexical\s+\+[\d.]+ █", last)


def test_the_hook_in_the_readme_is_json_that_names_the_entry_point() -> None:
    (settings,) = blocks("json")
    commands = re.findall(r'"command": "([^"]+)"', json.dumps(json.loads(settings)))
    assert set(commands) == {"recall hook"}


def test_the_settings_file_in_the_readme_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "recall.toml").write_text("".join(blocks("toml")))
    done = subprocess.run(
        [sys.executable, "-m", "recall", "settings", "--changed", "--json"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert [each["setting"] for each in json.loads(done.stdout)] == ["embedding.model"]


def _run(command: list[str], service: ServiceProcess, folder: Path) -> subprocess.CompletedProcess[str]:
    bin_ = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_, os.environ["PATH"]])
    env = environment() | {"PATH": path, "RECALL_SERVER": service.address, "COLUMNS": "80"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=100, check=False)
