"""Words that may stand for each other wherever one of them stands, when the vectors agree."""

from __future__ import annotations

from typing import Final

from consolidate.lexicon.spellings import pairs

SYNONYMS: Final[dict[str, str]] = pairs(
    "prefer/like prefers/like likes/like enjoy/like enjoys/like wants/want desire/want desires/want needs/need "
    "uses/use utilize/use utilizes/use lives/live resides/live reside/live works/work starts/start begins/start "
    "begin/start"
)
"""Not here, as they are no synonyms in "big brother", "fast bread", "requires him to come", "a purchase order", and
since a purchase that was made is not one that will be: large, quick, require, purchase."""

NO_SYNONYMS_BESIDE: Final[frozenset[str]] = frozenset(
    "not no never neither nor none nobody nothing without cannot hardly barely would should could might may must if "
    "unless than more most rather only".split()
)
"""Who does not prefer tea may like it, and who would prefer tea was offered something else."""
