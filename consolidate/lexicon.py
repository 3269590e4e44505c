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
        "gonna": "going to", "wanna": "want to", "ok": "okay", "lemme": "let me",
        "gimme": "give me", "dunno": "do not know", "y'all": "you all",
    }.items()
}  # fmt: skip

FILLER: Final[frozenset[str]] = frozenset(
    "a an the really very actually basically quite please um uh certainly definitely also currently presently "
    "essentially indeed literally obviously kinda sorta".split()
)
"""Words that add nothing, except right after a negation ("not really")."""

OPENING_FILLER: Final[frozenset[str]] = frozenset(
    "so well oh hey okay just simply clearly honestly obviously literally truly kindly".split()
)
"""Words that add nothing at the very start; elsewhere they may ("sleeps well", "write clearly")."""

RESTRICTING_AFTER_JUST: Final[frozenset[str]] = frozenset(
    "a an the one for by in on at with after before not as enough this that these those my his her their".split()
)
"""After these, "just" means "only"."""

THAT_CLAUSE_VERBS: Final[frozenset[str]] = frozenset(
    "know knows say says said think thinks thought ensure ensures sure believe believes mean means require requires "
    "prefer prefers note notes remember so mentioned mentions hope hopes".split()
)
"""After these, "that" opens a clause and may be left out."""

ARTICLE_MATTERS_BEFORE: Final[frozenset[str]] = frozenset("few little most".split())
"""A few is not few, and the most is not most."""

WOULD_AFTER_D: Final[frozenset[str]] = frozenset("like love prefer rather be want need hate".split())

COMPOUNDS: Final[dict[tuple[str, str], str]] = {
    ("log", "in"): "login", ("log", "out"): "logout", ("set", "up"): "setup", ("back", "up"): "backup",
    ("time", "zone"): "timezone", ("code", "base"): "codebase", ("file", "name"): "filename",
    ("data", "base"): "database", ("white", "space"): "whitespace", ("web", "site"): "website",
    ("user", "name"): "username", ("work", "flow"): "workflow", ("time", "stamp"): "timestamp",
    ("host", "name"): "hostname", ("name", "space"): "namespace", ("check", "list"): "checklist",
}  # fmt: skip
"""Written as two words or one."""

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
practised practiced
practising practicing
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
are is
were was
has have
does do
goes go
children child
men man
women woman
mice mouse
teeth tooth
people person
cosy cozy
draught draft
kerb curb
mould mold
manoeuvre maneuver
paediatric pediatric
encyclopaedia encyclopedia
anaemia anemia
oestrogen estrogen
tumour tumor
parlour parlor
savour savor
splendour splendor
endeavour endeavor
flavoured flavored
favoured favored
calibre caliber
sabre saber
lustre luster
sombre somber
spectre specter
speciality specialty
sulphur sulfur
yoghurt yogurt
doughnut donut
disc disk
adviser advisor
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
odour odor
saviour savior
meagre meager
goitre goiter
mitre miter
centred centered
monologue monolog
prologue prolog
epilogue epilog
travelogue travelog
catalogued cataloged
cataloguing cataloging
fuelled fueled
fuelling fueling
dialled dialed
dialling dialing
duelled dueled
gruelling grueling
counsellor counselor
marvellous marvelous
woollen woolen
councillor councilor
chilli chili
fulfilment fulfillment
enrolment enrollment
wilful willful
distil distill
instil instill
greyed grayed
greying graying
greyish grayish
greyscale grayscale
sceptic skeptic
scepticism skepticism
aeroplane airplane
spilt spilled
leant leaned
leapt leaped
spoilt spoiled
likeable likable
sizeable sizable
loveable lovable
saleable salable
useable usable
whisky whiskey
cypher cipher
gaol jail
liquorice licorice
omelette omelet
carburettor carburetor
mollusc mollusk
phoney phony
routeing routing
licenced licensed
defenceless defenseless
anaesthetic anesthetic
anaesthetist anesthetist
anaesthesia anesthesia
paediatrician pediatrician
paediatrics pediatrics
haemoglobin hemoglobin
haemorrhage hemorrhage
haemophilia hemophilia
leukaemia leukemia
orthopaedic orthopedic
archaeology archeology
archaeologist archeologist
archaeological archeological
foetus fetus
foetal fetal
oesophagus esophagus
oedema edema
diarrhoea diarrhea
gynaecology gynecology
gynaecologist gynecologist
homoeopathy homeopathy
amoeba ameba
faeces feces
mediaeval medieval
palaeontology paleontology
aesthetic esthetic
manoeuvred maneuvered
manoeuvring maneuvering
café cafe
naïve naive
façade facade
cliché cliche
knives knife
wolves wolf
wives wife
shelves shelf
loaves loaf
thieves thief
calves calf
elves elf
geese goose
feet foot
criteria criterion
phenomena phenomenon
indices index
matrices matrix
vertices vertex
appendices appendix
heroes hero
potatoes potato
tomatoes tomato
echoes echo
vetoes veto
cacti cactus
fungi fungus
nuclei nucleus
alumni alumnus
stimuli stimulus
oxen ox
crises crisis
hypotheses hypothesis
diagnoses diagnosis
first 1st
second 2nd
third 3rd
fourth 4th
fifth 5th
sixth 6th
seventh 7th
eighth 8th
ninth 9th
tenth 10th
eleventh 11th
twelfth 12th
twentieth 20th
thirtieth 30th
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
quick fast
rapid fast
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

VALUE_CLASSES: Final[dict[str, frozenset[str]]] = {
    name: frozenset(members.split())
    for name, members in {
        "colour": "red blue green yellow purple cyan teal magenta orange pink brown black white gray beige violet navy "
        "turquoise maroon silver gold crimson indigo",
        "environment": "dev development staging prod production canary sandbox preprod qa",
        "language": "english german french spanish italian portuguese dutch polish russian chinese japanese korean "
        "swedish norwegian danish finnish greek turkish arabic hindi czech hungarian hebrew ukrainian",
        "programming language": "python java javascript typescript rust ruby kotlin swift php perl scala haskell "
        "erlang elixir golang fortran cobol lua",
        "device": "laptop desktop tablet smartphone",
        "size": "tiny small medium large",
        "kin": "mother father brother sister son daughter uncle aunt cousin nephew niece husband wife grandmother "
        "grandfather",
        "instrument": "guitar piano violin cello viola drum flute saxophone trumpet clarinet ukulele",
        "meal": "breakfast lunch dinner brunch",
        "science": "physics chemistry biology mathematics geology astronomy",
        "shell": "bash zsh fish powershell",
        "database": "postgres postgresql mysql sqlite mongodb mariadb cassandra redis memcached",
        "package manager": "npm yarn pnpm bun pip poetry conda",
        "room": "kitchen bathroom bedroom garage cellar basement attic",
        "editor": "vim neovim emacs nano sublime vscode helix",
        "layer": "frontend backend",
        "pet": "dog cat parrot hamster rabbit goldfish",
    }.items()
}
"""Closed classes of values."""
