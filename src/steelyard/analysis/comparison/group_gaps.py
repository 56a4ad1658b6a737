"""Gaps of groups: how far apart the groups are by the rates that notions of fairness compare, as fairlearn has them.

The difference is the largest minus the smallest rate, the ratio the smallest over the largest; of equalized odds, which
compare two rates, the worse of the two, or their mean. Numbers alone: which gap matters, and how much, no data say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.comparison.group_differences import largest_difference, smallest_ratio
from steelyard.analysis.results.rows import Flat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array

GAP_ROLES = ("demographic parity", "equal opportunity", "equalized odds", "predictive parity")
_FORMS: dict[str, Callable[[Array], Array]] = {"difference": largest_difference, "ratio": smallest_ratio}


@dataclass(frozen=True, eq=False)
class GroupGap(Flat):
    """One gap between groups, by fairlearn's name, with an interval that holds whatever groups are the extreme ones.

    `metric` is the rate that it is read from, `lowest` and `highest` are the groups that it lies between. The value is
    never the one of equal groups (0, or a ratio of 1), even of groups that are equal: `if_equal` is what these would
    show on average, None where that is not known.
    """

    name: str
    value: float
    low: float
    high: float
    if_equal: float | None = None
    metric: str = ""
    lowest: str = ""
    highest: str = ""
    undefined: str | None = None

    def row(self) -> dict[str, Any]:
        """The gap as a row of a table."""
        return {"gap": self.name, **{key: value for key, value in vars(self).items() if key != "name"}}


@dataclass(frozen=True)
class RateEnds:
    """A rate of all groups: the value, low and high of each, draws of them were they equal, and why it is undefined."""

    metric: str
    ends: Array
    drawn: Array | None = None
    undefined: str | None = None


def gaps_of(role: str, rates: Sequence[RateEnds], names: Sequence[str]) -> list[GroupGap]:
    """The gaps that compare these rates; the ends of the rates must hold for all pairs of all of them together."""
    gaps = []
    for form, answer in _FORMS.items():
        found = np.stack([answer(rate.ends) for rate in rates])
        equal = [None if rate.drawn is None else _gap(form, rate.drawn) for rate in rates]
        name = f"{role.replace(' ', '_')}_{form}"
        gaps.append(_worst(name, form, rates, found, equal, names))
        if len(rates) > 1:
            usual = None if any(draws is None for draws in equal) else _mean(np.mean(equal, axis=0))  # type: ignore[arg-type]  # all known
            why = next((rate.undefined for rate in rates if rate.undefined), None)
            value, low, high = found.mean(0).tolist()
            gaps.append(GroupGap(f"{name}[agg=mean]", value, low, high, usual, undefined=why))
    return gaps


def _worst(
    name: str,
    form: str,
    rates: Sequence[RateEnds],
    found: Array,
    equal: Sequence[Array | None],
    names: Sequence[str],
) -> GroupGap:
    """The gap of the rate that has the larger difference, or the smaller ratio."""
    undefined = next((rate.undefined for rate in rates if rate.undefined), None)
    values = found[:, 0]
    if np.isnan(values).any():
        where = "all rates are 0" if undefined is None else undefined
        return GroupGap(name, *(math.nan,) * 3, undefined=where)
    worst, far = (np.argmax, np.max) if form == "difference" else (np.argmin, np.min)
    place = int(worst(values))
    rate, value, low, high = rates[place], *(float(far(found[:, end])) for end in range(3))
    usual = None if any(draws is None for draws in equal) else _mean(far(np.stack(equal), axis=0))  # type: ignore[arg-type]  # all known
    lowest, highest = (names[int(at(rate.ends[:, 0]))] for at in (np.argmin, np.argmax))
    return GroupGap(name, value, low, high, usual, rate.metric, lowest, highest)


def _gap(form: str, drawn: Array) -> Array:
    """The gap of each draw of the rates."""
    if form == "difference":
        return np.asarray(drawn.max(-1) - drawn.min(-1))
    with np.errstate(invalid="ignore"):
        return np.asarray(drawn.min(-1) / drawn.max(-1))


def _mean(draws: Array) -> float:
    """The mean of the draws in which there is a gap; 0 over 0 is none."""
    defined = draws[~np.isnan(draws)]
    return float(defined.mean()) if len(defined) else math.nan
