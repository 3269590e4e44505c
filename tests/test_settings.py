"""Settings: precedence, unknown keys, types and ranges, origins, secrets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from recall.settings import Settings, load_settings
from recall.settings_sources import Loaded, SettingsError, known_settings, load


def loaded(
    folder: Path,
    flags: dict[str, str] | None = None,
    environ: dict[str, str] | None = None,
    config: Path | None = None,
) -> Loaded:
    return load(Settings, flags or {}, config, environ or {}, folder)


def value_and_origin(found: Loaded, path: str) -> tuple[object, str]:
    (setting,) = [each for each in found.in_force if each.known.path == path]
    return setting.value, setting.origin


def test_defaults_hold_when_nobody_says_otherwise(tmp_path: Path) -> None:
    settings = load_settings(environ={}, folder=tmp_path)
    assert settings == Settings()
    assert (settings.data, settings.listen) == (Path("data"), "127.0.0.1:50051")
    assert {each.origin for each in loaded(tmp_path).in_force} == {"default"}


def test_flags_beat_environment_beats_file_beats_default(tmp_path: Path) -> None:
    (tmp_path / "recall.toml").write_text(
        'listen = "h:1"\n[embedding]\nmodel = "none"\nthreads = 2\n[server]\nworkers=3\n'
    )
    environ = {"RECALL_LISTEN": "h:2", "RECALL_EMBEDDING__MODEL": "hashing:8"}
    found = loaded(tmp_path, {"listen": "h:3"}, environ)
    file = f"file {tmp_path / 'recall.toml'}"
    assert value_and_origin(found, "listen") == ("h:3", "flag")
    assert value_and_origin(found, "embedding.model") == ("hashing:8", "environment RECALL_EMBEDDING__MODEL")
    assert value_and_origin(found, "embedding.threads") == (2, file)
    assert value_and_origin(found, "server.workers") == (3, file)
    assert value_and_origin(found, "server.grace_s")[1] == "default"


def test_the_file_asked_for_by_flag_beats_the_variable_beats_the_one_in_the_folder(tmp_path: Path) -> None:
    for name in ("recall.toml", "variable.toml", "flag.toml"):
        (tmp_path / name).write_text(f'listen = "{name}:1"\n')
    environ = {"RECALL_CONFIG": str(tmp_path / "variable.toml")}
    assert loaded(tmp_path).settings.listen == "recall.toml:1"
    assert loaded(tmp_path, environ=environ).settings.listen == "variable.toml:1"
    assert loaded(tmp_path, environ=environ, config=tmp_path / "flag.toml").settings.listen == "flag.toml:1"


@pytest.mark.parametrize(
    ("flags", "environ", "file", "said"),
    [
        ({"embeding.model": "x"}, {}, "", ["embeding.model", "flag", "did you mean embedding.model?"]),
        ({}, {"RECALL_LISTNE": "x"}, "", ["RECALL_LISTNE", "environment", "did you mean RECALL_LISTEN?"]),
        ({}, {"RECALL_SERVR": "x"}, "", ["did you mean RECALL_SERVER?"]),
        ({}, {"RECALL_EMBEDDING__MODLE": "x"}, "", ["did you mean RECALL_EMBEDDING__MODEL?"]),
        ({}, {}, "lisen = 'h:1'", ["'lisen'", "recall.toml", "did you mean listen?"]),
        ({}, {}, "[embedding]\nmodl = 'none'", ["'embedding.modl'", "did you mean embedding.model?"]),
        ({}, {}, "[rankng]\nlexical = 1", ["'rankng.lexical'", "did you mean ranking.lexical?"]),
        ({}, {}, "[embeding]", ["'embeding'", "recall.toml"]),
        ({}, {}, "[data]\nx = 1", ["data", "recall.toml"]),
        ({}, {}, "embedding = 1", ["embedding", "recall.toml"]),
        ({}, {}, "[embedding.model]\nname = 'x'", ["embedding.model", "recall.toml", "valid string"]),
        ({}, {"RECALL_SERVER__WORKERS": "many"}, "", ["server.workers", "RECALL_SERVER__WORKERS", "integer", "'many'"]),
        ({}, {}, "[server]\nworkers = 0", ["server", "recall.toml", "at least 1"]),
        ({"server.grace_s": "nan"}, {}, "", ["server.grace_s", "flag"]),
        ({}, {"RECALL_RANKING__LEXICAL": "-1"}, "", ["ranking.lexical", "RECALL_RANKING__LEXICAL", "from 0 on"]),
        ({"listen": "nowhere"}, {}, "", ["listen", "HOST:PORT"]),
        ({"listen": "host:65536"}, {}, "", ["listen", "65535"]),
        ({}, {"RECALL_SERVER__LOG_LEVEL": "loud"}, "", ["server.log_level", "'debug'", "'loud'"]),
        ({}, {}, "listen = ", ["recall.toml", "not TOML"]),
        ({}, {}, "listen = '\\x00'", ["recall.toml"]),
        ({}, {"RECALL_CONFIG": "gone.toml"}, "", ["gone.toml", "RECALL_CONFIG"]),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line_that_names_the_place(
    tmp_path: Path, flags: dict[str, str], environ: dict[str, str], file: str, said: list[str]
) -> None:
    if file:
        (tmp_path / "recall.toml").write_text(file)
    with pytest.raises(SettingsError) as refused:
        loaded(tmp_path, flags, environ)
    message = str(refused.value)
    assert "\n" not in message
    assert [part for part in said if part not in message] == [], message


def test_a_file_of_bytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "recall.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"recall\.toml is not TOML"):
        loaded(tmp_path)


def test_an_empty_section_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "recall.toml").write_text("[embedding]\n")
    assert loaded(tmp_path).settings == Settings()


def test_the_variables_of_clients_are_no_settings(tmp_path: Path) -> None:
    environ = {"RECALL_SERVER": "elsewhere:1", "RECALL_BANK": "b", "PATH": "/bin", "RECALLED": "x"}
    assert load_settings(environ=environ, folder=tmp_path) == Settings()


@dataclass(frozen=True, slots=True)
class Shares:
    shares: tuple[float, ...] = (0.3, 0.1)
    """Shares."""


class WithShares(Settings):
    sample: Shares = Field(default_factory=Shares)


@pytest.mark.parametrize("text", ["0.2,0.1", "0.2, 0.1"])
def test_lists_are_written_with_commas_outside_of_toml(tmp_path: Path, text: str) -> None:
    by_flag = load(WithShares, {"sample.shares": text}, None, {}, tmp_path).settings
    by_variable = load(WithShares, {}, None, {"RECALL_SAMPLE__SHARES": text}, tmp_path).settings
    (tmp_path / "recall.toml").write_text("[sample]\nshares = [0.2, 0.1]\n")
    by_file = load(WithShares, {}, None, {}, tmp_path).settings
    assert by_flag == by_variable == by_file == WithShares(sample=Shares((0.2, 0.1)))


def test_every_setting_of_a_section_can_be_set_by_file_variable_and_flag(tmp_path: Path) -> None:
    for setting in known_settings():
        value: Any = setting.default
        text = ",".join(map(str, value)) if isinstance(value, tuple | frozenset) else str(value)
        assert loaded(tmp_path, {setting.path: text}).settings == Settings(), setting.path
        assert loaded(tmp_path, environ={setting.variable: text}).settings == Settings(), setting.path


def test_every_setting_is_documented_and_typed() -> None:
    undocumented = [setting.path for setting in known_settings() if len(setting.doc) < 10 or "\n" in setting.doc]
    assert undocumented == []


def test_secrets_are_masked_and_stay_out_of_errors(tmp_path: Path) -> None:
    found = loaded(tmp_path, environ={"RECALL_EMBEDDING__API_KEY": "s3cret"})
    assert found.settings.embedding.api_key == "s3cret"
    (setting,) = [each for each in found.in_force if each.known.path == "embedding.api_key"]
    assert setting.shown == "********"
    assert "s3cret" not in repr(found.settings)
    (tmp_path / "recall.toml").write_text("[embedding]\napi_key = [1, 's3cret']\n")
    with pytest.raises(SettingsError) as refused:
        loaded(tmp_path)
    assert "s3cret" not in str(refused.value)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().listen = "h:1"
