"""Judgement: what became of a rule in all rows or in a group."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.analysis.results.rows import Flat

PASS, FAIL, UNDECIDED, SKIPPED = "pass", "FAIL", "undefined", "left out"


@dataclass(frozen=True, eq=False, repr=False)
class Judgement(Flat):
    """What became of a rule: passed is None where it is undefined, or the group is too small and left out.

    `level` is that of the interval whose end is read, `power` how often rows like these catch a drop by the margin, or
    pass an equal model; both are None where the rule is on no interval of a difference.
    """

    passed: bool | None
    outcome: str
    rule: str
    group: str | None = None
    text: str = ""
    value: float = math.nan
    limit: float = math.nan
    low: float = math.nan
    high: float = math.nan
    level: float | None = None
    p_value: float | None = None
    power: float | None = None
    verdict: str | None = None
    why: str | None = None

    def __repr__(self) -> str:
        where = "" if self.group is None else f"{self.group}: "
        return f"{self.outcome}  {where}{self.text}"
