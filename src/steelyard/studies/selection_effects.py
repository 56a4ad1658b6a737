"""The effects of the selection study: means over families, and between which numbers they can lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.metrics.registry import get_metric
from steelyard.studies.claims import ABOVE_0, Effect
from steelyard.studies.selection_models import model_makers

if TYPE_CHECKING:
    from steelyard._types import Array

    Range = tuple[float, float]

# Fewer families cannot show a difference at 5 % even where all agree on its sign: of five that is 2 / 2 ** 5, 0.06.
FEWEST_FAMILIES = 6
SHARES = (0.0, 1.0)


def rank_range() -> Range:
    """The first and the last rank of a model."""
    return 1.0, float(len(model_makers()))


def rank_differences() -> Range:
    """The range of a difference of two ranks."""
    first, last = rank_range()
    return first - last, last - first


def value_differences(metric: str) -> Range:
    """The range of a difference of two values of a metric."""
    low, high = get_metric(metric).range
    return low - high, high - low


def family_effect(name: str, families: Array, claimed: Range = ABOVE_0, possible: Range | None = None) -> Effect:
    """The mean over families, of a difference of ranks unless another range is given."""
    span = rank_differences() if possible is None else possible
    return Effect(name, families, claimed, possible=span, fewest=FEWEST_FAMILIES)


def family_interval_words(families: int) -> str:
    """Whether means over so many families have intervals, and which."""
    if families < FEWEST_FAMILIES:
        return f"without intervals, for which {FEWEST_FAMILIES} families are needed and {families} are here"
    return "with Student's 95 % intervals, limited to what is possible"


def family_interval(families: Array, possible: Range) -> tuple[float, float, float]:
    """The mean over families and its 95 % interval, inside what is possible; endless where they are too few."""
    return family_effect("", families, possible=possible).interval()
