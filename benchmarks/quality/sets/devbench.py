"""DevBench: thirty memories of a software project, twenty questions in four categories.

The file holds ``memories`` (``id``, ``content``, ``tags``, ``created_at_iso``) and ``queries``. The evidence of a
question is every memory that carries one of its ``expected_tags``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.quality.dataset import Dataset, Document, DocumentId, Dropped, Evidence, Haystack, LayoutError, Question


def load(path: Path, unit: str) -> Dataset:
    """Unit: memory. ``path`` is the JSON file, or the folder of devbench_dataset.json."""
    file = path / "devbench_dataset.json" if path.is_dir() else path
    dropped = Dropped()
    try:
        content = msgspec.json.decode(file.read_bytes())
        documents = tuple(_document(memory) for memory in content["memories"])
        questions = tuple(_questions(content["queries"], documents, dropped))
    except (KeyError, TypeError) as problem:
        raise LayoutError(file, f"not DevBench's layout: {problem!r}") from problem
    return Dataset("devbench", unit, (Haystack("devbench", documents, questions),), dropped)


def _document(memory: Mapping[str, Any]) -> Document:
    written = memory.get("created_at_iso")
    at = datetime.fromisoformat(written) if written else None
    return Document(DocumentId(memory["id"]), memory["content"], at=at, tags=tuple(memory["tags"]))


def _questions(
    queries: list[Mapping[str, Any]], documents: tuple[Document, ...], dropped: Dropped
) -> Iterator[Question]:
    for query in queries:
        expected = set(query["expected_tags"])
        evidence = tuple(Evidence(document.id) for document in documents if expected & set(document.tags))
        if evidence:
            yield Question(query["id"], query["question"], evidence, query["category"])
        else:
            dropped.add("question: no memory carries its expected tags", query["id"])
