"""Score rulings: whether a metric of scores stays at any prevalence, by proof over the scores of the two classes.

Another prevalence gives every positive k times the weight and leaves each class's distribution of scores as it is. A
metric that is written with the share of each class at each score therefore stays; for the others two tables show that
they move, with their exact values where the formula is one of fractions.
"""

from __future__ import annotations

import itertools
import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.decisions import PROVED, REFUTED, UNDEFINED, Ruling
from steelyard.auditing.symbolic import SymbolicField, Unprovable, is_available
from steelyard.exceptions import SteelyardError
from steelyard.metrics.spec_text import parse_form
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard.metrics.measure import Metric

Weights = tuple[int, ...]  # of one class, at each of the scores
Numbers = tuple[Fraction, ...]

SCORES = (Fraction(1, 5), Fraction(1, 2), Fraction(4, 5))
_TIMES = (2, 5)  # as many positives
_NEAR = 1e-9  # floats that differ by more are different values
_ENLARGED = 100  # for a metric that needs many rows


# ---------------------------------------------------------------- written with the shares of each class
# Each is given the share of the positives and of the negatives at each score, so that it cannot see the prevalence.


def _rates(positive: Numbers, negative: Numbers) -> list[tuple[Fraction, Fraction]]:
    """Recall and false positive rate at each threshold, from the highest score down; first where nothing is flagged."""
    found, alarms = (itertools.accumulate(reversed(shares), initial=Fraction(0)) for shares in (positive, negative))
    return list(zip(found, alarms, strict=True))


def _roc_auc(positive: Numbers, negative: Numbers, max_fpr: float | None = None, **_: Any) -> Fraction:
    end = Fraction(1) if max_fpr is None else Fraction(repr(float(max_fpr)))
    area = Fraction(0)
    for (low, left), (high, right) in itertools.pairwise(_rates(positive, negative)):
        inside = min(right, end)
        if left < inside:
            top = low + (high - low) * (inside - left) / (right - left)
            area += (inside - left) * (low + top) / 2
    least = end**2 / 2
    return area if end == 1 else (1 + (area - least) / (end - least)) / 2


def _gini(positive: Numbers, negative: Numbers) -> Fraction:
    return 2 * _roc_auc(positive, negative) - 1


def _ks(positive: Numbers, negative: Numbers) -> Fraction:
    return max(recall - alarms for recall, alarms in _rates(positive, negative))


def _recall_at_fpr(positive: Numbers, negative: Numbers, at: float) -> Fraction:
    return max(recall for recall, alarms in _rates(positive, negative) if alarms <= Fraction(repr(float(at))))


def _specificity_at_recall(positive: Numbers, negative: Numbers, at: float) -> Fraction:
    return max(1 - alarms for recall, alarms in _rates(positive, negative) if recall >= Fraction(repr(float(at))))


def _discrimination_slope(positive: Numbers, negative: Numbers) -> Fraction:
    return _mean_score(positive) - _mean_score(negative)


def _mean_score(shares: Numbers) -> Fraction:
    return sum((share * score for share, score in zip(shares, SCORES, strict=True)), Fraction(0))


OF_SHARES: dict[str, Callable[..., Fraction]] = {
    "roc_auc": _roc_auc,
    "gini": _gini,
    "ks": _ks,
    "recall_at_fpr": _recall_at_fpr,
    "specificity_at_recall": _specificity_at_recall,
    "discrimination_slope": _discrimination_slope,
}


# ---------------------------------------------------------------- written with the rows of each class


def _average_precision(positive: Weights, negative: Weights) -> Fraction:
    """Of what each threshold finds, the precision there, summed."""
    found = flagged = 0
    total = Fraction(0)
    for more, alarms in zip(reversed(positive), reversed(negative), strict=True):
        found, flagged = found + more, flagged + more + alarms
        total += more * Fraction(found, flagged) if more else 0
    return total / sum(positive)


def _negative_average_precision(positive: Weights, negative: Weights) -> Fraction:
    return _average_precision(negative[::-1], positive[::-1])


def _mean_average_precision(positive: Weights, negative: Weights) -> Fraction:
    return (_average_precision(positive, negative) + _negative_average_precision(positive, negative)) / 2


def _brier(positive: Weights, negative: Weights) -> Fraction:
    loss = sum((p * (1 - s) ** 2 + n * s**2 for p, n, s in zip(positive, negative, SCORES, strict=True)), Fraction(0))
    return loss / (sum(positive) + sum(negative))


def _brier_uncertainty(positive: Weights, negative: Weights) -> Fraction:
    return Fraction(sum(positive) * sum(negative), (sum(positive) + sum(negative)) ** 2)


def _brier_skill_score(positive: Weights, negative: Weights) -> Fraction:
    return 1 - _brier(positive, negative) / _brier_uncertainty(positive, negative)


def _observed_to_expected(positive: Weights, negative: Weights) -> Fraction:
    expected = sum(((p + n) * s for p, n, s in zip(positive, negative, SCORES, strict=True)), Fraction(0))
    return sum(positive) / expected


def _log_loss(positive: Weights, negative: Weights) -> Decimal:
    """To 60 digits."""
    digits = Context(prec=60)
    total = Decimal(0)
    for p, n, s in zip(positive, negative, SCORES, strict=True):
        for rows, stated in ((p, s), (n, 1 - s)):
            share = digits.divide(Decimal(stated.numerator), Decimal(stated.denominator))
            total = digits.subtract(total, digits.multiply(Decimal(rows), digits.ln(share)))
    return digits.divide(total, Decimal(sum(positive) + sum(negative)))


