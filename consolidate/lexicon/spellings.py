"""One word in two spellings, in two forms, or short and long. Nothing here has a second meaning that the other lacks.

"doc" is a doctor too, an "app" is no application for a job, and Prolog is no prologue: such pairs are not listed.
"""

from __future__ import annotations

from typing import Final


def pairs(text: str) -> dict[str, str]:
    """Two words joined by a slash become a key and its value."""
    return dict(pair.split("/") for pair in text.split())


SPELLINGS: Final[dict[str, str]] = {
    # British and American, old and new
    **pairs(
        "colour/color colours/color favourite/favorite favour/favor behaviour/behavior neighbour/neighbor "
        "neighbourhood/neighborhood labour/labor honour/honor humour/humor flavour/flavor harbour/harbor "
        "rumour/rumor vapour/vapor armour/armor coloured/colored colouring/coloring favourites/favorite "
        "centre/center theatre/theater metre/meter litre/liter kilometre/kilometer centimetre/centimeter "
        "millimetre/millimeter fibre/fiber grey/gray licence/license defence/defense offence/offense "
        "pretence/pretense practise/practice practised/practiced practising/practicing catalogue/catalog "
        "dialogue/dialog analogue/analog programme/program cheque/check tyre/tire aluminium/aluminum "
        "jewellery/jewelry pyjamas/pajamas pyjama/pajama moustache/mustache plough/plow sceptical/skeptical "
        "enrol/enroll fulfil/fulfill skilful/skillful instalment/installment judgement/judgment "
        "acknowledgement/acknowledgment ageing/aging artefact/artifact organisation/organization realise/realize "
        "organise/organize optimise/optimize analyse/analyze storey/story mum/mom cosy/cozy draught/draft kerb/curb "
        "mould/mold manoeuvre/maneuver paediatric/pediatric encyclopaedia/encyclopedia anaemia/anemia "
        "oestrogen/estrogen tumour/tumor parlour/parlor savour/savor splendour/splendor endeavour/endeavor "
        "flavoured/flavored favoured/favored calibre/caliber sabre/saber lustre/luster sombre/somber "
        "spectre/specter speciality/specialty sulphur/sulfur yoghurt/yogurt doughnut/donut disc/disk "
        "adviser/advisor maths/math learnt/learned burnt/burned dreamt/dreamed spelt/spelled whilst/while "
        "amongst/among towards/toward afterwards/afterward backwards/backward forwards/forward anyways/anyway "
        "okay/ok odour/odor saviour/savior meagre/meager goitre/goiter mitre/miter centred/centered "
        "monologue/monolog epilogue/epilog travelogue/travelog catalogued/cataloged cataloguing/cataloging "
        "fuelled/fueled fuelling/fueling dialled/dialed dialling/dialing duelled/dueled gruelling/grueling "
        "counsellor/counselor marvellous/marvelous woollen/woolen councillor/councilor chilli/chili "
        "fulfilment/fulfillment enrolment/enrollment wilful/willful distil/distill instil/instill greyed/grayed "
        "greying/graying greyish/grayish greyscale/grayscale sceptic/skeptic scepticism/skepticism "
        "aeroplane/airplane spilt/spilled leant/leaned leapt/leaped spoilt/spoiled likeable/likable "
        "sizeable/sizable loveable/lovable saleable/salable useable/usable gaol/jail liquorice/licorice "
        "omelette/omelet carburettor/carburetor mollusc/mollusk phoney/phony routeing/routing licenced/licensed "
        "defenceless/defenseless anaesthetic/anesthetic anaesthetist/anesthetist anaesthesia/anesthesia "
        "paediatrician/pediatrician paediatrics/pediatrics haemoglobin/hemoglobin haemorrhage/hemorrhage "
        "haemophilia/hemophilia leukaemia/leukemia orthopaedic/orthopedic archaeology/archeology "
        "archaeologist/archeologist archaeological/archeological foetus/fetus foetal/fetal oesophagus/esophagus "
        "oedema/edema diarrhoea/diarrhea gynaecology/gynecology gynaecologist/gynecologist homoeopathy/homeopathy "
        "amoeba/ameba faeces/feces mediaeval/medieval palaeontology/paleontology aesthetic/esthetic "
        "manoeuvred/maneuvered manoeuvring/maneuvering café/cafe naïve/naive façade/facade cliché/cliche"
    ),
    # forms of one verb, which follow its subject
    **pairs("are/is were/was has/have does/do goes/go"),
    # short and long
    **pairs(
        "repo/repository info/information config/configuration fridge/refrigerator phone/telephone tv/television "
        "photo/photograph"
    ),
    # ordinals
    **pairs(
        "first/1st second/2nd third/3rd fourth/4th fifth/5th sixth/6th seventh/7th eighth/8th ninth/9th tenth/10th "
        "eleventh/11th twelfth/12th twentieth/20th thirtieth/30th"
    ),
}

COMPOUNDS: Final[dict[tuple[str, str], str]] = {
    ("log", "in"): "login", ("log", "out"): "logout", ("set", "up"): "setup", ("back", "up"): "backup",
    ("time", "zone"): "timezone", ("code", "base"): "codebase", ("file", "name"): "filename",
    ("data", "base"): "database", ("white", "space"): "whitespace", ("web", "site"): "website",
    ("user", "name"): "username", ("work", "flow"): "workflow", ("time", "stamp"): "timestamp",
    ("host", "name"): "hostname", ("name", "space"): "namespace", ("check", "list"): "checklist",
}  # fmt: skip
"""Written as two words or one."""

VERB_AND_PARTICLE: Final[frozenset[tuple[str, str]]] = frozenset(
    {("log", "in"), ("log", "out"), ("set", "up"), ("back", "up")}
)
"""One word only as a noun: "see the log in the folder" speaks of no login."""

NOUN_AFTER: Final[frozenset[str]] = frozenset(
    "page pages form screen button flow url token name session attempt attempts prompt error errors failure failures "
    "credentials script guide process wizard job jobs file files policy is was fails failed takes works".split()
)
"""What follows a compound that is a noun."""
