"""What restatements do to recall, and what consolidation does about them.

Each conversation of LoCoMo is asked three times through the service: as it is, with 30 % of its turns said again in
other wording, and after the bank with the restatements was consolidated. Whoever finds a restatement has found the
turn. Questions of LoCoMo's adversarial category are left out, as in its headline.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import msgspec
import numpy as np
from google.protobuf.duration_pb2 import Duration
from rich.console import Console
from rich.table import Table

from benchmarks.quality import metrics
from benchmarks.quality.dataset import Document, DocumentId, Dropped, Haystack
from benchmarks.quality.judgement import Judgement, judge
from benchmarks.quality.loading import Loaded, LoadSettings, load, wait_for_coverage
from benchmarks.quality.sets import locomo
from benchmarks.service import LaunchSettings, Service, service
from recall.v1 import bank_service_pb2 as banks
from recall.v1 import consolidate_service_pb2 as tending
from recall.v1 import consolidate_service_pb2_grpc as tending_grpc
from recall.v1 import recall_service_pb2 as recalls

SHARE = 0.3
_SEED = 5
_LATER = timedelta(days=7)
_AGAIN = "~again"
_LIMIT = 100
_EMBEDDER_TIMEOUT_S = 900.0
_RUN_TIMEOUT_S = 1_800.0
_METRICS = ("fraction@5", "fraction@10", "nDCG@10", "MRR")
_ALL = 1_000_000

_REWORDINGS: tuple[Callable[[str], str], ...] = (
    lambda text: text.lower() + " !",
    lambda text: f"Note that {text}",
    lambda text: f"{text} ...",
    lambda text: text.replace("'m ", " am ").replace("can't ", "cannot ").replace("don't ", "do not ") + " !",
    lambda text: f"Just so you know, {text}",
    lambda text: text.replace(" the ", " ") + " !",
)


class State(msgspec.Struct, frozen=True):
    """A bank in one state: memories recall may give, over all conversations, and mean figures over the questions."""

    memories: int
    questions: int
    figures: dict[str, float]


class InjectedFigures(msgspec.Struct, frozen=True):
    """Before restatements came, with them, and after consolidation; how many came and how many were retired."""

    restatements: int
    retired: int
    clean: State
    injected: State
    consolidated: State


def measure(data: Path) -> InjectedFigures:
    """Runs a service of its own. Raises LayoutError, ServiceError, RpcError."""
    states: dict[str, list[Judgement]] = {"clean": [], "injected": [], "consolidated": []}
    sizes = dict.fromkeys(states, 0)
    restatements = 0
    haystacks = locomo.load(data, "turn").haystacks
    with service(None, LaunchSettings()) as running:
        running.wait_until_embedder_is_ready(_EMBEDDER_TIMEOUT_S)
        for number, haystack in enumerate(haystacks):
            asked = replace(haystack, questions=tuple(q for q in haystack.questions if q.category in locomo.HEADLINE))
            fuller = injected(asked, random.Random(_SEED + number))
            restatements += len(fuller.documents) - len(asked.documents)
            clean = _filled(running, f"clean-{number}", asked)
            loaded = _joined(_filled(running, f"injected-{number}", fuller))
            for name, bank in (("clean", clean), ("injected", loaded)):
                states[name] += _asked(running, bank, asked)
                sizes[name] += _size(running, bank.bank)
            _consolidate(running, loaded.bank)
            states["consolidated"] += _asked(running, loaded, asked)
            sizes["consolidated"] += _size(running, loaded.bank)
    found = {name: State(sizes[name], len(judged), _means(judged)) for name, judged in states.items()}
    return InjectedFigures(restatements, sizes["injected"] - sizes["consolidated"], **found)


def injected(haystack: Haystack, chance: random.Random) -> Haystack:
    """The conversation with a share of its turns said again, a week later and outside their session."""
    said = chance.sample(haystack.documents, round(SHARE * len(haystack.documents)))
    again = tuple(_again(document, chance.choice(_REWORDINGS)) for document in said)
    return replace(haystack, documents=haystack.documents + again)


def _again(document: Document, reworded: Callable[[str], str]) -> Document:
    at = None if document.at is None else document.at + _LATER
    return Document(DocumentId(document.id + _AGAIN), reworded(document.text), document.author, "", at, document.tags)


def _filled(running: Service, bank: str, haystack: Haystack) -> Loaded:
    settings = LoadSettings()
    loaded = load(running, bank, haystack, Dropped(), settings, lambda _: None)
    wait_for_coverage(running, bank, settings, lambda *_: None)
    return loaded


def _joined(loaded: Loaded) -> Loaded:
    """Each restatement counts as the turn it restates."""
    turn = {
        unit: loaded.units[DocumentId(document.removesuffix(_AGAIN))]
        for document, unit in loaded.units.items()
        if document.endswith(_AGAIN)
    }
    holds = {memory: tuple(turn.get(unit, unit) for unit in units) for memory, units in loaded.holds.items()}
    return replace(loaded, holds=holds)


def _asked(running: Service, loaded: Loaded, haystack: Haystack) -> list[Judgement]:
    judged = []
    for question in haystack.questions:
        request = recalls.RecallRequest(
            bank=loaded.bank, query=question.text, limit=_LIMIT, time_budget=Duration(seconds=30)
        )
        answer = running.recall.Recall(request, timeout=60.0)
        ranked = loaded.ranked_units(result.memory.id for result in answer.results)
        judged.append(judge(question, ranked, loaded.units))
    return judged


def _size(running: Service, bank: str) -> int:
    found = running.banks.Get(banks.BankServiceGetRequest(name=bank), timeout=30.0).bank
    return int(found.counts.live)


def _consolidate(running: Service, bank: str) -> None:
    stub = tending_grpc.ConsolidateServiceStub(running.channel)
    request = tending.ConsolidateRequest(bank=bank, max_supersedes=_ALL)
    for _ in stub.Consolidate(request, timeout=_RUN_TIMEOUT_S):
        pass


def _means(judged: Sequence[Judgement]) -> dict[str, float]:
    return {name: float(np.mean(metrics.values(name, judged))) for name in _METRICS}


def show(found: InjectedFigures, console: Console) -> None:
    """Prints a row a state."""
    title = f"{found.restatements} restatements came, {found.retired} memories were retired"
    table = Table("bank", title=title, title_justify="left")
    for name in ("memories", *_METRICS):
        table.add_column(name, justify="right")
    for name, state in (("clean", found.clean), ("injected", found.injected), ("consolidated", found.consolidated)):
        table.add_row(name, str(state.memories), *(f"{state.figures[metric]:.3f}" for metric in _METRICS))
    console.print(table)


def write(found: InjectedFigures, path: Path) -> None:
    """Writes the JSON."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
