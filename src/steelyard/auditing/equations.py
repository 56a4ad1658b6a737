"""Equations: what may hold between two metrics, fitted to their values on many tables, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.metrics.notation import plain_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array

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
    slope, start = _rational(*_affine(a, b))
    yield Equation("affine", f"{y} = {_linear(slope, start, x)}", lambda a, b: b - (a * slope + start))
    yield Equation("power", f"{x} = {y} ** 2", lambda a, b: a - b * b)
    yield Equation("power", f"{y} = {x} ** 2", lambda a, b: b - a * a)
    p, q, r, s = _rational(*_fractional(a, b))
    words = f"{y} = {_bracketed(_linear(p, q, x))} / {_bracketed(_linear(r, s, x))}"
    yield Equation("fractional", words, lambda a, b: b * (a * r + s) - (a * p + q))


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
