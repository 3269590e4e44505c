"""Which bank a project folder uses when nobody names one."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from pathlib import PurePath

BANK_VARIABLE = "RECALL_BANK"
NAMELESS_BANK = "default"
LONGEST_NAME = 64


def bank_of_folder(folder: str) -> str:
    """The folder's name made a valid bank name: `/home/dana/My Project` uses the bank `my-project`."""
    name = unicodedata.normalize("NFKD", PurePath(folder.replace("\\", "/")).name).lower()
    without_accents = "".join(character for character in name if not unicodedata.combining(character))
    valid = re.sub(r"[^a-z0-9_]+", "-", without_accents).lstrip("-_")[:LONGEST_NAME].rstrip("-")
    return valid or NAMELESS_BANK


def choose_bank(asked: str | None, environ: Mapping[str, str], folder: str | None) -> str:
    """The bank asked for, else `RECALL_BANK`, else the folder's (the working folder's when it is None)."""
    return asked or environ.get(BANK_VARIABLE) or bank_of_folder(folder or os.getcwd())  # noqa: PTH109 - cheap import