OF_ROWS: dict[str, Callable[[Weights, Weights], Fraction | Decimal]] = {
    "average_precision": _average_precision,
    "negative_average_precision": _negative_average_precision,
    "mean_average_precision": _mean_average_precision,
    "brier": _brier,
    "ranked_probability_score": _brier,
    "brier_uncertainty": _brier_uncertainty,
    "brier_skill_score": _brier_skill_score,
    "observed_to_expected": _observed_to_expected,
    "log_loss": _log_loss,
}


# ---------------------------------------------------------------- the ruling


def prevalence_ruling(metric: Metric) -> Ruling:
    """Whether the value stays when the positives become k times as many, at the scores that they have.

    >>> from steelyard import get_metric
    >>> prevalence_ruling(get_metric("average_precision"))[1]
    '1/2 for a positive at 0.8 and a negative at 0.8, 2/3 with twice as many positives (in exact arithmetic)'
    """
    compared = 0
    for positive, negative in _tables(metric):
        value = _value(metric, positive, negative)
        for times in _TIMES if value is not None else ():
            other = _value(metric, tuple(times * rows for rows in positive), negative)
            if value is None or other is None:
                continue
            compared += 1
            if abs(float(value) - float(other)) > _NEAR * max(1, abs(float(value))):
                return REFUTED, _moved(metric, positive, negative, times), None
    if not compared:
        return UNDEFINED, "undefined on every table of the claim", None
    if has_definition(metric) and _shares_stay():
        how = f"its code gives that on all {len(_small_tables()):,} small tables"
        return PROVED, f"algebra: it depends on the share of each class at each score, which stays; {how}", None
    return f"no counterexample among {compared:,} pairs of tables", "search; no proof found", None


def has_definition(metric: Metric) -> bool:
    """Whether it is written with the shares of each class, and its code has that value on all small tables."""
    definition = None if metric.is_own else OF_SHARES.get(parse_form(metric.name)[0])
    return definition is not None and all(
        math.isclose(
            float(definition(_shares(positive), _shares(negative), **metric.parameters)),
            float(metric(_table(positive, negative))),
            rel_tol=1e-12,
            abs_tol=1e-12,
        )
        for positive, negative in _small_tables()
    )


@cache
def _shares_stay() -> bool:
    """Whether algebra shows that the share of the positives at a score is the same with k times as many."""
    if not is_available():
        return False
    *rows, k = SymbolicField(("a", "b", "c", "k")).variables
    try:
        total = rows[0] + rows[1] + rows[2]
        more = rows[0] * k + rows[1] * k + rows[2] * k
        return not any((each * k / more - each / total).terms for each in rows)
    except Unprovable:
        return False


def _shares(rows: Weights) -> Numbers:
    return tuple(Fraction(each, sum(rows)) for each in rows)


@cache
def _small_tables() -> tuple[tuple[Weights, Weights], ...]:
    """All tables of up to two rows of each class at each score, the smallest first."""
    classes = [rows for rows in itertools.product(range(3), repeat=len(SCORES)) if sum(rows)]
    return tuple(sorted(itertools.product(classes, classes), key=lambda table: sum(map(sum, table))))


def _tables(metric: Metric) -> Iterator[tuple[Weights, Weights]]:
    """The tables on which it is tried: small ones, and of a metric that needs many rows larger ones."""
    if metric.least_rows is None:
        yield from _small_tables()
        return
    for table in _small_tables():
        positive, negative = (tuple(_ENLARGED * rows for rows in part) for part in table)
        yield positive, negative


def _value(metric: Metric, positive: Weights, negative: Weights) -> float | None:
    try:
        with np.errstate(all="ignore"):
            value = float(metric(_table(positive, negative)))
    except (SteelyardError, ArithmeticError):
        return None
    return value if math.isfinite(value) else None


def _table(positive: Weights, negative: Weights) -> ScoreTable:
    return ScoreTable(_class_scores(positive), _class_scores(negative))


def _class_scores(rows: Sequence[int]) -> ClassScores:
    counted = np.array(rows, dtype=np.int64)
    there = counted > 0
    return ClassScores(np.array([float(score) for score in SCORES])[there], counted[there])


def _moved(metric: Metric, positive: Weights, negative: Weights, times: int) -> str:
    """The two tables with the metric's values, exact where its formula is one of fractions."""
    more = tuple(times * rows for rows in positive)
    exact = None if metric.is_own else OF_ROWS.get(metric.name)
    values = [
        _value(metric, part, negative) if exact is None else _exact_text(exact(part, negative))
        for part in (positive, more)
    ]
    texts = [value if isinstance(value, str) else f"{value:.6g}" for value in values]
    rows = f"{_rows_text(positive, 'positive')} and {_rows_text(negative, 'negative')}"
    how = "floats" if exact is None else "exact arithmetic"
    more_rows = f"{'twice' if times == 2 else f'{times} times'} as many positives"
    return f"{texts[0]} for {rows}, {texts[1]} with {more_rows} (in {how})"


def _exact_text(value: Fraction | Decimal) -> str:
    return str(value) if isinstance(value, Fraction) else f"{value:.6g}"


def _rows_text(rows: Weights, name: str) -> str:
    parts = [
        f"{'a' if each == 1 else each} {name}{'s' * (each > 1)} at {float(score):g}"
        for each, score in zip(rows, SCORES, strict=True)
        if each
    ]
    return ", ".join(parts)
