"""Plurals that no rule forms, words that end like a plural and are none, and plurals that mean something else."""

from __future__ import annotations

from typing import Final

from consolidate.lexicon.spellings import pairs

IRREGULAR: Final[dict[str, str]] = pairs(
    "children/child men/man women/woman mice/mouse teeth/tooth people/person knives/knife wolves/wolf "
    "wives/wife shelves/shelf loaves/loaf thieves/thief calves/calf elves/elf geese/goose feet/foot "
    "criteria/criterion phenomena/phenomenon indices/index matrices/matrix vertices/vertex appendices/appendix "
    "heroes/hero potatoes/potato tomatoes/tomato echoes/echo vetoes/veto cacti/cactus fungi/fungus "
    "nuclei/nucleus alumni/alumnus stimuli/stimulus oxen/ox crises/crisis hypotheses/hypothesis "
    "diagnoses/diagnosis movies/movie cookies/cookie caches/cache headaches/headache aches/ache ties/tie "
    "pies/pie lies/lie calories/calorie selfies/selfie zombies/zombie hoodies/hoodie brownies/brownie "
    "rookies/rookie smoothies/smoothie buses/bus statuses/status viruses/virus bonuses/bonus campuses/campus "
    "choruses/chorus lenses/lens gases/gas aliases/alias atlases/atlas biases/bias canvases/canvas quizzes/quiz "
    "volcanoes/volcano mangoes/mango mosquitoes/mosquito niches/niche avalanches/avalanche moustaches/mustache"
)

UNCOUNTABLE: Final[frozenset[str]] = frozenset(
    "news glasses customs physics mathematics economics politics series species means always perhaps sometimes "
    "yes its this thus plus bus gas lens canvas christmas kubernetes redis postgres jenkins pandas keras sales "
    "goods clothes jeans pants shorts arms airs looks manners spirits savings does has was less unless across "
    "towards besides whereas his hers ours theirs yours us is as aws ios macos dns tls https css js paris texas "
    "kansas illinois arkansas vegas angeles philippines netherlands james charles thomas lucas chris nicholas".split()
)

OF_ITS_OWN: Final[frozenset[str]] = frozenset(
    "dozens hundreds thousands millions billions "
    "contents premises damages forces grounds woods irons odds briefs brains waters greens pains rights terms wits "
    "boxers slacks trunks tights overalls spectacles shades blinds headquarters barracks crossroads ethics acoustics "
    "athletics basics dynamics graphics optics tactics quarters provisions proceeds remains regards belongings "
    "earnings lodgings riches surroundings thanks valuables vitals humanities commons amends rapids finals "
    "ashes".split()
)
"""Plurals that are another thing than many of their singular: contents, premises, damages."""

SAME_IN_THE_PAST: Final[frozenset[str]] = frozenset(
    "put cut read let cost beat hit set shut quit hurt split spread bet cast burst shed thrust bid slit rid".split()
)
"""Verbs whose past is their plain form: who puts it there does so now, who put it there did so then."""

DETERMINERS: Final[frozenset[str]] = frozenset(
    "a an the this that these those my your his her its our their some any all no each every two three four of".split()
)
"""After these such a word is a noun."""

GIVEN_NAMES: Final[frozenset[str]] = frozenset(
    "adam andrea andrew carlo daniel david edward elia evan harold hank han hugh isaac jacob jen john jona jule luka "
    "marco mathia matia matthew mathew michael nicola niel nil owen peter phillip philip richard robert roger simon "
    "stephen steven thoma watt walter william parson perkin hick hawkin jenkin "
    "clement collin cummin dicken evan gibb hodge hopkin maddo mathew myer nathan oliver".split()
)
"""Names to which an s makes another name: Andrew and Andrews, Jen and Jens."""
