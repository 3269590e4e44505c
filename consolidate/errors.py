"""What can go wrong while a bank is tended.

TendingError
├── PortError            the bank refused or could not do something     (problem)
├── PlanningError        the planning process broke or took too long    (problem)
├── Stopped              the run was told to stop between two steps
└── JudgeError           the judge gave nothing that can be used        (problem)
    ├── JudgeUnavailable it does not answer; another try may help
    └── BudgetSpent      the run may ask no more
"""
# ruff: noqa: N818 (the names are facts)

from __future__ import annotations


class TendingError(Exception):
    """Root of what this package raises on purpose."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class PortError(TendingError):
    """The bank refused, or the disk did."""


class PlanningError(TendingError):
    """There is no plan."""


class Stopped(TendingError):
    """The run ends early; what it did stands."""

    def __init__(self) -> None:
        super().__init__("the run was stopped; the next one goes on")


class JudgeError(TendingError):
    """Whatever the judge said is void."""


class JudgeUnavailable(JudgeError):
    """Nobody answers, or not in time."""


class BudgetSpent(JudgeError):
    """The run has asked as often as it may."""
