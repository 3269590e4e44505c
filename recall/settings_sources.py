"""Reads settings from flags, environment and TOML file, and says where each value comes from.

Each source gives a tree `{"listen": …, "embedding": {"model": …}}`. It is flattened to paths (`embedding.model`), every
path is checked against what `Settings` knows, and the strongest source of a path wins. pydantic then checks types.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource, TomlConfigSettingsSource

from recall.connection import VARIABLES
from recall.setting_docs import doc_lines
from recall.settings import Settings

PREFIX = "RECALL_"
CONFIG_VARIABLE = "RECALL_CONFIG"
CONFIG_FILE = "recall.toml"
NOT_SETTINGS = frozenset({CONFIG_VARIABLE, "RECALL_SERVER", "RECALL_BANK", *VARIABLES})
"""Variables that are read elsewhere: the settings file itself; server, bank, token and TLS of clients and hook."""
SECRET_ENDINGS = ("_key", "_token", "secret", "password")
MASK = "********"


class SettingsError(Exception):
    """Settings that cannot be used; the message is one line that names the place and what to do."""


@dataclass(frozen=True, slots=True)
class Known:
    """A setting that exists."""

    path: str
    type: Any
    default: object
    section: type[Any]
    """The class that declares it."""

    @property
    def doc(self) -> str:
        """The line that explains it, empty when nobody wrote one; read from the source when it is asked for."""
        return doc_lines(self.section).get(self.path.rpartition(".")[2], "")

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return PREFIX + self.path.upper().replace(".", "__")

    @property
    def secret(self) -> bool:
        """Whether its value must not be shown."""
        return self.path.endswith(SECRET_ENDINGS)


@dataclass(frozen=True, slots=True)
class InForce:
    """A setting, its value, and the place that said so."""

    known: Known
    value: object
    origin: str

    @property
    def shown(self) -> object:
        """The value, masked when it is a secret that is set."""
        return MASK if self.known.secret and self.value else self.value


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and each of them with its origin."""

    settings: Settings
    in_force: tuple[InForce, ...]


@dataclass(frozen=True, slots=True)
class _Given:
    """A value as a source gave it, and how an error names that place."""

    value: object
    origin: str
    place: str


@cache
def known_settings(model: type[Settings] = Settings) -> tuple[Known, ...]:
    """Every setting, in the order in which the model declares them."""
    return tuple(_known(model))


def load(
    model: type[Settings], flags: Mapping[str, str], config: Path | None, environ: Mapping[str, str], folder: Path
) -> Loaded:
    """Reads all sources. Raises SettingsError."""
    known = {setting.path: setting for setting in known_settings(model)}
    file = _settings_file(config, environ, folder)
    sources = [_from_flags(flags, known), _from_environment(model, environ, known)]
    if file is not None:
        sources.append(_from_file(model, file, known))
    given: dict[str, _Given] = {}
    for source in sources:
        given = {**source, **given}
    settings = _checked(model, given, known)
    in_force = tuple(_in_force(settings, setting, given.get(setting.path)) for setting in known.values())
    _refuse_impossible_numbers(in_force, given)
    return Loaded(settings, in_force)


def _known(model: type[Settings]) -> Iterator[Known]:
    defaults = model()
    for name, field in model.model_fields.items():
        section = field.annotation
        if is_dataclass(section) and isinstance(section, type):
            types = get_type_hints(section)
            for each in fields(section):
                default = getattr(getattr(defaults, name), each.name)
                yield Known(f"{name}.{each.name}", types[each.name], default, section)
        else:
            yield Known(name, section, getattr(defaults, name), model)


# ---- sources


def _settings_file(config: Path | None, environ: Mapping[str, str], folder: Path) -> Path | None:
    asked = config or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    if asked is None:
        found = folder / CONFIG_FILE
        return found if found.is_file() else None
    path = folder / asked.expanduser()
    if not path.is_file():
        by = "--config" if config else CONFIG_VARIABLE
        raise SettingsError(f"no settings file {path} (asked for by {by}): name one that is there")
    return path


