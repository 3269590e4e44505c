"""Two people talking over many sessions: the layout that LoCoMo made and REALTALK took over.

A chat holds ``session_N`` lists of turns and ``session_N_date_time``; a turn has ``speaker``, ``dia_id``, ``text``
and perhaps ``blip_caption``, the caption of an image that was sent. Questions cite turns by ``dia_id``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from benchmarks.quality.dataset import Document, DocumentId, Dropped, Haystack, Question, resolve

NO_EVIDENCE = "question: no evidence that resolves"
_SESSION = re.compile(r"session_(\d+)")
_CITATIONS = re.compile(r"[\s;,]+")
_TIMES = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S", "%d.%m.%Y, %H:%M", "%Y-%m-%d %H:%M:%S")


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance, with the session it belongs to."""

    id: str
    speaker: str
    text: str
    session: str
    at: datetime | None


def haystack(
    name: str, chat: Mapping[str, Any], questions: Iterable[Mapping[str, Any]], unit: str, dropped: Dropped
) -> Haystack:
    """One chat in turn or session units."""
    turns = list(_turns(name, chat, dropped))
    documents = _turn_documents(turns) if unit == "turn" else _session_documents(turns)
    place = (lambda cited: cited) if unit == "turn" else _session_of({turn.id: turn.session for turn in turns})
    asked = tuple(_questions(name, questions, documents, place, dropped))
    return Haystack(name, documents, asked)


def _turns(name: str, chat: Mapping[str, Any], dropped: Dropped) -> Iterable[Turn]:
    sessions = sorted((int(found[1]), key) for key in chat if (found := _SESSION.fullmatch(key)))
    for _, key in sessions:
        session_at = read_time(chat.get(f"{key}_date_time"))
        for turn in chat[key]:
            text = _said(turn)
            if text:
                at = read_time(turn.get("date_time")) or session_at
                yield Turn(turn["dia_id"], turn["speaker"], text, key, at)
            else:
                dropped.add("turn: no text", f"{name}:{turn['dia_id']}")


def _said(turn: Mapping[str, Any]) -> str:
    text = str(turn.get("clean_text", turn.get("text")) or "").strip()
    caption = str(turn.get("blip_caption") or "").strip()
    return f"{text} (image: {caption})".strip() if caption else text


def _turn_documents(turns: Iterable[Turn]) -> tuple[Document, ...]:
    return tuple(Document(DocumentId(turn.id), turn.text, turn.speaker, turn.session, turn.at) for turn in turns)


def _session_documents(turns: Iterable[Turn]) -> tuple[Document, ...]:
    """One document a session, each turn a line that starts with its speaker. They are no one's neighbours."""
    lines: dict[str, list[str]] = {}
    at: dict[str, datetime | None] = {}
    for turn in turns:
        lines.setdefault(turn.session, []).append(f"{turn.speaker}: {turn.text}")
        at.setdefault(turn.session, turn.at)
    return tuple(Document(DocumentId(session), "\n".join(said), at=at[session]) for session, said in lines.items())


def _session_of(sessions: Mapping[str, str]) -> Callable[[str], str]:
    return lambda cited: sessions.get(cited, cited)


def _questions(
    name: str,
    questions: Iterable[Mapping[str, Any]],
    documents: tuple[Document, ...],
    place: Callable[[str], str],
    dropped: Dropped,
) -> Iterable[Question]:
    known = {document.id for document in documents}
    for number, asked in enumerate(questions):
        question_id = f"{name}/{number}"
        evidence = resolve(question_id, map(place, citations(asked.get("evidence"))), known, dropped)
        if evidence:
            yield Question(question_id, str(asked["question"]), evidence, str(asked.get("category", "")))
        else:
            dropped.add(NO_EVIDENCE, question_id)


def citations(evidence: Any) -> list[str]:
    """The ids in an evidence field: a list of strings, some of which hold several ids, or a single string."""
    cited = [evidence] if isinstance(evidence, str) else list(evidence or ())
    return [name for text in cited for name in _CITATIONS.split(str(text)) if name]


def read_time(text: Any) -> datetime | None:
    """A time as the layouts write it, taken as UTC; None when there is none or it is written otherwise."""
    for form in _TIMES:
        try:
            return datetime.strptime(str(text).strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
