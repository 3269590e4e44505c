"""The canonical form of a text: what is left when only the wording differs.

Two texts with one canonical form differ at most in case, punctuation, contractions, spelling variants, articles,
filler, plural or a spelled-out small number. Nothing else is folded: every other difference must reach a guard.
Where a folded word carries meaning ("a few", "not really", "sleeps well", "vitamin A") it stays. The rules are those of
English; of texts in other languages only case and punctuation are folded.

Everything here is a pure function of one text, kept for the last `CACHED_TEXTS` texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from consolidate.lexicon.articles import (
    A_MATTERS_BEFORE,
    LETTERED,
    MATTERS_AFTER,
    MATTERS_BEFORE,
    MATTERS_BETWEEN,
    NOT_AFTER_ARTICLE,
)
from consolidate.lexicon.filler import (
    CONDITIONS,
    DEGREES,
    FILLER,
    FINITE,
    IMPERATIVES,
    INTERJECTIONS,
    JUST_AFTER,
    JUST_AFTER_COPULA,
    JUST_BEFORE,
    NOT_BEFORE_FILLER,
    NUMBER_WORDS,
    OPENING_FILLER,
    PLEASED,
    RESTRICTING_AFTER_JUST,
    SUBJECTS,
    THAT_CLAUSE_VERBS,
)
from consolidate.lexicon.languages import ENGLISH, FOREIGN, LOANED
from consolidate.lexicon.plurals import DETERMINERS, IRREGULAR, OF_ITS_OWN, SAME_IN_THE_PAST, UNCOUNTABLE
from consolidate.lexicon.spellings import COMPOUNDS, NOUN_AFTER, SPELLINGS, VERB_AND_PARTICLE
from consolidate.lexicon.synonyms import NO_SYNONYMS_BESIDE, SYNONYMS
from consolidate.words import CACHED_TEXTS, folded, unframed, words, words_of

_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_RE_PREFIX = re.compile(
    r"\bre-(?=sign|cover|creat|form|leas|present|sent|serv|sort|count|mark|strain|act|ply|press|dress|collect|lay|treat|"
    r"fus|sound|plac|claim|prov|sol|tire|view|fine|new)|\bco-(?=op\b)"
)
_LETTER_A = re.compile(r"(?<=\w )A(?=\s*$|[.,;:!?)]|\s+[a-z0-9(])")
_ISE = re.compile(r"(?<=[^aeiouw])is(e|ed|er|ing|ation|ations)$")
_YSE = re.compile(r"ys(e|ed|ing)$")
_DOUBLED_L = re.compile(r"ll(ed|ing|er)$")
_TWO_SYLLABLES = re.compile(r"[aeiou]+[^aeiou]+[aeiou]$")
_OUR = re.compile(r"(?<=\w{3})our(?=(?:ed|ing|able|ably|ful|fully|less|ite|hood|ly|er|ous|ation)?$)")
_LOOK_BACK = 8
"""Letters before a doubled l that tell filled from travelled."""
_COMPOUND_ENDS = frozenset(end for _, end in COMPOUNDS)
_VERB_BEFORE = frozenset("to can must should will please users they you".split())
_ARTICLES = frozenset({"a", "an", "the"})


@lru_cache(maxsize=CACHED_TEXTS)
def canonical(text: str) -> tuple[str, ...]:
    """The canonical words of a text, in order; hyphens between letters join."""
    return _canonical(text, "")


@lru_cache(maxsize=CACHED_TEXTS)
def forms(text: str) -> frozenset[tuple[str, ...]]:
    """The canonical words, once with hyphens joining and once with hyphens as spaces; empty without words."""
    joined = canonical(text)
    return frozenset({joined, _canonical(text, " ")} if "-" in text else {joined}) - {()}


def _canonical(text: str, hyphen: str) -> tuple[str, ...]:
    spoken = _spoken(text, hyphen)
    if _is_foreign(spoken):
        return tuple(spoken)
    while spoken and spoken[0] in _OPENING and _says_nothing_first(spoken):
        spoken = spoken[1:]
    kept = [at for at, word in enumerate(spoken) if word not in _MAY_SAY_NOTHING or not _says_nothing(word, at, spoken)]
    return tuple(_compounded(kept, spoken))


def _spoken(text: str, hyphen: str) -> Sequence[str]:
    """The words, with a letter A told from the article and hyphens replaced."""
    marked = _LETTER_A.sub("lettera", text) if "A" in text else text
    if "-" not in marked:
        return words(text) if marked is text or marked == text else words_of(unframed(folded(marked)))
    lower = folded(marked)
    lower = lower if hyphen else _RE_PREFIX.sub(lambda found: f"{found[0][:-1]}\u2010", lower)
    return words_of(unframed(_HYPHEN.sub(hyphen, lower)))


_OPENING = OPENING_FILLER | {"just"}
_MAY_SAY_NOTHING = FILLER | {"just", "too", "that"}


def _is_foreign(spoken: Sequence[str]) -> bool:
    """Whether a text is rather not English: small words of other languages, or letters that English does not have."""
    other = any(not word.isascii() and word not in LOANED for word in spoken)
    if not other and FOREIGN.isdisjoint(spoken):
        return False
    strange = sum([word in FOREIGN for word in spoken])
    return strange + other > sum([word in ENGLISH for word in spoken])


def _says_nothing_first(spoken: Sequence[str]) -> bool:
    first, after = spoken[0], spoken[1] if len(spoken) > 1 else ""
    if first in INTERJECTIONS:
        return bool(after)
    if first == "just" or first in {"simply", "kindly"}:
        return after in IMPERATIVES or (after in SUBJECTS and not _just_restricts(after))
    return after in SUBJECTS


def _says_nothing(word: str, at: int, spoken: Sequence[str]) -> bool:
    before = spoken[at - 1] if at else ""
    after = spoken[at + 1] if at + 1 < len(spoken) else ""
    if word in _ARTICLES:
        return not _article_matters(word, before, after, spoken[at + 2 : at + 3] == ("of",))
    if word in FILLER:
        return after not in MATTERS_BEFORE and not _filler_matters(word, before, after, spoken)
    if word == "just":
        return bool(before and after) and _just_is_filler(before, after)
    if word == "too":
        return not after and bool(before)
    later = spoken[at + 2] if at + 2 < len(spoken) else ""
    return before in THAT_CLAUSE_VERBS and (after in SUBJECTS or later in FINITE or after.endswith("s"))


def _filler_matters(word: str, before: str, after: str, spoken: Sequence[str]) -> bool:
    if before in NOT_BEFORE_FILLER or (word in DEGREES and not CONDITIONS.isdisjoint(spoken)):
        return True
    if word == "please":
        return before == "to" or after in PLEASED
    if word == "also":
        return not before and after not in SUBJECTS
    if word in {"kinda", "sorta"}:
        return before in DETERMINERS  # "these sorta things" are things of that sort
    return word == "quite" and after in _ARTICLES


def _article_matters(article: str, before: str, after: str, of_follows: bool) -> bool:
    if after in MATTERS_BEFORE or before in MATTERS_AFTER or before in MATTERS_BETWEEN.get(after, ()):
        return True
    if article == "the":
        return after == "number" and of_follows
    letter = article == "a" and (not after or before in LETTERED or after in NOT_AFTER_ARTICLE)
    return letter or after in A_MATTERS_BEFORE or (after == "number" and of_follows)


def _just_is_filler(before: str, after: str) -> bool:
    if _just_restricts(after):
        return False
    if before in JUST_AFTER_COPULA:
        return after.endswith(("ing", "ed"))
    return before in JUST_AFTER or after in JUST_BEFORE


def _just_restricts(after: str) -> bool:
    return after in RESTRICTING_AFTER_JUST or after in NUMBER_WORDS or after[:1].isdigit()


def _compounded(kept: Sequence[int], spoken: Sequence[str]) -> list[str]:
    """The folded words at these places; those that are written as one word too, and stand side by side, as one."""
    out: list[str] = []
    last = -1
    for at in kept:
        word = spoken[at]
        if word not in _TENSED or (at > 0 and spoken[at - 1] in DETERMINERS):
            word = _fold(word)
        joined = last == at - 1 and word in _COMPOUND_ENDS and out and (out[-1], word) in COMPOUNDS
        if joined and ((out[-1], word) not in VERB_AND_PARTICLE or _is_one_word(at, spoken)):
            out[-1] = COMPOUNDS[out[-1], word]
        else:
            out.append(word)
        last = at
    return out


_TENSED = SAME_IN_THE_PAST | {f"{verb}s" for verb in SAME_IN_THE_PAST}
"""Present and past of one verb, unless a determiner makes them nouns."""


def _is_one_word(at: int, spoken: Sequence[str]) -> bool:
    """Whether a verb and its particle, which stands at `at`, are one word rather than a noun and where it is."""
    after = spoken[at + 1] if at + 1 < len(spoken) else ""
    return not after or after in NOUN_AFTER or (at > 1 and spoken[at - 2] in _VERB_BEFORE)


def same_wording(a: str, b: str) -> bool:
    """True when two texts differ at most in what the canonical form folds (see the module)."""
    return not forms(a).isdisjoint(forms(b))


def same_but_synonyms(a: str, b: str) -> bool:
    """True when two texts also differ at most in words that the lexicon holds for synonyms."""
    return synonym_form(a) == synonym_form(b) != ()


def content(text: str) -> frozenset[str]:
    """The canonical words of a text as a set."""
    return frozenset(canonical(text))


def share_a_word(a: str, b: str) -> bool:
    """Whether two texts have a word in common that says what they are about."""
    return any(len(word) >= _TELLING and word not in _COMMON for word in content(a) & content(b))


_TELLING = 3
"""Letters of the shortest word that tells what a text is about."""
_COMMON = frozenset(
    "the and for with not you user his her their our your its this that these those are was were has have had will "
    "would can could should must may might does did from into onto over than then who what when where why how all any "
    "some each every use like want need get make keep work always never only more most before after about there here "
    "out off one two".split()
)
"""Words that half of all texts have."""


@lru_cache(maxsize=CACHED_TEXTS)
def synonym_form(text: str) -> tuple[str, ...]:
    """The canonical words of a text with each listed synonym replaced by its class, where it is safe."""
    return synonymous(canonical(text), words(text))


def synonymous(tokens: tuple[str, ...], spoken: Sequence[str] = ()) -> tuple[str, ...]:
    """Canonical words with each listed synonym replaced by its class.

    As they are beside a negation or a modal, and where one text uses two synonyms, which it then tells apart. `spoken`
    are the words before they became canonical.
    """
    found = {token for token in tokens if token in _IN_CLASS}
    if not found or not NO_SYNONYMS_BESIDE.isdisjoint(spoken or tokens):
        return tokens
    if len(found) > len({SYNONYMS.get(token, token) for token in found}):
        return tokens
    return tuple([SYNONYMS.get(token, token) for token in tokens])


_IN_CLASS = frozenset(SYNONYMS) | frozenset(SYNONYMS.values())


@lru_cache(maxsize=CACHED_TEXTS)
def _fold(word: str) -> str:
    word = NUMBER_WORDS.get(word, word)
    word = SPELLINGS.get(word) or IRREGULAR.get(word, word)
    return _variant(singular(word))


def _variant(word: str) -> str:
    """British to American endings: organise to organize, colour to color, travelled to traveled."""
    if word in SPELLINGS:
        return SPELLINGS[word]
    if len(word) > 5 and word.isalpha():
        if "our" in word:
            word = _OUR.sub("or", word)
        word = _YSE.sub(r"yz\1", _ISE.sub(r"iz\1", word)) if "is" in word or "ys" in word else word
        doubled = _DOUBLED_L.search(word)
        if doubled and _TWO_SYLLABLES.search(word[max(0, doubled.start() - _LOOK_BACK) : doubled.start()]):
            return f"{word[: doubled.start()]}l{doubled.group(1)}"
    return word


_ONE_FORM = UNCOUNTABLE | OF_ITS_OWN


def singular(word: str) -> str:
    """The singular of a regular English plural; other words as they are."""
    if (
        len(word) < 4
        or word in UNCOUNTABLE
        or word in OF_ITS_OWN
        or not word.endswith("s")
        or word.endswith(("ss", "us", "is"))
    ):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "zzes", "sses")):
        return word[:-2]
    return word[:-1]
