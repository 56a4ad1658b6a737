"""Identities: which metrics are the same function, or a function of one another; found on tables, then proved.

Used by reports and advice. Nothing is listed by hand: values on random tables tell which metrics order all tables
alike, a law is fitted to them, and the law is proved over letters.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.rows import Flat
from steelyard.auditing.audited_metric import Subject
from steelyard.auditing.decisions import PROVED, unrefuted
from steelyard.auditing.proof import on_all_tables
from steelyard.errors import InputTypeError
from steelyard.metrics.notation import plain_number
from steelyard.metrics.registry import get_metric, list_metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steelyard._types import Array
    from steelyard.auditing.exact_values import Formula
    from steelyard.auditing.symbols import Sum

_TABLES = 300
_EQUAL = 1e-9  # relative: tables up to 200 rows a cell lie further apart
SIMPLE = 1000  # the largest denominator of a fitted coefficient


@dataclass(frozen=True)
class Identity(Flat):
    """A law between metrics that holds where all of them are defined, and how that is known."""

    metrics: tuple[str, ...]
    relation: str
    law: str
    verdict: str
    how: str


@dataclass(frozen=True)
class Law:
    """A law as words, and as what must vanish: on exact values and over letters alike."""

    relation: str
    words: str
    gap: Callable[..., Any]


def identities(metrics: Iterable[Any] | None = None) -> list[Identity]:
    """Which metrics are equal, affine, fractional or power functions of one another, or order all tables alike.

    >>> [found.law for found in identities(["f1", "jaccard", "balanced_accuracy", "informedness"])]
    ['jaccard = f1 / (2 - f1)', 'informedness = 2 * balanced_accuracy - 1']
    """
    subjects, values = _measured(metrics)
    pairs = itertools.combinations(range(len(subjects)), 2)
    alike = [(i, j) for i, j in pairs if _ordered_alike(values[i], values[j])]
    return [_related(subjects[i], subjects[j], values[i], values[j]) for i, j in alike]


def combinations(metrics: Iterable[Any] | None = None) -> list[Identity]:
    """Which metrics are a simple function of two others: product, mean, harmonic or geometric mean, share, difference.

    Of metrics that are the same function one stands for all.

    >>> [found.law for found in combinations(["recall", "specificity", "tpnr"])]
    ['tpnr = recall * specificity']
    """
    subjects, values = _distinct(*_measured(metrics))
    return [found for law, parts in _composed(subjects, values) if (found := _examined(law, parts))]


def _measured(metrics: Iterable[Any] | None) -> tuple[list[Subject], Array]:
    """The metrics and their values on random tables without empty cells."""
    if isinstance(metrics, str):
        raise InputTypeError(f"Metrics are given as a list of names, not as the text {metrics!r}.")
    metrics = [m for m in list_metrics() if m.function] if metrics is None else [get_metric(m) for m in metrics]
    subjects = [Subject(metric) for metric in metrics]
    return subjects, np.array([subject.floats(_tables()) for subject in subjects])


def _tables() -> Array:
    return np.random.default_rng(0).integers(1, 200, (_TABLES, 4))


def _distinct(subjects: list[Subject], values: Array) -> tuple[list[Subject], Array]:
    kept: list[int] = []
    for i in sorted(range(len(subjects)), key=lambda i: (len(subjects[i].metric.parameters), i)):
        if not any(_same(values[i], values[j]) for j in kept):
            kept.append(i)
    return [subjects[i] for i in kept], values[kept]


def _same(a: Array, b: Array) -> bool:
    return bool(np.allclose(a, b, rtol=_EQUAL, atol=_EQUAL, equal_nan=True))


def _ordered_alike(a: Array, b: Array) -> bool:
    """Whether two metrics order the tables where both are defined alike, or one the other way round."""
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    if len(a) < _TABLES // 2:
        return False
    steps = [_steps(values[np.argsort(a, kind="stable")]) for values in (a, b)]
    return bool(steps[0].any()) and any(np.array_equal(steps[0], sign * steps[1]) for sign in (1, -1))


def _steps(values: Array) -> Array:
    rise = np.diff(values)
    return np.where(np.abs(rise) > _EQUAL * np.maximum(1, np.abs(values[1:])), np.sign(rise), 0)


# ---------------------------------------------------------------- one of one other


def _related(first: Subject, second: Subject, a: Array, b: Array) -> Identity:
    """The simplest law that gives one metric from the other."""
    both = np.isfinite(a) & np.isfinite(b)
    for law in _laws(first.metric.name, second.metric.name, a[both], b[both]):
        found = _examined(law, (first, second))
        if found is not None:
            return found
    names = (first.metric.name, second.metric.name)
    how = "the same order of the tables; no law between the values was found"
    return Identity(names, "monotone", f"{names[1]} orders as {names[0]}", unrefuted(int(both.sum())), how)


def _laws(x: str, y: str, a: Array, b: Array) -> Iterator[Law]:
    """The laws worth trying, the simplest first."""
    yield Law("equal", f"{y} = {x}", lambda a, b: b - a)
    slope, start = _rational(*_affine(a, b))
    yield Law("affine", f"{y} = {_linear(slope, start, x)}", lambda a, b: b - (a * slope + start))
    yield Law("power", f"{x} = {y} ** 2", lambda a, b: a - b * b)
    yield Law("power", f"{y} = {x} ** 2", lambda a, b: b - a * a)
    p, q, r, s = _rational(*_fractional(a, b))
    law = f"{y} = {_bracketed(_linear(p, q, x))} / {_bracketed(_linear(r, s, x))}"
    yield Law("fractional", law, lambda a, b: b * (a * r + s) - (a * p + q))


def _affine(a: Array, b: Array) -> tuple[float, float]:
    low, high = a.argmin(), a.argmax()
    slope = (b[high] - b[low]) / (a[high] - a[low])
    return slope, b[low] - slope * a[low]


def _fractional(a: Array, b: Array) -> Array:
    """The coefficients of b = (p a + q) / (r a + s), the least of r and s that is not 0 made 1 in size."""
    rows = np.stack([a, np.ones_like(a), -a * b, -b], -1)
    fitted: Array = np.linalg.svd(rows / np.abs(rows).max(1, keepdims=True))[2][-1]
    below = fitted[2:][np.abs(fitted[2:]) > 1e-6]
    fitted = fitted / below[np.abs(below).argmin()] if len(below) else fitted
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


# ---------------------------------------------------------------- one of two others


_Way = tuple[str, str, Callable[[Any, Any], Any], Callable[[Any, Any, Any], Any]]
_WAYS: tuple[_Way, ...] = (
    ("product", "{a} = {b} * {c}", lambda b, c: b * c, lambda a, b, c: a - b * c),
    ("mean", "{a} = ({b} + {c}) / 2", lambda b, c: (b + c) / 2, lambda a, b, c: a + a - b - c),
    (
        "harmonic mean",
        "{a} = 2 * {b} * {c} / ({b} + {c})",
        lambda b, c: 2 * b * c / (b + c),
        lambda a, b, c: a * (b + c) - b * c - b * c,
    ),
    (
        "geometric mean",
        "{a} ** 2 = {b} * {c}",
        lambda b, c: np.sqrt(b * c),
        lambda a, b, c: a * a - b * c,
    ),
    ("share", "{a} = {b} / ({b} + {c})", lambda b, c: b / (b + c), lambda a, b, c: a * (b + c) - b),
    ("difference", "{a} = {b} - {c}", lambda b, c: b - c, lambda a, b, c: a - b + c),
)
_ONE_WAY = ("share", "difference")  # of an ordered pair


def _composed(subjects: list[Subject], values: Array) -> Iterator[tuple[Law, tuple[Subject, ...]]]:
    """The laws of two other metrics that the values follow, up to a sign under a square."""
    size, told = np.abs(values), list[tuple[str, set[int]]]()
    for relation, words, compute, gap in _WAYS:
        kept = size if relation == "geometric mean" else values
        for b, c in itertools.permutations(range(len(subjects)), 2):
            if b > c and relation not in _ONE_WAY:
                continue
            with np.errstate(all="ignore"):
                target = compute(values[b], values[c])
            for a in np.flatnonzero(np.isclose(kept[:, 0], target[0], rtol=1e-7, atol=_EQUAL)).tolist():
                if a not in (b, c) and (relation, {a, b, c}) not in told and _same(kept[a], target):
                    told.append((relation, {a, b, c}))  # once, however it is turned round
                    parts = tuple(subjects[i] for i in (a, b, c))
                    names = dict(zip("abc", (part.metric.name for part in parts), strict=True))
                    yield Law(relation, words.format(**names), gap), parts


# ---------------------------------------------------------------- examined and proved


def _examined(law: Law, parts: tuple[Subject, ...]) -> Identity | None:
    """The law with its verdict; None where a table breaks it."""
    names, examined = tuple(part.metric.name for part in parts), 0
    formulas = [part.formula for part in parts if part.formula]
    noise = 1e-45 if len(formulas) == len(parts) else _EQUAL
    for table in _tables().tolist():
        values = [part.value(table) for part in parts]
        if None not in values:
            examined += 1
            if not _vanishes(law, values, noise):
                return None
    if len(formulas) == len(parts) and _proved(law, formulas):
        return Identity(names, law.relation, law.words, PROVED, "algebra: equal for all cells")
    return Identity(names, law.relation, law.words, unrefuted(examined), parts[0].by_search)


def _vanishes(law: Law, values: list[Any], noise: float) -> bool:
    exact = [Fraction(value) for value in values]
    size = max(Fraction(1), *(value * value for value in exact))
    return bool(abs(law.gap(*exact)) <= Fraction(noise) * size)


def _proved(law: Law, formulas: list[Formula]) -> bool:
    def holds(*values: Sum) -> bool:
        return not law.gap(*values).terms

    return on_all_tables(formulas, holds)
