"""MemDaily: what people tell an assistant in the course of a week, in Chinese.

``memdaily.json`` is type → scenario → trajectories, each with ``message_list`` (``mid``, ``message``, ``time``) and
``QA``, whose ``target_step_id`` cites messages by ``mid``. The unmerged files of the generator (a list of
trajectories with ``question_list``) and a folder of them are read too. Every trajectory is a haystack of its own:
trajectories contradict each other. They are short, so look at fraction@1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.quality.dataset import Dataset, Document, DocumentId, Dropped, Haystack, LayoutError, Question, resolve

FAILED = "question: the generator failed on it"
NO_EVIDENCE = "question: no evidence that resolves"
_TIME = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日\D*(\d{1,2}):(\d{2})")
_FAILURES = ("[ERRORQ]", "[ERRORA]")


def load(path: Path, unit: str) -> Dataset:
    """Unit: message. ``path`` is a file or a folder of files."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    dropped = Dropped()
    haystacks = []
    for file in files:
        try:
            content = msgspec.json.decode(file.read_bytes())
            haystacks += [_haystack(name, one, dropped) for name, one in _trajectories(file.stem, content)]
        except (KeyError, TypeError, AttributeError) as problem:
            raise LayoutError(file, f"not MemDaily's layout: {problem!r}") from problem
    asked = tuple(haystack for haystack in haystacks if haystack.questions)
    return Dataset("memdaily", unit, asked, dropped, extra_metrics=("fraction@1", "all@5"))


def _trajectories(name: str, content: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(content, list):
        yield from ((f"{name}/{one['tid']}", one) for one in content)
        return
    for kind, scenarios in content.items():
        for scenario, trajectories in scenarios.items():
            yield from ((f"{kind}/{scenario}/{one['tid']}", one) for one in trajectories)


def _haystack(name: str, trajectory: Mapping[str, Any], dropped: Dropped) -> Haystack:
    documents = tuple(_document(message) for message in trajectory["message_list"] if message["message"].strip())
    return Haystack(name, documents, tuple(_questions(name, trajectory, documents, dropped)))


def _document(message: Mapping[str, Any]) -> Document:
    return Document(DocumentId(str(message["mid"])), message["message"], "user", "messages", _time(message.get("time")))


def _questions(
    name: str, trajectory: Mapping[str, Any], documents: tuple[Document, ...], dropped: Dropped
) -> Iterator[Question]:
    known = {document.id for document in documents}
    asked = [trajectory["QA"]] if "QA" in trajectory else trajectory["question_list"]
    for number, qa in enumerate(asked):
        question_id = f"{name}/{number}"
        if qa["question"] in _FAILURES or qa["answer"] in _FAILURES:
            dropped.add(FAILED, question_id)
            continue
        evidence = resolve(question_id, map(str, qa["target_step_id"]), known, dropped)
        if evidence:
            yield Question(question_id, qa["question"], evidence, name.rsplit("/", 1)[0])
        else:
            dropped.add(NO_EVIDENCE, question_id)


def _time(text: Any) -> datetime | None:
    found = _TIME.search(str(text))
    if found is None:
        return None
    year, month, day, hour, minute = map(int, found.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)
