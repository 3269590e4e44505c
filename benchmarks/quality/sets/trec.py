"""A TREC folder: documents between <DOC> tags, topics with <num> and <title>, and a qrels file.

Files are found by name: qrels has "qrels" in it, topics have "query", "queries" or "topic", all else that holds a
<DOC> is documents. Vaswani is such a folder. Graded judgements keep their grade; grades below 1 are not evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.quality.dataset import Dataset, Document, DocumentId, Dropped, Evidence, Haystack, LayoutError, Question

NO_JUDGEMENT = "question: no relevant document"
UNKNOWN_DOCUMENT = "evidence: no such document"
_DOC = re.compile(r"<DOC>(.*?)</DOC>", re.DOTALL)
_DOCNO = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.DOTALL)
_TOP = re.compile(r"<top>(.*?)</top>", re.DOTALL)
_NUM = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)")
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*(.*?)\s*(?:</title>|<desc>|<narr>|\Z)", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")


def load(path: Path, unit: str) -> Dataset:
    """Unit: document. ``path`` is the folder."""
    dropped = Dropped()
    documents = tuple(_documents(path, dropped))
    qrels = read_qrels(_one(path, "qrels"))
    topics = dict(_topics(_one(path, "query", "queries", "topic")))
    known = {document.id for document in documents}
    questions = tuple(_questions(topics, qrels, known, dropped))
    return Dataset(
        "trec" if "vaswani" not in path.name else "vaswani", unit, (Haystack(path.name, documents, questions),), dropped
    )


def _one(path: Path, *words: str) -> Path:
    for file in sorted(path.iterdir()):
        if file.is_file() and any(word in file.name.lower() for word in words):
            return file
    raise LayoutError(path, f"no file with {' or '.join(words)} in its name")


def _documents(path: Path, dropped: Dropped) -> Iterator[Document]:
    for file in sorted(path.iterdir()):
        if not file.is_file():
            continue
        for found in _DOC.finditer(file.read_text(encoding="utf-8", errors="replace")):
            number = _DOCNO.search(found[1])
            if number is None:
                raise LayoutError(file, "a <DOC> without <DOCNO>")
            text = " ".join(_TAG.sub(" ", _DOCNO.sub(" ", found[1])).split())
            if text:
                yield Document(DocumentId(number[1]), text)
            else:
                dropped.add("document: no text", number[1])


def _topics(file: Path) -> Iterator[tuple[str, str]]:
    for found in _TOP.finditer(file.read_text(encoding="utf-8", errors="replace")):
        number, title = _NUM.search(found[1]), _TITLE.search(found[1])
        if number is None or title is None:
            raise LayoutError(file, "a <top> without <num> and <title>")
        yield number[1], " ".join(_TAG.sub(" ", title[1]).split())


def read_qrels(file: Path) -> dict[str, dict[DocumentId, int]]:
    """query → document → grade, from lines of ``query iteration document grade``."""
    judged: dict[str, dict[DocumentId, int]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        fields = line.split()
        if len(fields) == 4:
            judged.setdefault(fields[0], {})[DocumentId(fields[2])] = int(fields[3])
        elif fields:
            raise LayoutError(file, f"not a qrels line: {line!r}")
    return judged


def _questions(
    topics: dict[str, str], qrels: dict[str, dict[DocumentId, int]], known: set[DocumentId], dropped: Dropped
) -> Iterator[Question]:
    for number, text in topics.items():
        evidence = judged_evidence(number, qrels.get(number, {}), known, dropped)
        if evidence:
            yield Question(number, text, evidence)
        else:
            dropped.add(NO_JUDGEMENT, number)


def judged_evidence(
    question_id: str, judged: dict[DocumentId, int], known: set[DocumentId], dropped: Dropped
) -> tuple[Evidence, ...]:
    """The documents judged relevant that are in the corpus, with their grades."""
    for document, grade in judged.items():
        if grade > 0 and document not in known:
            dropped.add(UNKNOWN_DOCUMENT, f"{question_id}:{document}")
    return tuple(Evidence(document, grade) for document, grade in judged.items() if grade > 0 and document in known)
