"""Score test: whether a metric of scores is worse inside a slice than its class sizes alone explain, by influences.

The influence of a row is how much the metric changes with it. The sum of a slice's influences is compared with that of
as many rows of each class drawn at random, by the saddlepoint, which holds far out in the tail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.distributions import normal_below
from steelyard.analysis.intervals.influence import score_influence
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.slices.count_tests import Estimates, findable_sizes, normal_findable
from steelyard.exceptions import InputError
from steelyard.tables.array_tables import score_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.results.result import Rows
    from steelyard.analysis.slices.slices import Candidates
    from steelyard.analysis.slices.slices_result import Findable
    from steelyard.frames.features import SliceRows, SliceTable
    from steelyard.metrics.measure import Metric
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- saddlepoint
# The tail of a sum over rows drawn without replacement from each of two classes, far out as well.
#
# The double saddlepoint of Skovgaard (1987), Journal of Applied Probability 24, for the sum given both class sizes, as
# Booth and Butler (1990), Biometrika 77, use it for permutations. A permutation test would need as many draws as the
# tail is rare; the saddlepoint's error is relative, so that it holds at 1e-7 as well as at 0.05.


_STEPS = 80
_ATOMS = 300  # values that stand for all of a class
_EXTREMES = 50  # values at either side that stand for themselves
_CHUNK = 500


class Atoms(NamedTuple):
    """The values of a class, those near each other as one, and how many rows each stands for."""

    values: Array
    rows: Array

    @classmethod
    def of(cls, values: Array) -> Atoms:
        """The values of a class; the extreme ones are kept as they are."""
        ordered = np.sort(values)
        if len(ordered) <= _ATOMS + 2 * _EXTREMES:
            return cls(ordered, np.ones(len(ordered)))
        inner = np.linspace(_EXTREMES, len(ordered) - _EXTREMES, _ATOMS + 1).astype(np.intp)
        starts = np.concatenate([np.arange(_EXTREMES), inner[:-1], np.arange(len(ordered) - _EXTREMES, len(ordered))])
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
    from scipy.special import logit

    totals = np.array([each.rows.sum() for each in classes])
    sizes = np.clip(sizes, 1e-9, totals - 1e-9)  # a class may have no row in a slice, or all of them
    deviation = np.sqrt(sum_variance(sizes, weights, classes))
    values = [(weights[:, [i]] / deviation[:, None]) * (each.values - _mean(each)) for i, each in enumerate(classes)]
    aim = sums / deviation
    start = logit(sizes / totals)
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
        variance = each.rows @ (each.values - _mean(each)) ** 2 / max(rows - 1, 1)
        total += weights[:, i] ** 2 * sizes[:, i] * (1 - sizes[:, i] / rows) * variance
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
    from scipy.special import expit

    off, curve = -aim, np.zeros(len(aim))
    gaps, sides, mixed = np.zeros(shift.shape), np.zeros(shift.shape), np.zeros(shift.shape)
    for i, (each, value) in enumerate(zip(classes, values, strict=True)):
        share = expit(shift[:, [i]] + tilt[:, None] * value)
        variance = share * (1 - share) * each.rows
        gaps[:, i] = share @ each.rows - sizes[:, i]
        off = off + (share * value) @ each.rows
        sides[:, i] = np.maximum(variance.sum(-1), 1e-300)
        mixed[:, i] = (variance * value).sum(-1)
        curve = curve + (variance * value**2).sum(-1)
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
    # The largest sum that is possible has no saddlepoint; a bound of its probability stands for it.
    usable = np.isfinite(tail) & (tail > 0) & (tilt > 0)
    return np.asarray(np.clip(np.where(usable, tail, np.exp(-(root**2) / 2)), 0.0, 1.0))


# ---------------------------------------------------------------- score test


_SCREEN = 1.5  # standard errors from which on a tail is computed; 1 stands for the others, which is cautious


@dataclass(frozen=True)
class ScoreTest:
    """A metric of scores on rows in memory: the outcome of a row is its class, its value how bad its influence is."""

    metric: Metric
    rows: SliceRows
    scores: Array

    counted, errors = "positives", ""

    @classmethod
    def of(cls, metric: Metric, rows: SliceRows, positive: Array, scores: Array) -> ScoreTest:
        """The test of a metric, whose rows have their influences as values."""
        table = score_table(positive, scores, pos_label=True, labels=[False, True])
        if not metric.fits_scores(table):
            raise InputError(f"{metric.name} needs probabilities from 0 to 1, which the scores are not; give such.")
        influence = score_influence(metric, table, metric.parameters)
        if influence is None:
            raise InputError(
                f"{metric.name} has no known influence of each row, by which slices of scores are tested; ask for "
                "roc_auc, brier or log_loss, or give a threshold and a metric of labels."
            )
        values = np.empty(len(scores))
        for which, side, each in zip((positive, ~positive), table.classes, influence, strict=True):
            values[which] = -metric.sign * each[np.searchsorted(side.distinct[0], scores[which])]
        outcome = np.where(positive, 0, 1).astype(np.uint8)
        return cls(metric, replace(rows, outcome=outcome, kinds=2, values=values), scores)

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of a loss of each row, whatever its class."""
        return self.metric.columns is not None and not self.metric.is_skill_of_columns

    @property
    def denominators(self) -> list[tuple[int, ...]]:
        """Rows of any class for a mean, else of each class."""
        return [(0, 1)] if self.is_mean else [(0,), (1,)]

    @property
    def least_of(self) -> str:
        """What a slice has the least number of."""
        return "rows" if self.is_mean else "rows of each class"

    @cached_property
    def classes(self) -> list[Atoms]:
        """The values of each class."""
        assert self.rows.values is not None  # noqa: S101 - the influences
        return [Atoms.of(self.rows.values[self.rows.outcome == kind]) for kind in (0, 1)]

    def value(self, whole: SliceTable) -> float:  # noqa: ARG002 - of the scores themselves
        """The metric of all rows."""
        return float(self.metric(self._table(np.ones(len(self.scores), dtype=bool))))

    def _table(self, which: Array) -> ScoreTable:
        positive = self.rows.outcome[which] == 0
        return score_table(positive, self.scores[which], pos_label=True, labels=[False, True])

    def _weights(self, sizes: Array, totals: Array) -> Array:
        """What a row of each class counts for in a slice of these sizes."""
        if self.is_mean:
            each = totals.sum(-1, keepdims=True) / np.maximum(sizes.sum(-1, keepdims=True), 1)
            return np.broadcast_to(each, sizes.shape)
        return np.asarray(totals / np.maximum(sizes, 1))

    def _sums(self, inside: SliceTable, whole: SliceTable) -> tuple[Array, Array]:
        """The weighted sum of each slice's values less the mean of their class, and the weights."""
        assert inside.sums is not None and whole.sums is not None  # noqa: S101 - of the influences
        sizes, totals = inside.counts, whole.counts
        weights = self._weights(sizes, totals)
        means = whole.sums[..., :2] / np.maximum(totals, 1)
        return (weights * (inside.sums[..., :2] - sizes * means)).sum(-1), weights

    def p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The probability of influences as bad or worse; 1 where they are not far off."""
        sums, weights = self._sums(inside, whole)
        far = np.flatnonzero(sums > _SCREEN * np.sqrt(sum_variance(inside.counts, weights, self.classes)))
        p_values = np.ones(len(sums))
        p_values[far] = tail_above(sums[far], inside.counts[far], weights[far], self.classes)
        return p_values

    def merged_p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The same within rows that are left, whose sums are taken as normal."""
        assert inside.sums is not None and whole.sums is not None  # noqa: S101 - of the influences
        sums, weights = self._sums(inside, whole)
        totals = np.maximum(whole.counts, 1)
        variances = np.maximum(whole.sums[..., 2:] - whole.sums[..., :2] ** 2 / totals, 0) / np.maximum(totals - 1, 1)
        standard_error = np.sqrt((weights**2 * inside.counts * (1 - inside.counts / totals) * variances).sum(-1))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.nan_to_num(normal_below(-sums / standard_error), nan=1.0))

    def least_p_values(self, inside: SliceTable, whole: SliceTable) -> None:  # noqa: ARG002 - of a rate alone
        """Not known beforehand: every slice is tested."""
        return

    def estimates(self, found: Candidates, level: float) -> Estimates:
        """The values with the default intervals at the level, and the values elsewhere."""
        bounds, elsewhere = [], []
        for i in range(len(found)):
            inside = np.logical_or.reduce([*map(self.rows.inside, found.members(i))])
            of_slice = interval(self.metric, self._table(inside), level=level)
            bounds.append([of_slice.value, of_slice.low, of_slice.high])
            elsewhere.append(float(self.metric(self._table(~inside))))
        value, low, high = np.array(bounds).T
        no_errors = np.full(len(found), np.nan)
        return Estimates(value, low, high, np.array(elsewhere), found.table.counts[:, 0], no_errors)

    def findable(self, whole: SliceTable, unit: float, least: int) -> Rows[Findable]:
        """How bad the metric must be in slices of so many positives, and as many negatives for each as in all rows."""
        positives = int(whole.counts[0])
        sizes = findable_sizes(positives, least)
        counts = np.array(sizes)[:, None] / positives * whole.counts
        standard_error = np.sqrt(sum_variance(counts, self._weights(counts, whole.counts), self.classes))
        return normal_findable(sizes, np.full(len(sizes), self.value(whole)), standard_error, unit, self.metric)
