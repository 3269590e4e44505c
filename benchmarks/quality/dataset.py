"""What every loader makes of a published layout: haystacks of documents, and questions with judged evidence."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import NewType

DocumentId = NewType("DocumentId", str)


class LayoutError(Exception):
    """A file does not have the layout its loader reads. ``path`` and ``problem`` say where and what."""

    def __init__(self, path: object, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Document:
    """One unit that can be found. Documents of one ``session`` follow each other in the order of the haystack."""

    id: DocumentId
    text: str
    author: str = ""
    session: str = ""
    at: datetime | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A document that answers a question. ``gain`` is its graded relevance, at least 1."""

    document: DocumentId
    gain: int = 1


@dataclass(frozen=True, slots=True)
class Question:
    """``id`` is unique in the whole set, so that two runs can be paired."""

    id: str
    text: str
    evidence: tuple[Evidence, ...]
    category: str = ""


@dataclass(frozen=True, slots=True)
class Haystack:
    """What goes into one bank, and what is asked of it."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(slots=True)
class Dropped:
    """Counts what a loader left out, by reason; keeps the ids."""

    ids: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, item_id: str) -> None:
        self.ids.setdefault(reason, []).append(item_id)

    def items(self) -> Iterator[tuple[str, list[str]]]:
        """By reason, most frequent first, then by name."""
        return iter(sorted(self.ids.items(), key=lambda item: (-len(item[1]), item[0])))

    def count(self, reason: str) -> int:
        return len(self.ids.get(reason, ()))


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set in one unit.

    ``headline`` names the categories that the headline figures are over; None means all. ``extra_metrics`` are the
    set's own definitions, printed beside the usual ones.
    """

    name: str
    unit: str
    haystacks: tuple[Haystack, ...]
    dropped: Dropped
    headline: frozenset[str] | None = None
    headline_label: str = "all categories"
    extra_metrics: tuple[str, ...] = ()

    def questions(self) -> Iterator[Question]:
        for haystack in self.haystacks:
            yield from haystack.questions

    def in_headline(self, category: str) -> bool:
        return self.headline is None or category in self.headline

    def first(self, haystacks: int) -> Dataset:
        """The set cut to its first haystacks; what that leaves out is counted as dropped."""
        for haystack in self.haystacks[haystacks:]:
            for question in haystack.questions:
                self.dropped.add("question: haystack beyond --haystacks", question.id)
        return Dataset(
            self.name,
            self.unit,
            self.haystacks[:haystacks],
            self.dropped,
            self.headline,
            self.headline_label,
            self.extra_metrics,
        )


def resolve(
    question_id: str, cited: Iterable[str], known: Container[DocumentId], dropped: Dropped
) -> tuple[Evidence, ...]:
    """The cited documents that exist, each once, in the order cited. What does not resolve is counted."""
    found: dict[DocumentId, None] = {}
    for name in cited:
        if DocumentId(name) in known:
            found[DocumentId(name)] = None
        else:
            dropped.add("evidence: no such document", f"{question_id}:{name}")
    return tuple(Evidence(document) for document in found)
