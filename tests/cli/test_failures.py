"""How commands fail: one line on stderr that says what to do, and the documented exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from service_process import ServiceProcess, environment

from recall.commands.failure import ExitCode

ABSENT = "0190b6a0-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["asc", "x"], ExitCode.WRONG_INPUT, "Did you mean 'ask'"),
        (["ask"], ExitCode.WRONG_INPUT, "recall ask --help"),
        (["ask", "x", "--limit", "many"], ExitCode.WRONG_INPUT, "--limit"),
        (["ask", "x", "--mode", "magic"], ExitCode.WRONG_INPUT, "auto, lexical, hybrid, semantic"),
        (["ask", "x", "--weight", "luck=1"], ExitCode.WRONG_INPUT, "luck"),
        (["ask", "x", "--weight", "lexical=much"], ExitCode.WRONG_INPUT, "no number"),
        (["ask", "x", "--after", "someday"], ExitCode.WRONG_INPUT, "2026-03-01"),
        (["ask", "x", "--after", "9999999999d"], ExitCode.WRONG_INPUT, "calendar"),
        (["ask", ""], ExitCode.WRONG_INPUT, "query"),
        (["ask", "?!"], ExitCode.WRONG_INPUT, "query"),
        (["save", ""], ExitCode.WRONG_INPUT, "text"),
        (["save", "x" * 8_001], ExitCode.WRONG_INPUT, "8,000"),
        (["save", "x", "--kind", "fakt"], ExitCode.WRONG_INPUT, "did you mean fact"),
        (["save", "x", "--meta", "novalue"], ExitCode.WRONG_INPUT, "KEY=VALUE"),
        (["edit", ABSENT], ExitCode.WRONG_INPUT, "nothing to change"),
        (["list", "--status", "lost"], ExitCode.WRONG_INPUT, "status"),
        (["show", ABSENT], ExitCode.NOT_FOUND, ABSENT),
        (["show", "not-an-id"], ExitCode.NOT_FOUND, "not-an-id"),
        (["ask", "x", "--bank", "no-such-bank"], ExitCode.NOT_FOUND, "no-such-bank"),
        (["ask", "x", "--bank", "../etc"], ExitCode.WRONG_INPUT, "bank"),
        (["bank", "show", "no-such-bank"], ExitCode.NOT_FOUND, "no-such-bank"),
        (["bank", "restore", "no-such-trash"], ExitCode.NOT_FOUND, "no-such-trash"),
        (["bank", "update", "x"], ExitCode.WRONG_INPUT, "nothing to change"),
        (["import", "/no/such/file"], ExitCode.WRONG_INPUT, "/no/such/file"),
        (["export", "/no/such/folder/file"], ExitCode.WRONG_INPUT, "/no/such/folder/file"),
        (["ask", "x", "--server", "127.0.0.1:1"], ExitCode.NOT_REACHED, "recall serve"),
        (["ask", "x", "--server", "nowhere"], ExitCode.WRONG_INPUT, "HOST:PORT"),
        (["ask", "x", "--timeout", "0"], ExitCode.WRONG_INPUT, "--timeout"),
        (["settings", "--set", "embeding.model=x"], ExitCode.WRONG_INPUT, "embedding.model"),
        (["settings", "--config", "/no/such.toml"], ExitCode.WRONG_INPUT, "/no/such.toml"),
    ],
)
def test_a_failure_is_one_line_with_what_to_do_and_a_code(
    recall: CommandLine, arguments: list[str], code: ExitCode, said: str
) -> None:
    done = recall(*arguments)
    assert (done.code, done.out) == (code, ""), done.err
    assert done.err.startswith("recall: ")
    assert done.err.count("\n") == 1
    assert said in done.err


def test_what_exists_or_changed_meanwhile_is_refused(recall: CommandLine) -> None:
    assert recall("bank", "create", recall.bank).code == ExitCode.REFUSED
    id_ = recall.save("Standup is at nine")
    assert recall("edit", id_, "--text", "other", "--revision", "99").code == ExitCode.REFUSED
    assert recall("supersede", id_, id_).code in (ExitCode.REFUSED, ExitCode.WRONG_INPUT)


def test_an_unknown_variable_is_refused_when_serving(tmp_path: Path) -> None:
    done = _serve(tmp_path, RECALL_LISTNE="x")
    assert (done.returncode, done.stdout) == (ExitCode.WRONG_INPUT, "")
    assert "did you mean RECALL_LISTEN?" in done.stderr


def test_a_second_server_on_a_port_or_a_folder_is_refused_in_one_line(service: ServiceProcess, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "holiday.jpg").write_bytes(b"x")
    blocked = tmp_path / "file"
    blocked.write_text("x")
    for flags in (
        ["--listen", service.address, "--data", str(tmp_path / "own")],
        ["--listen", "127.0.0.1:0", "--data", str(service.data)],
        ["--listen", "127.0.0.1:0", "--data", str(foreign)],
        ["--listen", "127.0.0.1:0", "--data", str(blocked)],
        ["--listen", "192.0.2.1:0", "--data", str(tmp_path / "own")],
    ):
        done = _serve(tmp_path, *flags)
        assert done.returncode == ExitCode.FAILED, flags
        assert done.stdout == "", flags
        assert "Traceback" not in done.stderr, flags
        assert done.stderr.splitlines()[-1].startswith("recall: "), flags


def test_output_that_nobody_reads_is_no_failure(service: ServiceProcess, bank: str) -> None:
    command = f"{sys.executable} -m recall bank list --json --server {service.address} | true"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, env=environment(), check=False
    )
    assert (done.returncode, done.stderr) == (0, b""), bank


def _serve(folder: Path, *flags: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "recall", "serve", "--set", "embedding.model=none", *flags]
    return subprocess.run(
        command, cwd=folder, env=environment() | environ, capture_output=True, text=True, timeout=60, check=False
    )
