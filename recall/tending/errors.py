"""What tending refuses.

TendingRefused
├── BankBusy   another run is on the bank   (bank, run)
└── Ending     the server is going down
"""
# ruff: noqa: N818 (the names are facts)

from __future__ import annotations


class TendingRefused(Exception):
    """Not now."""


class BankBusy(TendingRefused):
    """Another run is on the bank."""

    def __init__(self, bank: str, run: str) -> None:
        super().__init__(f"bank {bank!r} is being tended by run {run}; ask again when it is done")
        self.bank = bank
        self.run = run


class Ending(TendingRefused):
    """The server takes no new runs."""

    def __init__(self) -> None:
        super().__init__("the server is stopping; connect again")
