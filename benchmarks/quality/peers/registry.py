"""The peers by name, and which of them take part in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.quality.peers.bm25s import Bm25s
from benchmarks.quality.peers.chroma import Chroma
from benchmarks.quality.peers.lancedb import LanceDb
from benchmarks.quality.peers.peer import Peer, UnknownPeerError
from benchmarks.quality.peers.vectors import Vectors
from index.analysis_settings import NONE as WITHOUT
from index.analysis_settings import AnalysisSettings
from index.analyzer import Analyzer, analyzer_of
from index.embedder import NO_MODEL, EmbeddingSettings

INSTALLED, NONE = "installed", "none"


@dataclass(frozen=True, slots=True)
class Equipment:
    """What peers share with the service under measurement."""

    analyzer: Analyzer
    vectors: Vectors | None
    """None where the service has no encoder either."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The peers of a run, and why the others are not in it."""

    peers: tuple[Peer, ...] = ()
    left_out: tuple[str, ...] = ()


def _of_words(make: Callable[[Analyzer], Peer]) -> Callable[[Equipment], Peer]:
    return lambda equipment: make(equipment.analyzer)


def _of_vectors(name: str, make: Callable[[Vectors], Peer]) -> Callable[[Equipment], Peer]:
    def made(equipment: Equipment) -> Peer:
        if equipment.vectors is None:
            raise UnknownPeerError(f"the peer {name} needs vectors, and embedding.model is {NO_MODEL}")
        return make(equipment.vectors)

    return made


PEERS: dict[str, Callable[[Equipment], Peer]] = {
    Bm25s.name: _of_words(Bm25s),
    LanceDb.name: _of_vectors(LanceDb.name, LanceDb),
    Chroma.name: _of_vectors(Chroma.name, Chroma),
}


def chosen(names: str, server: Mapping[str, str] | None = None) -> Choice:
    """The peers of a comma-separated list; `installed` means all whose packages are there, `none` or nothing none.

    ``server`` holds the settings of the server by their dotted names. Raises UnknownPeerError for a name that nobody
    has, or that was asked for and cannot be given.
    """
    equipment = _equipment(server or {})
    if names.strip() == INSTALLED:
        return _installed(equipment)
    wanted = [name.strip() for name in names.split(",") if name.strip() and name.strip() != NONE]
    for name in wanted:
        if name not in PEERS:
            raise UnknownPeerError(f"no peer is called {name!r}; there are {', '.join(PEERS)}")
    return Choice(tuple(PEERS[name](equipment) for name in wanted))


def _installed(equipment: Equipment) -> Choice:
    peers: list[Peer] = []
    left_out: list[str] = []
    for make in PEERS.values():
        try:
            peers.append(make(equipment))
        except UnknownPeerError as problem:
            left_out.append(str(problem))
    return Choice(tuple(peers), tuple(left_out))


def _equipment(server: Mapping[str, str]) -> Equipment:
    analysis = AnalysisSettings(
        stop_words=WITHOUT if server.get("analysis.stop_words") == WITHOUT else AnalysisSettings().stop_words,
        stemmer=server.get("analysis.stemmer", AnalysisSettings().stemmer),
    )
    analyzer = analyzer_of(analysis)
    model = server.get("embedding.model", EmbeddingSettings().model)
    return Equipment(analyzer, None if model == NO_MODEL else Vectors(EmbeddingSettings(model=model)))
