"""Small words that tell a language. English wording rules are for English texts alone."""

from __future__ import annotations

from typing import Final

ENGLISH: Final[frozenset[str]] = frozenset(
    "the is are was were be been and of to in that for with on at from by not you this have has it it's i i'm my we "
    "our they their he she his her user users user's use can can't will must should would could don't doesn't "
    "never always all what who when how or but if your there after before".split()
)
FOREIGN: Final[frozenset[str]] = frozenset(
    # German, Dutch, Scandinavian
    "der das dem den und nicht ist ein eine einen einem einer mit auf für von zu zum zur er sie wir ich hat haben sind "
    "kein keine keinen nach aus bei beim noch auch mein meine meinen meiner meines dein deine seine ihre wird werden "
    "het een van niet ik zijn deze voor och att inte det jag som på og ikke jeg "
    # French, Spanish, Italian, Portuguese
    "le les est et pas une dans pour des du que avec sur il elle je tu nous vous ne sans mais ils elles cette qui "
    "el los las y una para con por lo su mi muy está pero yo nunca siempre sin che di gli non è sono anche della "
    "não os um uma em com são mais".split()
)
LOANED: Final[frozenset[str]] = frozenset(
    "café cafés naïve façade cliché clichés résumé fiancé fiancée décor crêpe crêpes jalapeño jalapeños entrée sauté "
    "sautéed déjà touché exposé pâté soufflé purée".split()
)
"""Words that English borrowed with their accents."""
