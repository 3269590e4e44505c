"""From a query's text to what each leg is asked.

Names stand for people, and who said a memory is a field, not a word of its text. So somebody who said much of the bank
is matched as the author, by the entity leg, left out of the words, and asked for in the first person where the query
is embedded ("Caroline's dog" → "my dog"): that is how they spoke.

First-person words of a query stand for the bank's user. The user's handle is matched as a name, and is looked up as a
word where nobody speaks under it ("who am I" → "User is called Dana"): as one word among those of the query, so that
"when do I publish articles" is not answered by whatever speaks of the user.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from index.analyzer import Analyzer, QueryTerms
from recall.ranking.bank_index import BankIndex
from recall.ranking.columns import NO_AUTHOR
from recall.ranking.dates import NamedDate, named_dates
from recall.ranking.errors import QueryHasNoWords
from recall.ranking.settings import RankingSettings

DEFAULT_HANDLE = "user"

_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours|ourselves)\b", re.IGNORECASE)
_POSSESSIVE = r"['’]s?"
_SPACES = re.compile(r"\s+")
_AGREEMENT = re.compile(r"\b(does|is|has) I\b", re.IGNORECASE)
_AGREES = {"does": "do", "is": "am", "has": "have"}


@dataclass(frozen=True, slots=True)
class Question:
    """One query, analysed."""

    terms: dict[str, int]
    """Term → times asked, for BM25."""
    handle: dict[str, int]
    """The same for the handle of the bank's user, where first-person words stand for it."""
    handle_share: float
    """What part of the question the handle is: 1 for "who am I", less the more other words there are."""
    embedded: str
    """The text whose vector is compared."""
    names: tuple[str, ...]
    """Known names that are mentioned, the user's handle included."""
    authors: tuple[int, ...]
    """Codes of those names that have said something."""
    dates: tuple[NamedDate, ...]
    capped: str
    """What was left out of an over-long query; empty when nothing was."""


def ask(text: str, index: BankIndex, settings: RankingSettings) -> Question:
    """Analyse a query. The caller holds the index for reading. Raises QueryHasNoWords."""
    read = text[: settings.max_query_characters]
    mentioned = index.entities.mentioned(read)
    hubs = [name for name in mentioned if index.columns.author_share(name) >= settings.hub_author_share]
    words, embedded = _words(read, hubs, index.analyzer, settings)
    if not words.had_words:
        raise QueryHasNoWords(len(text))
    names, handle = list(mentioned), dict[str, int]()
    if _FIRST_PERSON.search(read) is not None:
        user = index.bank.info.user_handle.casefold() or DEFAULT_HANDLE
        names.append(user)
        if _handle_is_a_word(user, words.terms, index):
            handle = {term: 1 for term in index.analyzer.tokens(user) if term not in words.terms}
    return Question(
        terms=dict(words.terms),
        handle=handle,
        handle_share=_share(handle, words) if handle else 0.0,
        embedded=embedded,
        names=tuple(dict.fromkeys(names)),
        authors=tuple(_authors(names, index)),
        dates=named_dates(read),
        capped=_capped(text, words.capped, settings),
    )


def _words(read: str, hubs: Sequence[str], analyzer: Analyzer, settings: RankingSettings) -> tuple[QueryTerms, str]:
    """The words to look up and the text to embed; nothing but names stays as it is."""
    if hubs:
        words = analyzer.query_terms(without(read, hubs), settings.max_query_terms)
        if words.had_words:
            return words, in_first_person(read, hubs)
    return analyzer.query_terms(read, settings.max_query_terms), read


def without(text: str, names: Sequence[str]) -> str:
    """`text` with whole names, or the first word of longer ones, and their possessives left out."""
    return _SPACES.sub(" ", _mention(names).sub(" ", text)).strip()


def in_first_person(text: str, names: Sequence[str]) -> str:
    """`text` as the people of these names would ask it of themselves."""
    spoken = _mention(names).sub(lambda mention: "my" if mention["possessive"] else "I", text)
    return _AGREEMENT.sub(_agreed, spoken)


def _mention(names: Sequence[str]) -> re.Pattern[str]:
    forms = {form for name in names for form in (name, name.split()[0])}
    longest_first = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{longest_first})(?P<possessive>{_POSSESSIVE})?(?!\w)", re.IGNORECASE)


def _agreed(match: re.Match[str]) -> str:
    verb = _AGREES[match[1].lower()]
    return f"{verb.capitalize() if match[1][0].isupper() else verb} I"


def _handle_is_a_word(handle: str, terms: Mapping[str, int], index: BankIndex) -> bool:
    """Nobody speaks under the handle, or the bank knows no word of the query."""
    if index.columns.author_share(handle) == 0.0:
        return True
    return not any(index.lexical.document_frequency(term) for term in terms)


def _share(handle: Mapping[str, int], words: QueryTerms) -> float:
    return len(handle) / (len(handle) + len(words.terms)) if words.topical else 1.0


def _authors(names: Sequence[str], index: BankIndex) -> Iterator[int]:
    for name in dict.fromkeys(names):
        code = index.columns.author_code(name)
        if code != NO_AUTHOR:
            yield code


def _capped(text: str, too_many_terms: bool, settings: RankingSettings) -> str:
    if len(text) > settings.max_query_characters:
        return f"the first {settings.max_query_characters} of {len(text)} characters were read"
    if too_many_terms:
        return f"the first {settings.max_query_terms} distinct words were looked up"
    return ""
