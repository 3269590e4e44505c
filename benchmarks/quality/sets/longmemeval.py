"""LongMemEval: one haystack of chat sessions for each question, by its own definitions.

``session`` documents are the user turns of a session joined; ``turn`` documents are single user turns. Abstention
questions (``_abs`` in the id) are left out. Turn evidence is the user turns with ``has_answer`` in the question's
answer sessions; a session in which labels exist but no user turn carries one is not evidence either (its answer was
given by the assistant, whose turns are not indexed). The ideal of nDCG is over the whole corpus; the set's own
nDCG discounts the second place by log2(2) = 1, and is printed as ``longmemeval_ndcg@10`` beside the usual one.

Also read: a variant with lists of ``questions`` and ``answer_session_ids``, which asks a haystack more than once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.quality.dataset import Dataset, Document, DocumentId, Dropped, Haystack, LayoutError, Question, resolve

ABSTENTION = "question: abstention, nothing to find"
NO_LABEL = "question: no user turn of its answer sessions is labelled"
NO_EVIDENCE = "question: no evidence that resolves"


def load(path: Path, unit: str) -> Dataset:
    """``path`` is the JSON file. Units: session, turn."""
    dropped = Dropped()
    try:
        samples = msgspec.json.decode(path.read_bytes())
        haystacks = tuple(_haystack(sample, unit, dropped) for sample in samples)
    except (KeyError, TypeError) as problem:
        raise LayoutError(path, f"not LongMemEval's layout: {problem!r}") from problem
    asked = tuple(haystack for haystack in haystacks if haystack.questions)
    return Dataset("longmemeval", unit, asked, dropped, extra_metrics=("any@10", "all@5", "longmemeval_ndcg@10"))


def _haystack(sample: Mapping[str, Any], unit: str, dropped: Dropped) -> Haystack:
    sessions = _sessions(sample, dropped)
    times = dict(zip(sample["haystack_session_ids"], sample.get("haystack_dates", ()), strict=False))
    split = _turn_documents if unit == "turn" else _session_documents
    documents = tuple(
        document for name, turns in sessions.items() for document in split(name, turns, _time(times.get(name)), dropped)
    )
    questions = tuple(_questions(sample, sessions, documents, unit, dropped))
    return Haystack(sample["question_id"], documents, questions)


def _sessions(sample: Mapping[str, Any], dropped: Dropped) -> dict[str, list[Mapping[str, Any]]]:
    sessions: dict[str, list[Mapping[str, Any]]] = {}
    for name, turns in zip(sample["haystack_session_ids"], sample["haystack_sessions"], strict=True):
        if name in sessions:
            dropped.add("session: its id stands twice in the haystack", f"{sample['question_id']}:{name}")
        else:
            sessions[name] = turns
    return sessions


def _session_documents(
    name: str, turns: Iterable[Mapping[str, Any]], at: datetime | None, dropped: Dropped
) -> Iterator[Document]:
    said = "\n".join(turn["content"] for turn in turns if turn["role"] == "user").strip()
    if said:
        yield Document(DocumentId(name), said, "user", at=at)
    else:
        dropped.add("session: no user turn", name)


def _turn_documents(
    name: str, turns: Iterable[Mapping[str, Any]], at: datetime | None, dropped: Dropped
) -> Iterator[Document]:
    for number, turn in enumerate(turns):
        if turn["role"] != "user":
            continue
        if turn["content"].strip():
            yield Document(_turn_id(name, number), turn["content"], "user", name, at)
        else:
            dropped.add("turn: no text", _turn_id(name, number))


def _turn_id(session: str, number: int) -> DocumentId:
    return DocumentId(f"{session}#{number}")


def _questions(
    sample: Mapping[str, Any],
    sessions: Mapping[str, list[Mapping[str, Any]]],
    documents: tuple[Document, ...],
    unit: str,
    dropped: Dropped,
) -> Iterator[Question]:
    known = {document.id for document in documents}
    for question_id, text, answers in _asked(sample):
        if "_abs" in question_id:
            dropped.add(ABSTENTION, question_id)
            continue
        labelled = [name for name in answers if not _assistant_only(sessions.get(name, []))]
        cited = list(_labelled_turns(labelled, sessions)) if unit == "turn" else labelled
        evidence = resolve(question_id, cited, known, dropped)
        if evidence:
            yield Question(question_id, text, evidence, str(sample.get("question_type", "")))
        else:
            dropped.add(NO_EVIDENCE if cited else NO_LABEL, question_id)


def _asked(sample: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    if "question" in sample:
        yield sample["question_id"], sample["question"], sample["answer_session_ids"]
        return
    for number, (text, answers) in enumerate(zip(sample["questions"], sample["answer_session_ids"], strict=True)):
        yield f"{sample['question_id']}/{number}", text, answers


def _assistant_only(turns: list[Mapping[str, Any]]) -> bool:
    labelled = any("has_answer" in turn for turn in turns)
    return labelled and not any(turn.get("has_answer") for turn in turns if turn["role"] == "user")


def _labelled_turns(names: Iterable[str], sessions: Mapping[str, list[Mapping[str, Any]]]) -> Iterator[str]:
    for name in names:
        for number, turn in enumerate(sessions.get(name, [])):
            if turn["role"] == "user" and turn.get("has_answer"):
                yield _turn_id(name, number)


def _time(text: Any) -> datetime | None:
    try:
        return datetime.strptime(str(text), "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
    except ValueError:
        return None
