"""True probabilities: whether one threshold on them is best for a metric, whatever the other rows are."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from steelyard.auditing.decisions import PROVED, REFUTED, Ruling, cells_text
from steelyard.auditing.proof import on_related_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.auditing.audited_metric import AuditedMetric
    from steelyard.auditing.symbolic_sums import SymbolicSum

_SMALL = [table for table in itertools.product(range(3), repeat=4) if sum(table)]
_GROUPS = [(1, 1), (2, 1), (1, 2), (3, 1), (1, 3), (1, 0), (0, 1)]
_PAYS = {-1: "costs", 0: "changes nothing", 1: "pays"}
_SCALES = ((0, 1, 2, 3), (0, 1), (2, 3))  # a value may be for each row, for each positive or for each negative


def fixed_threshold(audited: AuditedMetric) -> Ruling:
    """Whether flagging rows of some share of positives pays or not whatever the rows beside them are."""
    sign, examined = -1 if audited.metric.direction == "lower" else 1, 0
    for positives, negatives in _GROUPS:
        seen: dict[int, Sequence[int]] = {}
        for others in _SMALL:
            if (gain := _gain(audited, others, positives, negatives)) is not None:
                examined += 1
                seen.setdefault(sign * ((gain > 0) - (gain < 0)), others)
        if len(seen) > 1:
            where = ", ".join(f"{_PAYS[pays]} beside {cells_text(others)}" for pays, others in sorted(seen.items()))
            return REFUTED, f"flagging a group of {positives} positive and {negatives} negative rows {where}", None
    for scale in _SCALES:
        hit, alarm = (_gain_in_all(audited, scale, group) for group in ((1, 0), (0, 1)))
        if hit != alarm and on_related_tables(audited, (*"abcdmk",), _groups, partial(_is_sum, scale, hit, alarm)):
            return PROVED, f"algebra: the rows above {alarm / (alarm - hit)}", None
    return f"no counterexample among {examined:,} exact tables", audited.by_search, None


def _gain(audited: AuditedMetric, others: Sequence[int], m: int, k: int) -> Fraction | None:
    """What flagging m positives and k negatives adds beside other rows."""
    tp, fn, fp, tn = others
    flagged, left = audited.value((tp + m, fn, fp + k, tn)), audited.value((tp, fn + m, fp, tn + k))
    return None if flagged is None or left is None else Fraction(audited.gap(flagged, left))


def _gain_in_all(audited: AuditedMetric, scale: Sequence[int], group: tuple[int, int]) -> Fraction:
    """What a group adds beside one row of each cell, not for each row but in all."""
    rows = len(scale) + group[0] * (0 in scale) + group[1] * (3 in scale)
    return rows * (_gain(audited, (1, 1, 1, 1), *group) or Fraction(0))


def _groups(*variables: SymbolicSum) -> list[list[SymbolicSum]]:
    """Rows of a group flagged, and not, beside others."""
    a, b, c, d, m, k = variables
    return [[a + m, b, c + k, d], [a, b + m, c, d + k]]


def _is_sum(
    scale: Sequence[int], hit: Fraction, alarm: Fraction, variables: list[SymbolicSum], *values: SymbolicSum
) -> bool:
    """Whether what a group adds in all is so much for each positive and for each negative, whatever is beside it."""
    *_, m, k = variables
    table = _groups(*variables)[0]
    rows = sum((table[cell] for cell in scale[1:]), table[scale[0]])
    return not ((values[0] - values[1]) * rows - m * hit - k * alarm).terms
