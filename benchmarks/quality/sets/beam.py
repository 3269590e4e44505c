"""BEAM: chats of a user with an assistant, probed by ability; the evidence is message ids.

``path`` is one chat's folder (``chat.json``, ``probing_questions.json``) or a folder of such. A chat is batches →
turns → messages (``role``, ``id``, ``content``); the trailing ``->-> 1,1`` markers of the generator are stripped.
``source_chat_ids`` nests lists and mappings of message ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.quality.dataset import Dataset, Document, DocumentId, Dropped, Haystack, LayoutError, Question, resolve

NO_SOURCE = "question: no source messages (abstention)"
NO_EVIDENCE = "question: no evidence that resolves"
_MARKER = re.compile(r"\s*->->\s*[\d\s,./NA)]*\s*$")


def load(path: Path, unit: str) -> Dataset:
    """Unit: message."""
    folders = [path] if (path / "chat.json").exists() else sorted(_chats(path), key=_by_number)
    if not folders:
        raise LayoutError(path, "no chat.json here or one folder below")
    dropped = Dropped()
    return Dataset("beam", unit, tuple(_haystack(folder, dropped) for folder in folders), dropped)


def _chats(path: Path) -> Iterator[Path]:
    return (file.parent for file in path.glob("*/chat.json"))


def _by_number(folder: Path) -> tuple[int, str]:
    return (int(folder.name), "") if folder.name.isdigit() else (0, folder.name)


def _haystack(folder: Path, dropped: Dropped) -> Haystack:
    try:
        chat = msgspec.json.decode((folder / "chat.json").read_bytes())
        probes = msgspec.json.decode((folder / "probing_questions.json").read_bytes())
        documents = tuple(_documents(folder.name, chat, dropped))
        questions = tuple(_questions(folder.name, probes, documents, dropped))
    except (KeyError, TypeError) as problem:
        raise LayoutError(folder, f"not BEAM's layout: {problem!r}") from problem
    return Haystack(folder.name, documents, questions)


def _documents(name: str, chat: list[Mapping[str, Any]], dropped: Dropped) -> Iterator[Document]:
    at: datetime | None = None
    for number, batch in enumerate(chat):
        session = f"batch-{batch.get('batch_number', number)}"
        for message in (message for turn in batch["turns"] for message in turn):
            at = _time(message.get("time_anchor")) or at
            text = _MARKER.sub("", message["content"]).strip()
            if text:
                yield Document(DocumentId(str(message["id"])), text, message["role"], session, at)
            else:
                dropped.add("message: no text", f"{name}:{message['id']}")


def _questions(
    name: str, probes: Mapping[str, list[Mapping[str, Any]]], documents: tuple[Document, ...], dropped: Dropped
) -> Iterator[Question]:
    known = {document.id for document in documents}
    for ability, asked in probes.items():
        for number, probe in enumerate(asked):
            question_id = f"{name}/{ability}/{number}"
            cited = list(_flat(probe.get("source_chat_ids")))
            evidence = resolve(question_id, cited, known, dropped)
            if evidence:
                yield Question(question_id, probe["question"], evidence, ability)
            else:
                dropped.add(NO_EVIDENCE if cited else NO_SOURCE, question_id)


def _flat(ids: Any) -> Iterator[str]:
    if isinstance(ids, Mapping):
        ids = list(ids.values())
    if isinstance(ids, list):
        for one in ids:
            yield from _flat(one)
    elif ids is not None:
        yield str(ids)


def _time(text: Any) -> datetime | None:
    try:
        return datetime.strptime(str(text), "%B-%d-%Y").replace(tzinfo=UTC)
    except ValueError:
        return None
