"""Identities: which metrics are the same function, or a function of one another; seen on tables, then proved.

Nothing is listed by hand: values on random tables show which metrics order all tables alike, an equation is fitted to
them, and the equation is proved for all tables.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.result import Flat, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.decisions import PROVED, REFUTED, Counterexample, Decision, Ruling, four_cells, unrefuted
from steelyard.auditing.laws import CLASS_SWAP
from steelyard.auditing.proof import AuditedMetric, on_all_tables
from steelyard.auditing.symbolic import never_negative
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.notation import plain_number
from steelyard.metrics.registry import get_metric, list_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from steelyard._types import Array
    from steelyard.auditing.symbolic import SymbolicSum
    from steelyard.metrics.registry import MetricLike


# ---------------------------------------------------------------- equations
# What may hold between two metrics, fitted to their values on many tables, and in words.


SIMPLE = 1000  # the largest denominator of a fitted coefficient


@dataclass(frozen=True)
class Equation:
    """An equation as words, and as what must vanish: of exact values and of symbolic sums alike."""

    relation: str
    words: str
    gap: Callable[..., Any]


def fitted_equations(x: str, y: str, a: Array, b: Array) -> Iterator[Equation]:
    """The equations of y by x worth trying, the simplest first."""
    yield Equation("equal", f"{y} = {x}", lambda a, b: b - a)
    low, high = a.argmin(), a.argmax()
    steepness = (b[high] - b[low]) / (a[high] - a[low])
    slope, start = _rational(steepness, b[low] - steepness * a[low])
    yield Equation("affine", f"{y} = {_linear(slope, start, x)}", lambda a, b: b - (a * slope + start))
    yield Equation("power", f"{x} = {y} ** 2", lambda a, b: a - b * b)
    yield Equation("power", f"{y} = {x} ** 2", lambda a, b: b - a * a)
    p, q, r, s = _rational(*_fractional(a, b))
    words = f"{y} = {_bracketed(_linear(p, q, x))} / {_bracketed(_linear(r, s, x))}"
    yield Equation("fractional", words, lambda a, b: b * (a * r + s) - (a * p + q))


def _fractional(a: Array, b: Array) -> Array:
    """The coefficients of b = (p a + q) / (r a + s), the least of r and s that is not 0 made 1 in size."""
    rows = np.stack([a, np.ones_like(a), -a * b, -b], -1)
    fitted: Array = np.linalg.svd(rows / np.abs(rows).max(1, keepdims=True))[2][-1]
    denominator = fitted[2:][np.abs(fitted[2:]) > 1e-6]
    if len(denominator):
        fitted = fitted / denominator[np.abs(denominator).argmin()]
    return -fitted if fitted[3] < 0 else fitted


def _rational(*values: float) -> list[Fraction]:
    return [Fraction(float(value)).limit_denominator(SIMPLE) for value in values]


def _linear(slope: Fraction, start: Fraction, name: str) -> str:
    """The words for slope * name + start, what is positive first."""
    if slope == 0:
        return _plain(start)
    times = name if abs(slope) == 1 else f"{_plain(abs(slope))} * {name}"
    if start == 0:
        return times if slope > 0 else f"-{times}"
    if slope < 0:
        return f"{_plain(start)} - {times}"
    return f"{times} {'+' if start > 0 else '-'} {_plain(abs(start))}"


def _plain(value: Fraction) -> str:
    return plain_number(float(value)) if Fraction(repr(float(value))) == value else f"({value})"


def _bracketed(words: str) -> str:
    return f"({words})" if " " in words else words


# ---------------------------------------------------------------- identities


_TABLES = 300
_EQUAL = 1e-9  # relative: tables up to 200 rows a cell lie further apart


@dataclass(frozen=True, eq=False)
class Identity(Flat):
    """A law between metrics that holds where all of them are defined, and how that is known."""

    metrics: tuple[str, ...]
    relation: str
    law: str
    verdict: str
    how: str


@names_wrong_arguments
def identities(metrics: Iterable[MetricLike] | None = None) -> Rows[Identity]:
    """Which metrics are equal, affine, fractional or power functions of one another, or order all tables alike.

    >>> [identity.law for identity in identities(["f1", "jaccard", "balanced_accuracy", "informedness"])]
    ['jaccard = f1 / (2 - f1)', 'informedness = 2 * balanced_accuracy - 1']
    """
    audited_metrics, values = _values_of(metrics)
    return Rows(
        _related(audited_metrics[i], audited_metrics[j], values[i], values[j])
        for i, j in itertools.combinations(range(len(audited_metrics)), 2)
        if _ordered_alike(values[i], values[j])
    )


def combinations(metrics: Iterable[MetricLike] | None = None) -> Rows[Identity]:
    """Which metrics are a simple function of two others: product, mean, harmonic or geometric mean, share, difference.

    Of metrics that are the same function one stands for all.

    >>> [identity.law for identity in combinations(["recall", "specificity", "tpnr"])]
    ['tpnr = recall * specificity']
    """
    audited_metrics, values = _values_of(metrics)
    distinct: list[int] = []
    for i in sorted(range(len(audited_metrics)), key=lambda i: (len(audited_metrics[i].metric.parameters), i)):
        if not any(_same(values[i], values[j]) for j in distinct):
            distinct.append(i)
    composed = _composed([audited_metrics[i] for i in distinct], values[distinct])
    examined = (_examined(equation, parts) for equation, parts in composed)
    return Rows(identity for identity in examined if identity)


def _values_of(metrics: Iterable[MetricLike] | None) -> tuple[list[AuditedMetric], Array]:
    """The metrics and their values on random tables without empty cells."""
    if isinstance(metrics, str):
        raise InputTypeError(f"Metrics are given as a list of names, not as the text {metrics!r}.")
    chosen = [m for m in list_metrics() if m.function] if metrics is None else [get_metric(m) for m in metrics]
    audited_metrics = [AuditedMetric(metric) for metric in chosen]
    return audited_metrics, np.array([audited.floats(_tables()) for audited in audited_metrics])


def _tables() -> Array:
    return np.random.default_rng(0).integers(1, 200, (_TABLES, 4))


def _same(a: Array, b: Array) -> bool:
    return bool(np.allclose(a, b, rtol=_EQUAL, atol=_EQUAL, equal_nan=True))


def _ordered_alike(a: Array, b: Array) -> bool:
    """Whether two metrics order the tables where both are defined alike, or one the other way round."""
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    if len(a) < _TABLES // 2:
        return False
    order, steps = np.argsort(a, kind="stable"), []
    for values in (a[order], b[order]):
        rise = np.diff(values)
        steps.append(np.where(np.abs(rise) > _EQUAL * np.maximum(1, np.abs(values[1:])), np.sign(rise), 0))
    of_a, of_b = steps
    return bool(of_a.any()) and (np.array_equal(of_a, of_b) or np.array_equal(of_a, -of_b))


# ---------------------------------------------------------------- one of one other


def _related(first: AuditedMetric, second: AuditedMetric, a: Array, b: Array) -> Identity:
    """The simplest equation that gives one metric from the other."""
    both = np.isfinite(a) & np.isfinite(b)
    for equation in fitted_equations(first.metric.name, second.metric.name, a[both], b[both]):
        identity = _examined(equation, (first, second))
        if identity is not None:
            return identity
    names = (first.metric.name, second.metric.name)
    how = "the same order of the tables; no law between the values was found"
    return Identity(names, "monotone", f"{names[1]} orders as {names[0]}", unrefuted(int(both.sum())), how)


# ---------------------------------------------------------------- one of two others


@dataclass(frozen=True)
class _Composition:
    """A way to make a metric of two others: in words, in floats, and as what must vanish."""

    relation: str
    words: str
    compute: Callable[[Array, Array], Array]
    gap: Callable[[Any, Any, Any], Any]
    is_ordered: bool = False  # b with c is not c with b
    is_squared: bool = False  # so that the sign is lost


_COMPOSITIONS = (
    _Composition("product", "{a} = {b} * {c}", lambda b, c: b * c, lambda a, b, c: a - b * c),
    _Composition("mean", "{a} = ({b} + {c}) / 2", lambda b, c: (b + c) / 2, lambda a, b, c: a + a - b - c),
    _Composition(
        "harmonic mean",
        "{a} = 2 * {b} * {c} / ({b} + {c})",
        lambda b, c: 2 * b * c / (b + c),
        lambda a, b, c: a * (b + c) - b * c - b * c,
    ),
    _Composition(
        "geometric mean",
        "{a} ** 2 = {b} * {c}",
        lambda b, c: np.sqrt(b * c),
        lambda a, b, c: a * a - b * c,
        is_squared=True,
    ),
    _Composition(
        "share", "{a} = {b} / ({b} + {c})", lambda b, c: b / (b + c), lambda a, b, c: a * (b + c) - b, is_ordered=True
    ),
    _Composition("difference", "{a} = {b} - {c}", lambda b, c: b - c, lambda a, b, c: a - b + c, is_ordered=True),
)


def _composed(
    audited_metrics: list[AuditedMetric], values: Array
) -> Iterator[tuple[Equation, tuple[AuditedMetric, ...]]]:
    """The equations with two other metrics that the values follow, each once, however it is turned round."""
    for composition in _COMPOSITIONS:
        seen: list[set[int]] = []
        for indices in _matches(composition, values):
            if set(indices) not in seen:
                seen.append(set(indices))
                parts = tuple(audited_metrics[i] for i in indices)
                names = dict(zip("abc", (part.metric.name for part in parts), strict=True))
                yield Equation(composition.relation, composition.words.format(**names), composition.gap), parts


def _matches(composition: _Composition, values: Array) -> Iterator[tuple[int, int, int]]:
    """The indices of metrics whose values are the composition of two others', up to a sign under a square."""
    targets = np.abs(values) if composition.is_squared else values
    for b, c in itertools.permutations(range(len(values)), 2):
        if b > c and not composition.is_ordered:
            continue
        with np.errstate(all="ignore"):
            composed = composition.compute(values[b], values[c])
        for a in np.flatnonzero(np.isclose(targets[:, 0], composed[0], rtol=1e-7, atol=_EQUAL)).tolist():
            if a not in (b, c) and _same(targets[a], composed):
                yield a, b, c


