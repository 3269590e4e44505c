"""The systems by name, what they can do, and what to install for them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

from benchmarks.peers.fusion import DEPTH
from benchmarks.peers.peer import Peer


class UnknownPeerError(ValueError):
    """No system has this name."""


class PeerType(Protocol):
    """Makes a system on an empty folder."""

    def __call__(self, folder: Path, prepared: Path) -> Peer: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a system's adapter is. Nothing of the system is imported before `load`."""

    place: str
    """module:class in this package."""
    needs: Mapping[str, str]
    """Module → the distribution that brings it."""
    hybrid: bool = True
    durable: bool = True
    depth: int = DEPTH
    """Rows of each leg that it fuses; 0: all of them. Its recall is held against the exact answer of that depth."""

    def missing(self) -> tuple[str, ...]:
        """Distributions that are not installed."""
        return tuple(package for module, package in self.needs.items() if find_spec(module) is None)

    def load(self) -> PeerType:
        """The adapter. Raises ImportError."""
        module, name = self.place.split(":")
        return cast(PeerType, getattr(importlib.import_module(f"benchmarks.peers.{module}"), name))


OURS, OURS_DEFAULT, OURS_SERVED = "recall", "recall-default", "recall-grpc"
_LANCE = {"lancedb": "lancedb", "pyarrow": "pyarrow"}
PEERS: Mapping[str, Entry] = {
    OURS: Entry("recall_engine:RecallEngine", {}, depth=0),
    OURS_DEFAULT: Entry("recall_engine:RecallEvidence", {}, depth=0),
    OURS_SERVED: Entry("recall_grpc:RecallGrpc", {}, depth=0),
    "qdrant-edge": Entry("qdrant_edge:QdrantEdge", {"qdrant_edge": "qdrant-edge-py"}),
    "lancedb": Entry("lancedb:LanceDb", _LANCE),
    "lancedb-ann": Entry("lancedb:LanceDbAnn", _LANCE),
    "sqlite-vec": Entry("sqlite_vec:SqliteVec", {"sqlite_vec": "sqlite-vec", "apsw": "apsw"}),
    "pgvector": Entry("pgvector:PgVector", {"pgvector": "pgvector", "psycopg": "psycopg[binary]"}),
    "milvus-lite": Entry("milvus_lite:MilvusLite", {"milvus_lite": "milvus-lite", "pymilvus": "pymilvus"}),
    "txtai": Entry("txtai:Txtai", {"txtai": "txtai-minimal", "msgpack": "msgpack"}),
    "chroma": Entry("chroma:Chroma", {"chromadb": "chromadb"}, hybrid=False),
    "bm25s": Entry("bm25s:Bm25s", {"bm25s": "bm25s"}, hybrid=False),
    "mem0": Entry(
        "mem0_store:Mem0", {"mem0": "mem0ai", "openai": "openai", "qdrant_client": "qdrant-client"}, hybrid=False
    ),
    "langgraph": Entry("langgraph_store:LangGraphStore", {"langgraph": "langgraph"}, hybrid=False, durable=False),
}


def chosen(names: str) -> tuple[str, ...]:
    """The names of a comma-separated list, ours always among them; all when it is empty. Raises UnknownPeerError."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in PEERS:
            raise UnknownPeerError(f"no system is called {name!r}; there are {', '.join(PEERS)}")
    return tuple(name for name in PEERS if not wanted or name in (OURS, *wanted))
