"""Word lists: what counts as the same wording, and what as an opposite.

Small on purpose. A word missing from a list of sameness costs a merge, never a fact; opposites that are missing here
are still kept from merging, because texts whose content words differ never merge unasked.
"""

from __future__ import annotations

from typing import Final


def _pairs(text: str) -> dict[str, str]:
    return dict(line.split() for line in text.strip().splitlines())


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
        "where's": "where is", "here's": "here is", "let's": "let us", "lets": "let us", "it'll": "it will",
        "gonna": "going to", "wanna": "want to", "gotta": "got to", "'em": "them", "ok": "okay",
    }.items()
}  # fmt: skip

FILLER: Final[frozenset[str]] = frozenset(
    "a an the just really very actually basically simply quite please well so oh um uh hey literally certainly "
    "definitely honestly obviously clearly truly also too that".split()
)

SPELLINGS: Final[dict[str, str]] = _pairs(
    """
colour color
colours color
favourite favorite
favour favor
behaviour behavior
neighbour neighbor
neighbourhood neighborhood
labour labor
honour honor
humour humor
flavour flavor
harbour harbor
rumour rumor
vapour vapor
armour armor
coloured colored
colouring coloring
favourites favorite
centre center
theatre theater
metre meter
litre liter
kilometre kilometer
centimetre centimeter
millimetre millimeter
fibre fiber
grey gray
licence license
defence defense
offence offense
pretence pretense
practise practice
catalogue catalog
dialogue dialog
analogue analog
programme program
cheque check
tyre tire
aluminium aluminum
jewellery jewelry
pyjamas pajamas
pyjama pajama
moustache mustache
plough plow
sceptical skeptical
enrol enroll
fulfil fulfill
skilful skillful
instalment installment
judgement judgment
acknowledgement acknowledgment
ageing aging
artefact artifact
organisation organization
realise realize
organise organize
optimise optimize
analyse analyze
storey story
mum mom
maths math
learnt learned
burnt burned
dreamt dreamed
spelt spelled
whilst while
amongst among
towards toward
afterwards afterward
backwards backward
forwards forward
anyways anyway
okay ok
repo repository
app application
docs document
doc document
info information
config configuration
fridge refrigerator
phone telephone
tv television
photo photograph
"""
)

NUMBER_WORDS: Final[dict[str, str]] = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
    if word != "one"  # "one" is a pronoun as often as a number
}

UNCOUNTABLE: Final[frozenset[str]] = frozenset(
    "news glasses customs physics mathematics economics politics series species means always perhaps sometimes "
    "yes its this thus plus bus gas lens canvas christmas kubernetes redis postgres jenkins pandas keras sales "
    "goods clothes jeans pants shorts arms airs looks manners spirits savings does has was less unless across "
    "towards besides whereas his hers ours theirs yours us is as aws ios macos dns tls https css js paris texas "
    "kansas illinois arkansas vegas angeles philippines netherlands james charles thomas lucas chris nicholas".split()
)

SYNONYMS: Final[dict[str, str]] = _pairs(
    """
prefer like
prefers like
likes like
enjoy like
enjoys like
wants want
desire want
desires want
needs need
requires need
require need
uses use
utilize use
utilizes use
lives live
resides live
reside live
works work
purchased bought
purchase buy
buys buy
starts start
begins start
begin start
large big
huge big
small little
quick fast
rapid fast
begun started
ended finished
ends end
finish end
finishes end
"""
)

OPPOSITES: Final[tuple[tuple[str, str], ...]] = tuple(
    (left, right)
    for left, right in (
        pair.split("/")
        for pair in (
            "always/never always/rarely often/rarely often/never always/sometimes enable/disable enabled/disabled "
            "allow/deny allow/forbid allow/block allowed/denied allowed/forbidden permit/forbid permitted/forbidden "
            "like/dislike likes/dislikes like/hate likes/hates love/hate loves/hates prefer/avoid prefers/avoids "
            "use/avoid uses/avoids before/after increase/decrease increased/decreased increases/decreases "
            "increasing/decreasing raise/lower raised/lowered rise/fall rises/falls rose/fell up/down on/off in/out "
            "open/closed open/close opened/closed start/stop started/stopped starts/stops start/end begin/end "
            "accept/reject accepted/rejected approve/reject approved/rejected include/exclude included/excluded "
            "includes/excludes add/remove added/removed adds/removes with/without more/less most/least "
            "more/fewer above/below over/under left/right first/last early/late earlier/later fast/slow "
            "faster/slower quick/slow hot/cold warm/cool high/low higher/lower big/small large/small "
            "larger/smaller bigger/smaller long/short longer/shorter old/new older/newer young/old strong/weak "
            "good/bad better/worse best/worst true/false yes/no right/wrong correct/incorrect valid/invalid "
            "public/private internal/external inside/outside upstream/downstream push/pull read/write reads/writes "
            "import/export send/receive sends/receives sent/received buy/sell bought/sold buys/sells "
            "lend/borrow lent/borrowed give/take gave/took win/lose won/lost pass/fail passed/failed passes/fails "
            "success/failure succeed/fail succeeded/failed safe/unsafe safe/dangerous light/dark day/night "
            "morning/evening am/pm minimum/maximum min/max required/optional mandatory/optional sync/async "
            "synchronous/asynchronous manual/automatic manually/automatically online/offline local/remote "
            "single/married alive/dead male/female husband/wife mother/father son/daughter brother/sister "
            "north/south east/west ascending/descending arrive/leave arrived/left arrives/leaves join/leave "
            "joined/left hire/fire hired/fired promote/demote promoted/demoted agree/disagree agrees/disagrees "
            "trust/distrust trusts/distrusts active/inactive available/unavailable possible/impossible "
            "legal/illegal able/unable happy/unhappy full/empty cheap/expensive easy/hard easy/difficult "
            "simple/complex rich/poor wet/dry vegan/carnivore vegetarian/carnivore tabs/spaces tab/space "
            "upgrade/downgrade upgraded/downgraded install/uninstall installed/uninstalled lock/unlock "
            "locked/unlocked encrypt/decrypt connect/disconnect connected/disconnected mount/unmount "
            "same/different same/opposite both/neither either/neither everyone/nobody everyone/none "
            "everything/nothing all/none all/some some/none any/none"
        ).split()
    )
)
