"""A BEIR folder: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/test.tsv`` (or dev, or train).

Only questions that the chosen qrels judge are asked. A title is put before the text of its document.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.quality.dataset import Dataset, Document, DocumentId, Dropped, Haystack, LayoutError, Question
from benchmarks.quality.sets.trec import NO_JUDGEMENT, judged_evidence

_SPLITS = ("test.tsv", "dev.tsv", "train.tsv")


def load(path: Path, unit: str) -> Dataset:
    """Unit: document. ``path`` is the folder."""
    dropped = Dropped()
    documents = tuple(_documents(path / "corpus.jsonl", dropped))
    known = {document.id for document in documents}
    qrels = _qrels(_split(path))
    questions = tuple(_questions(path / "queries.jsonl", qrels, known, dropped))
    return Dataset("beir", unit, (Haystack(path.name, documents, questions),), dropped)


def _split(path: Path) -> Path:
    for name in _SPLITS:
        if (path / "qrels" / name).exists():
            return path / "qrels" / name
    raise LayoutError(path, f"no qrels/{' or '.join(_SPLITS)}")


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    if not file.exists():
        raise LayoutError(file, "missing")
    with file.open("rb") as lines:
        yield from (msgspec.json.decode(line) for line in lines if line.strip())


def _documents(file: Path, dropped: Dropped) -> Iterator[Document]:
    for line in _lines(file):
        text = f"{line.get('title') or ''}\n{line.get('text') or ''}".strip()
        if text:
            yield Document(DocumentId(str(line["_id"])), text)
        else:
            dropped.add("document: no text", str(line["_id"]))


def _qrels(file: Path) -> dict[str, dict[DocumentId, int]]:
    judged: dict[str, dict[DocumentId, int]] = {}
    for line in file.read_text(encoding="utf-8").splitlines()[1:]:
        fields = line.split("\t")
        if len(fields) != 3:
            raise LayoutError(file, f"not a line of query, document, grade: {line!r}")
        judged.setdefault(fields[0], {})[DocumentId(fields[1])] = int(fields[2])
    return judged


def _questions(
    file: Path, qrels: dict[str, dict[DocumentId, int]], known: set[DocumentId], dropped: Dropped
) -> Iterator[Question]:
    for line in _lines(file):
        number = str(line["_id"])
        evidence = judged_evidence(number, qrels.get(number, {}), known, dropped)
        if evidence:
            yield Question(number, line["text"], evidence)
        else:
            dropped.add(NO_JUDGEMENT, number)
