"""Anytime mean: the mean of bounded amounts, such as costs or differences of costs, valid at every look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.levels import check_level
from steelyard.analysis.results.formatting import interval_text, p_text
from steelyard.analysis.results.rows import Flat
from steelyard.analysis.sequential.cost_table import CostTable
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputTypeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class MeanSequence(Flat):
    """A mean, its confidence sequence, and the p-value of `tested` that holds whenever one stops."""

    rows: int
    mean: float
    low: float
    high: float
    level: float
    tested: float | None = None
    p_value: float | None = None

    def __repr__(self) -> str:
        interval = interval_text(self.mean, self.low, self.high)
        test = "" if self.p_value is None else f"; {p_text(self.p_value)} that it is {self.tested:g}"
        return f"mean of {self.rows:,} rows {interval}, {100 * self.level:g} % anytime (betting){test}"


@names_wrong_arguments
def anytime_mean(
    amounts: ArrayLike, *, between: tuple[float, float], level: float = 0.95, tested: float | None = None
) -> MeanSequence:
    """The mean of bounded amounts, one for each row, with an interval that may be looked at after every row.

    `between` are the ends that no row can leave, such as (0, 5000) for the cost of a row, or (-5000, 5000) for the
    difference of two models' costs on the same rows. `tested` is a mean to be tested: the p-value holds at every look
    and whenever one stops. The interval is by betting (Waudby-Smith and Ramdas 2024).

    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.exponential(30, 400).clip(0, 500), rng.exponential(60, 400).clip(0, 500)
    >>> anytime_mean(first - second, between=(-500, 500), tested=0)
    mean of 400 rows -23.4 (-37.5 to -11.1), 95 % anytime (betting); p = 1.31e-05 that it is 0
    """
    check_level(level)
    try:
        low, high = (float(end) for end in between)
    except (TypeError, ValueError):
        raise InputTypeError(f"between= is two numbers, such as (0, 5000), not {between!r}.") from None
    table = CostTable.of(amounts, low, high)
    return sequence_of(table, level, tested)


def sequence_of(table: CostTable, level: float, tested: float | None = None) -> MeanSequence:
    """The mean of a table of amounts."""
    alpha, ratio = (1 - level) / 2, table.ratio
    if not table.rows:
        return MeanSequence(0, np.nan, table.low, table.high, level, tested, None if tested is None else 1.0)
    low, high = (float(end) for end in ratio.anytime_ends(table.weights, alpha, alpha))
    p_value = None
    if tested is not None:
        evidence = [ratio.log_evidence_below(table.weights, tested), ratio.log_evidence_above(table.weights, tested)]
        p_value = min(1.0, float(np.exp(np.log(2) - np.logaddexp(*evidence))))
    return MeanSequence(table.rows, table.mean, low, high, level, tested, p_value)
