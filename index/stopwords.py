"""English words that carry no topic: they neither find a memory nor lengthen it.

Contractions are taken apart before the list is asked (``she'll`` → ``she``), so only forms without an
apostrophe stand here, among them the careless spellings people type (``dont``). "Not", "before", "up" and the like
stay in: with them the words around them find better (LoCoMo, development half: fraction@10 .623 against .620).
"""

from __future__ import annotations

_ARTICLES_AND_DETERMINERS = "a an the this that these those any each both other some such own same much many"
_PRONOUNS = (
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself it its itself they them their theirs themselves"
)
_QUESTION_WORDS = "what which who whom whose when where why how"
_VERBS = (
    "am is are was were be been being have has had having do does did doing done would could should can may might "
    "must shall will cannot get got"
)
_PREPOSITIONS = "at by for with about against between into through above below to from in on under of"
_CONJUNCTIONS = "and but if or because as until while than so nor"
_ADVERBS = "again further then once here there all only very too just now also often really kind"
_CARELESS = (
    "dont doesnt didnt cant couldnt wont wouldnt shouldnt isnt arent wasnt werent havent hasnt hadnt im ive youre "
    "theyre weve"
)

STOP_WORDS: frozenset[str] = frozenset(
    " ".join(
        (
            _ARTICLES_AND_DETERMINERS,
            _PRONOUNS,
            _QUESTION_WORDS,
            _VERBS,
            _PREPOSITIONS,
            _CONJUNCTIONS,
            _ADVERBS,
            _CARELESS,
        )
    ).split()
)