# ---------------------------------------------------------------- examined and proved


def _examined(equation: Equation, parts: tuple[AuditedMetric, ...]) -> Identity | None:
    """The equation with its verdict; None where a table breaks it."""
    names, examined = tuple(part.metric.name for part in parts), 0
    formulas = [part.formula for part in parts if part.formula]
    have_formulas = len(formulas) == len(parts)
    noise = Fraction(1e-45 if have_formulas else _EQUAL)
    for table in _tables().tolist():
        values = [Fraction(value) for part in parts if (value := part.value(table)) is not None]
        if len(values) == len(parts):
            examined += 1
            size = max(Fraction(1), *(value * value for value in values))
            if abs(equation.gap(*values)) > noise * size:
                return None

    def holds(*values: SymbolicSum) -> bool:
        return not equation.gap(*values).terms

    if have_formulas and on_all_tables(formulas, holds):
        return Identity(names, equation.relation, equation.words, PROVED, "algebra: equal for all cells")
    return Identity(names, equation.relation, equation.words, unrefuted(examined), parts[0].by_search)


# ---------------------------------------------------------------- harshness
# Whether one metric is nowhere kinder than another, on any table.


@names_wrong_arguments
def harsher(a: MetricLike, b: MetricLike) -> Decision:
    """Whether one metric is nowhere kinder than another: at most its value, or at least where lower is better.

    >>> harsher("g_mean", "balanced_accuracy").verdict
    'proved'
    """
    first, second = AuditedMetric(get_metric(a)), AuditedMetric(get_metric(b))
    directions = {first.metric.direction, second.metric.direction}
    if len(directions) > 1 or None in directions:
        raise InputError(
            f"{first.metric.name} and {second.metric.name} are not both better when higher, or both when lower; "
            "which is harsher is asked of two that are."
        )
    sign = 1 if directions == {"higher"} else -1
    return Decision(first.metric.name, f"harsher than {second.metric.name}", *_compared(first, second, sign))


def _compared(first: AuditedMetric, second: AuditedMetric, sign: int) -> Ruling:
    """The ruling by a table on which the first metric is kinder than the second, by algebra, or by neither."""
    examined = 0
    for table in [*CLASS_SWAP.small_cases, *CLASS_SWAP.random_cases()]:
        value, other = first.value(table), second.value(table)
        if value is not None and other is not None:
            examined += 1
            if all(audited.gap(value, other) * sign > 0 for audited in (first, second)):
                kinder = Counterexample(four_cells(table), None, str(value), str(other))
                return REFUTED, "a table, in exact arithmetic", kinder

    def below(low: SymbolicSum, high: SymbolicSum) -> bool:
        return never_negative(high - low if sign > 0 else low - high)

    if first.formula and second.formula and on_all_tables([first.formula, second.formula], below):
        return PROVED, "algebra: the sign of the difference, roots by their squares", None
    return unrefuted(examined), first.by_search, None
