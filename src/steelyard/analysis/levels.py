"""Levels: the probability that an interval is given with, and the two tails that it leaves."""

from __future__ import annotations

import numpy as np

from steelyard.exceptions import InputError


def check_level(level: float) -> None:
    """Refuse what is no level of an interval."""
    if not (isinstance(level, (int, float, np.number)) and 0 < level < 1):
        raise InputError(argument="level", expected="a probability above 0 and below 1, such as 0.95", given=level)


def tails(level: float) -> tuple[float, float]:
    """The two quantiles of the draws that are the bounds of an interval."""
    return (1 - level) / 2, (1 + level) / 2
