"""Tokens are kept hashed, end when they should, and once there was one nobody goes without."""

from __future__ import annotations

from pathlib import Path

import pytest
from faulty_files import MemoryFiles

from recall.memory.errors import DataFolderUnusable, InvalidField
from recall.memory.files import DiskFiles
from recall.memory.lifecycle import Role
from recall.server.guard import Failures
from recall.tokens import FILE, TokenFile, Tokens, TokensBusy, TokensUnreadable, id_of

NOW = 1_000_000


def made(data: Path, **fields: object) -> tuple[str, str]:
    token, grant = TokenFile(data, DiskFiles()).create(Role.AGENT, "default", (), "bot", NOW, **fields)  # type: ignore[arg-type]
    return token, grant.id


def test_a_token_is_known_by_its_hash_alone(tmp_path: Path) -> None:
    token, token_id = made(tmp_path)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert token.rsplit("_", 1)[1].encode() not in kept
    found = Tokens(tmp_path).find(token)
    assert found is not None
    assert (found.id, found.name, found.role, id_of(token)) == (token_id, "bot", Role.AGENT, token_id)


@pytest.mark.parametrize("spoil", [lambda t: t[:-1] + ("A" if t[-1] != "A" else "B"), lambda _: "", lambda t: t + "x"])
def test_what_is_no_token_finds_nothing(tmp_path: Path, spoil: object) -> None:
    token, _ = made(tmp_path)
    assert Tokens(tmp_path).find(spoil(token)) is None  # type: ignore[operator]


def test_a_token_ends_when_it_expires_or_is_revoked(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    token, token_id = made(tmp_path, expires_at=NOW + 5)
    grant = tokens.find(token)
    assert grant is not None
    assert (grant.problem(NOW + 4), grant.problem(NOW + 5)) == ("", "has expired")
    assert TokenFile(tmp_path, DiskFiles()).revoke(token_id, NOW + 1) is not None
    revoked = tokens.find(token)
    assert revoked is not None
    assert revoked.problem(NOW + 2) == "was revoked"


def test_once_there_was_a_token_nobody_goes_without(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    assert not tokens.needed
    _, token_id = made(tmp_path)
    assert tokens.needed
    TokenFile(tmp_path, DiskFiles()).revoke(token_id, NOW)
    assert tokens.needed
    (tmp_path / ".access" / FILE).unlink()
    assert tokens.needed
    with pytest.raises(TokensUnreadable):
        tokens.find("recall_1_2")


def test_a_file_that_cannot_be_read_lets_nobody_in(tmp_path: Path) -> None:
    token, _ = made(tmp_path)
    (tmp_path / ".access" / FILE).write_bytes(b"[{]")
    tokens = Tokens(tmp_path)
    assert tokens.needed
    with pytest.raises(TokensUnreadable):
        tokens.find(token)


def test_two_commands_do_not_lose_each_others_tokens() -> None:
    files, data = MemoryFiles(), Path("/data")
    TokenFile(data, files).create(Role.READER, "default", (), "a", NOW)
    held = files.lock(data / ".access" / "LOCK")
    with pytest.raises(TokensBusy):
        TokenFile(data, files).create(Role.READER, "default", (), "b", NOW)
    assert held is not None
    held.release()
    TokenFile(data, files).create(Role.READER, "default", (), "b", NOW)
    assert [grant.name for grant in TokenFile(data, files.after_crash()).grants()] == ["a", "b"]


def test_tokens_may_be_made_before_the_first_start(tmp_path: Path) -> None:
    from recall.memory.data_folder import DataFolder

    made(tmp_path)
    DataFolder(tmp_path, DiskFiles()).release()
    (tmp_path / "FORMAT").unlink()
    (tmp_path / "something").mkdir()
    with pytest.raises(DataFolderUnusable):
        DataFolder(tmp_path, DiskFiles())


@pytest.mark.parametrize(("tenant", "banks"), [("../x", ()), ("default", ("A",))])
def test_names_that_are_no_names_are_refused(tmp_path: Path, tenant: str, banks: tuple[str, ...]) -> None:
    with pytest.raises(InvalidField):
        TokenFile(tmp_path, DiskFiles()).create(Role.AGENT, tenant, banks, "", NOW)


def test_failures_count_by_token_and_only_for_a_while() -> None:
    now = [0.0]
    failures = Failures(2, 10.0, lambda: now[0])
    for _ in range(2):
        assert not failures.too_many(("host", "a"))
        failures.note(("host", "a"))
    assert failures.too_many(("host", "a"))
    assert not failures.too_many(("host", "b"))
    assert not failures.too_many(("other", "a"))
    now[0] = 10.0
    assert not failures.too_many(("host", "a"))
