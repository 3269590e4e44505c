"""MemDaily: what people tell an assistant in the course of a week, in Chinese.

``memdaily.json`` is type → scenario → trajectories, each with ``message_list`` (``mid``, ``message``, ``time``,
``place``) and ``QA``, whose ``target_step_id`` cites messages by ``mid``. Three more layouts of the same are read: the
benchmark's ``memdaily_N.json``, where other people's messages stand between and every message is a string, cited by its
place in the list and with place and time written behind it; the unmerged files of the generator (a list of
trajectories with ``question_list``); and a folder of any of these. Every trajectory is a haystack of its own:
trajectories contradict each other. Without others' messages they are short, so look at fraction@1.
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
_BEHIND = re.compile(r"\s*\(消息地点 (?P<place>.*?), 消息时间 (?P<time>[^()]*)\)\s*$")


def load(path: Path, unit: str) -> Dataset:
    """Unit: message. ``path`` is a file or a folder of files."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    dropped = Dropped()
    haystacks = []
    for file in files:
        try:
            content = msgspec.json.decode(file.read_bytes())
            haystacks += [_haystack(name, one, dropped) for name, one in _trajectories(file.stem, content)]
        except (KeyError, TypeError, AttributeError, ValueError) as problem:
            raise LayoutError(file, f"not MemDaily's layout: {problem!r}") from problem
    asked = tuple(haystack for haystack in haystacks if haystack.questions)
    return Dataset("memdaily", unit, asked, dropped, extra_metrics=("fraction@1", "all@5"))


def _trajectories(name: str, content: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(content, list):
        yield from ((f"{name}/{one['tid']}", one) for one in content)
        return
    for kind, scenarios in content.items():
        for scenario, trajectories in scenarios.items():
            yield from ((f"{kind}/{scenario}/{one['tid']}", one) for one in trajectories or ())


def _haystack(name: str, trajectory: Mapping[str, Any], dropped: Dropped) -> Haystack:
    said = (_document(place, message) for place, message in enumerate(trajectory["message_list"]))
    documents = tuple(document for document in said if document.text)
    return Haystack(name, documents, tuple(_questions(name, trajectory, documents, dropped)))


def _document(place: int, message: Mapping[str, Any] | str) -> Document:
    if isinstance(message, str):
        behind = _BEHIND.search(message)
        text, at = _BEHIND.sub("", message).strip(), _time(behind["time"]) if behind else None
        return Document(DocumentId(str(place)), text, "user", "messages", at)
    text, at = message["message"].strip(), _time(message.get("time"))
    return Document(DocumentId(str(message["mid"])), text, "user", "messages", at)


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