def _from_flags(flags: Mapping[str, str], known: Mapping[str, Known]) -> dict[str, _Given]:
    for path in flags:
        if path not in known:
            raise SettingsError(f"unknown setting {path!r} in a flag{_nearest(path, known)}")
    return {path: _Given(_parsed(known[path].type, text), "flag", "a flag") for path, text in flags.items()}


def _from_environment(
    model: type[Settings], environ: Mapping[str, str], known: Mapping[str, Known]
) -> dict[str, _Given]:
    ours = {name: text for name, text in environ.items() if name.startswith(PREFIX) and name not in NOT_SETTINGS}
    variables = {setting.variable: setting for setting in known.values()}
    for name in ours:
        if name not in variables:
            raise SettingsError(
                f"unknown setting {name} in the environment{_nearest(name, {*variables, *NOT_SETTINGS})}"
            )
    given = {}
    for path, text in _flat(_Environment(model, ours)()):
        name = known[path].variable
        given[path] = _Given(_parsed(known[path].type, text), f"environment {name}", f"environment variable {name}")
    return given


class _Environment(EnvSettingsSource):
    """The environment as an argument."""

    def __init__(self, model: type[Settings], environ: Mapping[str, str]) -> None:
        self._environ = environ
        super().__init__(model)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._environ.items()}


def _from_file(model: type[Settings], file: Path, known: Mapping[str, Known]) -> dict[str, _Given]:
    try:
        tree = TomlConfigSettingsSource(model, toml_file=file)()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} is not TOML: {error}") from error
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from error
    given = {}
    sections = {path.partition(".")[0] for path in known if "." in path}
    for path, value in _flat(tree, known):
        if path in sections and value == {}:
            continue
        if path not in known:
            raise SettingsError(f"unknown setting {path!r} in {file}{_nearest(path, known)}")
        given[path] = _Given(value, f"file {file}", str(file))
    return given


def _flat(
    tree: Mapping[str, Any], known: Mapping[str, Known] | None = None, prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        path = prefix + str(key)
        if isinstance(value, Mapping) and value and not (known and path in known):
            yield from _flat(value, known, path + ".")
        else:
            yield path, value


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return f": did you mean {close[0]}?" if close else ""


def _parsed(kind: Any, text: object) -> object:
    """Text of a flag or variable as pydantic takes it: lists are separated by commas."""
    if isinstance(text, str) and get_origin(kind) in (tuple, list, frozenset, set):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


# ---- checks


def _checked(model: type[Settings], given: Mapping[str, _Given], known: Mapping[str, Known]) -> Settings:
    tree: dict[str, Any] = {}
    for path, each in given.items():
        section, _, key = path.rpartition(".")
        (tree.setdefault(section, {}) if section else tree)[key] = each.value
    try:
        return model(**tree)
    except ValidationError as error:
        raise SettingsError("; ".join(_problem(each, given, known) for each in error.errors())) from error


def _problem(error: Any, given: Mapping[str, _Given], known: Mapping[str, Known]) -> str:
    location: Sequence[Any] = error["loc"]
    path = ".".join(str(part) for part in location[:2])
    path = path if path in known else str(location[0])
    message = str(error["msg"]).removeprefix("Value error, ")
    if path in known:
        places = [given[path].place] if path in given else []
        shown = "" if known[path].secret or error["type"] == "value_error" else f", not {error['input']!r}"
    else:
        places = sorted({each.place for name, each in given.items() if name.startswith(path + ".")})
        shown = ""
    where = f" ({', '.join(places)})" if places else ""
    return f"setting {path}{where}: {message[:1].lower()}{message[1:]}{shown}"


def _refuse_impossible_numbers(in_force: Sequence[InForce], given: Mapping[str, _Given]) -> None:
    """Every number is a size, a duration or a weight: none is negative or infinite."""
    for each in in_force:
        if isinstance(each.value, float | int) and not 0 <= each.value < math.inf:
            path = each.known.path
            place = given[path].place if path in given else "the default"
            raise SettingsError(f"setting {path} ({place}): must be a number from 0 on, not {each.value!r}")


def _in_force(settings: Settings, setting: Known, given: _Given | None) -> InForce:
    value: Any = settings
    for part in setting.path.split("."):
        value = getattr(value, part)
    return InForce(setting, value, given.origin if given else "default")
