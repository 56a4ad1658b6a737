"""Pair wins: of each pair of models by how many metrics one is better than the other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.analysis.results.rows import Flat, Rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.analysis.comparison.paired_difference import Difference


@dataclass(frozen=True, eq=False)
class PairWins(Flat):
    """The metrics by which a is better than b and b than a, by which neither is shown to be, and which were not tested.

    Shown by Holm's p-value of all pairs and metrics of the comparison together; undefined values count for neither.
    """

    a: str
    b: str
    by_a: tuple[str, ...]
    by_b: tuple[str, ...]
    undecided: tuple[str, ...]
    untested: tuple[str, ...] = ()


def pair_wins(rows: Iterable[Difference], level: float) -> Rows[PairWins]:
    """The wins of every pair, in the order of the rows."""
    pairs: dict[tuple[str, str], list[Difference]] = {}
    for row in rows:
        pairs.setdefault((row.a, row.b), []).append(row)
    return Rows(_wins(a, b, of_pair, level) for (a, b), of_pair in pairs.items())


def _wins(a: str, b: str, rows: list[Difference], level: float) -> PairWins:
    compared = [row for row in rows if row.spec.sign and math.isfinite(row.difference)]
    gains = {row.metric: row.spec.sign * row.difference for row in compared if row.p_holm < 1 - level}
    by_a = tuple(metric for metric, gain in gains.items() if gain > 0)
    by_b = tuple(metric for metric, gain in gains.items() if gain < 0)
    untested = tuple(row.metric for row in compared if math.isnan(row.p_holm))
    undecided = tuple(row.metric for row in compared if row.metric not in (*by_a, *by_b, *untested))
    return PairWins(a, b, by_a, by_b, undecided, untested)
