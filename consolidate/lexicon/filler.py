"""What is said without saying anything, where it is so, and contractions.

Small on purpose. A word missing here costs a merge, never a fact.
"""

from __future__ import annotations

from typing import Final

CONTRACTIONS: Final[dict[str, tuple[str, ...]]] = {
    key: tuple(value.split())
    for key, value in {
        "can't": "can not", "cant": "can not", "cannot": "can not", "won't": "will not", "wont": "will not",
        "shan't": "shall not", "ain't": "is not", "dont": "do not", "doesnt": "does not", "didnt": "did not",
        "isnt": "is not", "arent": "are not", "wasnt": "was not", "werent": "were not", "hasnt": "has not",
        "havent": "have not", "hadnt": "had not", "shouldnt": "should not", "wouldnt": "would not",
        "couldnt": "could not", "mustnt": "must not", "im": "i am", "i'm": "i am", "ive": "i have", "i've": "i have",
        "i'll": "i will", "you're": "you are", "youre": "you are", "you've": "you have", "you'll": "you will",
        "we're": "we are", "we've": "we have", "we'll": "we will", "they're": "they are", "theyre": "they are",
        "they've": "they have", "they'll": "they will", "he'll": "he will", "she'll": "she will",
        "it's": "it is", "he's": "he is", "she's": "she is", "that's": "that is", "thats": "that is",
        "there's": "there is", "theres": "there is", "what's": "what is", "whats": "what is", "who's": "who is",
        "where's": "where is", "here's": "here is", "let's": "let us", "it'll": "it will",
        "gonna": "going to", "wanna": "want to", "ok": "okay", "lemme": "let me",
        "gimme": "give me", "dunno": "do not know", "y'all": "you all",
    }.items()
}  # fmt: skip

FILLER: Final[frozenset[str]] = frozenset(
    "a an the really very actually basically quite please um uh certainly definitely also currently presently "
    "essentially indeed literally obviously kinda sorta".split()
)
"""Words that add nothing, except right after a negation ("not really") or what comes near one ("almost certainly")."""

DEGREES: Final[frozenset[str]] = frozenset("really very actually quite definitely certainly truly".split())
"""Filler that counts beside a condition: "page me only if it is really urgent"."""

CONDITIONS: Final[frozenset[str]] = frozenset("only if unless until except".split())

NOT_BEFORE_FILLER: Final[frozenset[str]] = frozenset(
    "not never no almost nearly hardly barely scarcely rarely seldom practically virtually far".split()
)

OPENING_FILLER: Final[frozenset[str]] = frozenset(
    "so well oh ah hey okay honestly clearly obviously literally truly simply kindly yeah um uh".split()
)
"""Words that add nothing at the very start before a comma or a subject; "well water" and "truly random" stay."""

INTERJECTIONS: Final[frozenset[str]] = frozenset("oh ah um uh yeah".split())
"""Of these, those that are no other word."""

SUBJECTS: Final[frozenset[str]] = frozenset(
    "i you he she it we they the a an this these those there my your his her our their its user users everyone "
    "everybody nobody please".split()
)

IMPERATIVES: Final[frozenset[str]] = frozenset(
    "use keep run make do don't set put call ask tell go get let try add remove check send write read restart reload "
    "open close start stop save wait remember note think imagine know say give take type click follow look turn come "
    "help bring build push pull merge deploy ship test leave pass pick choose copy move delete install update create "
    "skip ignore avoid email ping press enter sign drop show explain be".split()
)

JUST_AFTER: Final[frozenset[str]] = frozenset(
    "i you he she it we they who user users has have had will would can could should to and that please let".split()
)
"""After these "just" may be left out; elsewhere it means "only"."""

JUST_BEFORE: Final[frozenset[str]] = frozenset(
    "got had went saw came made found took did said heard bought started finished moved joined learned wanted".split()
)
"""Before these "just" says when."""

JUST_AFTER_COPULA: Final[frozenset[str]] = frozenset("is are was were am be been".split())

RESTRICTING_AFTER_JUST: Final[frozenset[str]] = frozenset(
    "a an the one for by in on at with after before not as enough this that these those my his her their".split()
)
"""After these, "just" means "only"."""

THAT_CLAUSE_VERBS: Final[frozenset[str]] = frozenset(
    "know knows say says said think thinks thought ensure ensures sure believe believes mean means require requires "
    "prefer prefers note notes remember so mentioned mentions hope hopes".split()
)
"""After these, "that" opens a clause and may be left out."""

FINITE: Final[frozenset[str]] = frozenset(
    "is are was were has have had will would can could should must may might do does did".split()
)

PLEASED: Final[frozenset[str]] = frozenset("yourself yourselves me him her them us everyone everybody".split())
"""After these "please" is a verb."""

WOULD_AFTER_D: Final[frozenset[str]] = frozenset("like love prefer rather be want need hate".split())

NUMBER_WORDS: Final[dict[str, str]] = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
    if word != "one"  # "one" is a pronoun as often as a number
}
