"""Saddlepoint: the tail of a sum over rows drawn without replacement from each of two classes, far out as well.

The double saddlepoint of Skovgaard (1987), Journal of Applied Probability 24, for the sum given both class sizes, as
Booth and Butler (1990), Biometrika 77, use it for permutations. A permutation test would need as many draws as the tail
is rare; the saddlepoint's error is relative, so that it holds at 1e-7 as well as at 0.05.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.distributions import normal_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array

_STEPS = 80
_ATOMS = 300  # values that stand for all of a class
_ENDS = 50  # of the extreme values at either side that stand for themselves
_CHUNK = 500


class Atoms(NamedTuple):
    """The values of a class, those near each other as one, and how many rows each stands for."""

    values: Array
    rows: Array

    @classmethod
    def of(cls, values: Array) -> Atoms:
        """The values of a class; the extreme ones are kept as they are."""
        ordered = np.sort(values)
        if len(ordered) <= _ATOMS + 2 * _ENDS:
            return cls(ordered, np.ones(len(ordered)))
        inner = np.linspace(_ENDS, len(ordered) - _ENDS, _ATOMS + 1).astype(np.intp)
        starts = np.concatenate([np.arange(_ENDS), inner[:-1], np.arange(len(ordered) - _ENDS, len(ordered))])
        rows = np.diff(np.append(starts, len(ordered))).astype(np.float64)
        return cls(np.add.reduceat(ordered, starts) / rows, rows)


def tail_above(sums: Array, sizes: Array, weights: Array, classes: Sequence[Atoms]) -> Array:
    """The probability of a weighted sum as large or larger; `sizes` and `weights` have a column for each class.

    `sums` are of the values less the mean of their class, and lie above 0.
    """
    parts = [slice(start, start + _CHUNK) for start in range(0, len(sums), _CHUNK)]
    tails = [_tails(sums[part], sizes[part].astype(np.float64), weights[part], classes) for part in parts]
    return np.concatenate(tails) if tails else np.array([])


def _tails(sums: Array, sizes: Array, weights: Array, classes: Sequence[Atoms]) -> Array:
    totals = np.array([each.rows.sum() for each in classes])
    sizes = np.clip(sizes, 1e-9, totals - 1e-9)  # a class may have no row in a slice, or all of them
    spread = np.sqrt(sum_variance(sizes, weights, classes))
    values = [(weights[:, [i]] / spread[:, None]) * (each.values - _mean(each)) for i, each in enumerate(classes)]
    aim = sums / spread
    share = sizes / totals
    start = np.log(share / (1 - share))
    shift, tilt = start.copy(), np.minimum(aim, 3.0)
    for _ in range(_STEPS):
        step = _newton(shift, tilt, values, classes, sizes, aim)
        size = np.maximum(np.abs(step.tilt), np.abs(step.shift).max(-1))
        damped = np.minimum(1.0, 2.0 / np.maximum(size, 1e-300))
        tilt, shift = tilt - damped * step.tilt, shift - damped[:, None] * step.shift
        if (size < 1e-10).all():
            break
    return _skovgaard(start, shift, tilt, values, classes, sizes, aim)


def _mean(atoms: Atoms) -> float:
    return float(atoms.values @ atoms.rows / atoms.rows.sum())


def sum_variance(sizes: Array, weights: Array, classes: Sequence[Atoms]) -> Array:
    """The variance of the weighted sums of rows drawn without replacement."""
    total = np.zeros(len(sizes))
    for i, each in enumerate(classes):
        rows = each.rows.sum()
        spread = each.rows @ (each.values - _mean(each)) ** 2 / max(rows - 1, 1)
        total += weights[:, i] ** 2 * sizes[:, i] * (1 - sizes[:, i] / rows) * spread
    return np.maximum(total, 1e-300)


class _Step(NamedTuple):
    shift: Array
    tilt: Array
    inner: Array  # the determinant of the second derivatives, and
    sides: Array  # its part by the class sizes alone


def _newton(
    shift: Array, tilt: Array, values: Sequence[Array], classes: Sequence[Atoms], sizes: Array, aim: Array
) -> _Step:
    """A step towards the point at which both class sizes and the sum are as seen."""
    off, curve = -aim, np.zeros(len(aim))
    gaps, sides, mixed = np.zeros(shift.shape), np.zeros(shift.shape), np.zeros(shift.shape)
    for i, (each, value) in enumerate(zip(classes, values, strict=True)):
        share = 1 / (1 + np.exp(-np.clip(shift[:, [i]] + tilt[:, None] * value, -700, 700)))
        spread = share * (1 - share) * each.rows
        gaps[:, i] = share @ each.rows - sizes[:, i]
        off = off + (share * value) @ each.rows
        sides[:, i] = np.maximum(spread.sum(-1), 1e-300)
        mixed[:, i] = (spread * value).sum(-1)
        curve = curve + (spread * value**2).sum(-1)
    inner = np.maximum(curve - (mixed**2 / sides).sum(-1), 1e-300)
    by_tilt = (off - (mixed / sides * gaps).sum(-1)) / inner
    return _Step((gaps - mixed * by_tilt[:, None]) / sides, by_tilt, inner, sides)


def _skovgaard(
    start: Array,
    shift: Array,
    tilt: Array,
    values: Sequence[Array],
    classes: Sequence[Atoms],
    sizes: Array,
    aim: Array,
) -> Array:
    """The tail from the saddlepoint of the sum and both sizes, and that of the sizes alone."""
    end = _newton(shift, tilt, values, classes, sizes, aim)
    log_sum = -tilt * aim
    base = np.zeros(len(aim))
    before = np.zeros(shift.shape)
    for i, (each, value) in enumerate(zip(classes, values, strict=True)):
        log_sum = (
            log_sum + np.logaddexp(0, shift[:, [i]] + tilt[:, None] * value) @ each.rows - shift[:, i] * sizes[:, i]
        )
        rows = each.rows.sum()
        base += rows * np.logaddexp(0, start[:, i]) - start[:, i] * sizes[:, i]
        before[:, i] = sizes[:, i] * (1 - sizes[:, i] / rows)
    root = np.sqrt(np.maximum(2 * (base - log_sum), 1e-12))
    scaled = tilt * np.sqrt(end.inner * np.prod(end.sides / before, axis=-1))
    density = np.exp(-(root**2) / 2) / np.sqrt(2 * np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = normal_below(-root) + density * (1 / scaled - 1 / root)
    # A sum at the very end of what is possible has no saddlepoint; a bound from the mass there stands for it.
    usable = np.isfinite(tail) & (tail > 0) & (tilt > 0)
    return np.asarray(np.clip(np.where(usable, tail, np.exp(-(root**2) / 2)), 0.0, 1.0))
