"""Names that are words too, when no capital marks them."""

from __future__ import annotations

from typing import Final

NAMES_THAT_ARE_WORDS: Final[frozenset[str]] = frozenset(
    "times ram pet rest soap led pin sim ice map sad apple amazon target chase windows rails rust swift go java "
    "shell slack word excel stripe square zoom oracle mercury earth python ruby perl pearl rose frank grant jack "
    "drew pat rob sue art gene dawn faith hope joy grace ivy lily daisy summer april amber jade guy dick nick ray "
    "rich sandy cliff dale dean earl duke chile china turkey polish catholic orthodox democratic republican liberal "
    "conservative nice reading bath cork mobile buffalo phoenix orange subway delta united gap dove visa discover "
    "twitter bush gates jobs cook fox wolf stone banks young baker smith miller cooper mason hunter carter taylor "
    "potter fisher shepherd page booth bishop pope king queen may august march job mark bill will pierce chuck norm "
    "victor violet olive ginger pepper robin jay martin crow hazel heather holly basil carol harmony destiny chance "
    "hunt ford lincoln dodge jaguar puma nike nest ring echo alexa siri edge teams notion linear jira spring flask "
    "express ember spark hive pig storm beam kafka atom sublime eclipse".split()
)
