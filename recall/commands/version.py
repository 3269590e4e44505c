"""`recall version`: the release of this command line."""

from __future__ import annotations

import json
from importlib.metadata import version as release

from recall.commands.options import Json
from recall.commands.output import line

DISTRIBUTION = "recall-service"


def version(as_json: Json = False) -> None:
    """Shows the release; `recall status` shows the server's."""
    number = release(DISTRIBUTION)
    line(json.dumps({"version": number}) if as_json else f"recall {number}")
