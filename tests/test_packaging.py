"""The wheel: what is in it, that it works from any folder, and what importing it costs."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("recall", "index", "consolidate")
HELP_S = 0.3
HEAVY = (
    "torch",
    "transformers",
    "sentence_transformers",
    "numpy",
    "faiss",
    "tantivy",
    "onnxruntime",
    "pydantic_settings",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by hatchling without a network and without build isolation."""
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own that holds the wheel and sees this one's dependencies; gives its bin folder."""
    home = tmp_path_factory.mktemp("env")
    venv.create(home, with_pip=False)
    bin_ = home / "bin"
    (site,) = home.glob("lib/python*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(here) + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(bin_ / "python"), "install", "--no-deps", "--no-index", "-q"]
    subprocess.run([*pip, "--ignore-installed", str(wheel)], check=True, capture_output=True, timeout=100)
    return bin_


def run(*command: object, cwd: Path, **environ: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RECALL_"))}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, env={**clean, **environ}, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} - set(PACKAGES) == {"recall_service-0.1.0.dist-info"}
    sources = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in (".py", ".pyi", ".typed")
    }
    assert sources <= set(names)
    assert not [name for name in names if name.endswith((".pyc", ".proto")) or "test" in Path(name).parts]


def test_the_wheel_holds_the_generated_contract_and_the_type_markers(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    protos = [path.stem for path in (ROOT / "proto/recall/v1").glob("*.proto")]
    assert protos
    assert {f"recall/v1/{stem}_pb2{suffix}" for stem in protos for suffix in (".py", ".pyi")} <= names
    assert {f"{package}/py.typed" for package in PACKAGES} <= names


def test_the_wheel_names_licence_entry_point_and_pinned_dependencies(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read("recall_service-0.1.0.dist-info/METADATA").decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert "recall_service-0.1.0.dist-info/licenses/LICENSE" in archive.namelist()
    assert "recall = recall.cli:main" in archive.read("recall_service-0.1.0.dist-info/entry_points.txt").decode()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [each for each in project["dependencies"] if "==" not in each] == []


def test_the_wheel_is_imported_from_another_folder(installed: Path, tmp_path: Path) -> None:
    code = (
        "import recall.client, recall.settings, index.embedder, consolidate, recall.v1.memory_pb2 as m\n"
        "print(m.Memory(text='x').text, recall.__file__)"
    )
    text, file = run(installed / "python", "-c", code, cwd=tmp_path).split()
    assert text == "x"
    assert Path(file).is_relative_to(installed.parent)


def test_the_entry_point_works_from_another_folder(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "recall", "version", cwd=tmp_path) == "recall 0.1.0\n"
    assert "embedding.model" in run(installed / "recall", "settings", "--json", cwd=tmp_path)


def test_help_is_there_at_once(tmp_path: Path) -> None:
    """In processor time: the command waits for nothing, and a busy machine must not fail it."""
    entry = Path(sys.executable).with_name("recall")
    worked = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(entry, "--help", cwd=tmp_path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        worked.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(worked) < HELP_S, worked


@pytest.mark.parametrize(
    "arguments", [["--help"], ["ask", "--server", "127.0.0.1:1", "x"], ["bank", "list", "--server", "127.0.0.1:1"]]
)
def test_client_commands_import_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    code = (
        "import sys; from recall.commands.run import run\n"
        f"run({arguments!r}); print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stdout)"
    )
    assert run(sys.executable, "-c", code, cwd=tmp_path).splitlines()[-1] == "[]"


def test_no_folder_shadows_a_package() -> None:
    shadows = [path for folder in ("proto", "tests") for path in (ROOT / folder).rglob("__init__.py")]
    assert shadows == []
