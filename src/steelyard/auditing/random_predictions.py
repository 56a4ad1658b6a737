"""Random predictions: whether their mean value depends on the classes' sizes and on how many rows are flagged."""

from __future__ import annotations

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

from steelyard.auditing.decisions import PROVED, REFUTED, UNDEFINED, Ruling
from steelyard.auditing.laws import NO_SKILL
from steelyard.auditing.proof import on_related_tables, proved

if TYPE_CHECKING:
    from steelyard.auditing.audited_metric import AuditedMetric
    from steelyard.auditing.exact_values import Value
    from steelyard.auditing.symbolic_sums import SymbolicSum

_LARGEST = 4  # rows of a class, in the margins that are examined


def constant_baseline(audited: AuditedMetric) -> Ruling:
    """Whether the mean over random predictions with given margins is the same for all margins.

    A value that is a straight line of the hits, given the margins, has on average what it has on the independent table.
    """
    sizes = itertools.product(range(1, _LARGEST + 1), repeat=2)
    margins = [(p, n, flagged) for p, n in sizes for flagged in range(1, p + n)]
    means = {given: mean for given in margins if (mean := _mean(audited, *given)) is not None}
    if not means:
        return UNDEFINED, "undefined for some predictions of all margins", None
    (first, value), *others = means.items()
    for given, mean in others:
        if audited.gap(mean, value) != 0:
            return REFUTED, f"mean over random predictions {_text(value, *first)}, {_text(mean, *given)}", None
    is_line = on_related_tables(audited, (*"abcdh",), _line, lambda _, *y: not (y[0] + y[2] - y[1] - y[1]).terms)
    if is_line and proved(audited, NO_SKILL):
        return PROVED, "algebra: a straight line of the hits, and the same on all independent tables", None
    return f"no counterexample among {len(means)} margins", audited.by_search, None


def _mean(audited: AuditedMetric, p: int, n: int, flagged: int) -> Value | None:
    """The mean over all ways to flag so many of p positives and n negatives; None where one of them is undefined."""
    hits = range(max(flagged - n, 0), min(flagged, p) + 1)
    values = [audited.value((t, p - t, flagged - t, n - flagged + t)) for t in hits]
    ways = [comb(p, t) * comb(n, flagged - t) for t in hits]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if all(isinstance(value, Fraction) for value in known):
        return sum((way * Fraction(value) for way, value in zip(ways, known, strict=True)), Fraction(0)) / sum(ways)
    with localcontext(prec=60):
        each = (
            value if isinstance(value, Decimal) else Decimal(value.numerator) / value.denominator for value in known
        )
        return sum((way * value for way, value in zip(ways, each, strict=True)), Decimal(0)) / sum(ways)


def _text(mean: Value, p: int, n: int, flagged: int) -> str:
    return f"{float(mean):.6g} (positives {p}, negatives {n}, flagged {flagged})"


def _line(
    tp: SymbolicSum, fn: SymbolicSum, fp: SymbolicSum, tn: SymbolicSum, h: SymbolicSum
) -> list[list[SymbolicSum]]:
    """Three tables of the same margins, with equally many hits more from one to the next."""
    return [[tp, fn + h + h, fp + h + h, tn], [tp + h, fn + h, fp + h, tn + h], [tp + h + h, fn, fp, tn + h + h]]
