"""Threshold criteria: what makes one threshold better than another, and which thresholds are allowed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.analysis.thresholds.threshold_limits import Capacity, what_is_judged
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics import application
from steelyard.metrics.registry import default_metric, get_metric
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard._types import Array
    from steelyard.analysis.thresholds.threshold_limits import Limit
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.statistics.score_table import ScoreTable

    # A metric, several for their mean, the costs by name, or the matrix of costs with rows true.
    AimLike: TypeAlias = MetricLike | Sequence[MetricLike] | Mapping[str, float] | Sequence[Sequence[float]] | Array

TIE = 16 * np.finfo(np.float64).eps  # of the metric's range: what rounding makes of equal optima
_COSTS = {"cost_fn": (1, 0), "cost_fp": (0, 1), "cost_tp": (1, 1), "cost_tn": (0, 0)}  # rows true, columns predicted


@dataclass(frozen=True)
class ThresholdCounts:
    """The counts for every set of scores that may be flagged, from nobody on; the directions on the axis before.

    `observed` is the last score of each set: the lowest flagged one, or the highest in the other direction.
    """

    observed: Array
    counts: Counts[Array]

    @classmethod
    def of(cls, table: ScoreTable, both: bool) -> ThresholdCounts:
        """Every threshold of a table, of all its draws if it has an axis of them."""
        scores, counts = table.thresholds, table.counts
        if not both:
            return cls(scores[None], counts[..., None, :])
        # To flag the scores up to one is to leave alone those from the next higher one on.
        cells = ((counts.tp, counts.fn), (counts.fn, counts.tp), (counts.fp, counts.tn), (counts.tn, counts.fp))
        stacked = (np.stack([above, other[..., ::-1]], -2) for above, other in cells)
        return cls(np.stack([scores, np.append(-np.inf, scores[:0:-1])]), Counts.trusted(*stacked))

    def flat(self) -> Counts[Array]:
        """The Counts with directions and thresholds on one last axis."""
        return Counts.trusted(*(cell.reshape(*cell.shape[:-2], -1) for cell in self.counts))


@dataclass(frozen=True)
class Criterion:
    """What to look for among the thresholds, the bounds to keep, and whether low scores are tried as positive."""

    aim: Aim
    limits: tuple[Limit, ...] = ()
    both: bool = False

    def merits(self, counts: Counts[Array], rows: Counts[Array] | None = None) -> Array:
        """The value of each threshold, higher being better; NaN where it is undefined or not allowed.

        The limits are read on the counts of the rows, where the counts of the aim are those of costs.
        """
        merits = self.aim.values(counts)
        merits = merits if self.aim.sign > 0 else -merits
        return np.where(self._allowed(counts if rows is None else rows), merits, np.nan) if self.limits else merits

    def _allowed(self, counts: Counts[Array]) -> Array:
        return np.asarray(np.logical_and.reduce([limit.is_met(counts) for limit in self.limits]))

    def chosen(self, merits: Array) -> Array:
        """The place of the first of the best thresholds, directions and thresholds taken as one axis."""
        flat = merits.reshape(*merits.shape[:-2], -1)
        best = np.fmax.reduce(flat, axis=-1, keepdims=True)
        return np.asarray((flat >= best - self.aim.tie(flat)).argmax(-1))

    def check(self, table: ThresholdCounts) -> Array:
        """Which thresholds meet all bounds; those that none meets are refused, with the nearest there is."""
        allowed = np.ones(table.observed.shape, dtype=bool)
        for i, limit in enumerate(self.limits):
            gaps = np.where(allowed, limit.gaps(table.counts), np.nan)
            allowed = limit.met(gaps)
            if not allowed.any():
                others = " and ".join(other.text for other in self.limits[:i])
                raise InputError(_unmet(limit, f" with {others}" if others else "", gaps, table))
        return allowed

    def undefined(self, table: ThresholdCounts) -> str:
        """Why no threshold that is allowed has a value."""
        why = self.aim.why(table.flat()[int(self._allowed(table.flat()).argmax())])
        bounds = " that meets " + " and ".join(limit.text for limit in self.limits) if self.limits else ""
        return f"{self.aim.name} is undefined at every threshold{bounds}: {why}."


def _unmet(limit: Limit, others: str, gaps: Array, table: ThresholdCounts) -> str:
    if np.isnan(gaps).all():
        return f"No threshold reaches {limit.text}{others}: {limit.metric.name} is undefined at each of them."
    place = int(np.nanargmin(gaps))
    value = float(application.count_values(limit.metric, table.flat()[place], limit.metric.parameters))
    near = f"{limit.shown(value)} of {limit.rows:,} rows" if isinstance(limit, Capacity) else limit.shown(value)
    at = table.observed.flat[place]
    where = f"threshold {at:g}" if math.isfinite(at) else "the threshold that flags nobody"
    return f"No threshold reaches {limit.text}{others}; the nearest is {near} at {where}."


# ---------------------------------------------------------------- what is best


@dataclass(frozen=True)
class Aim:
    """The mean of some metrics, all to be raised (sign 1) or all to be lowered (-1)."""

    metrics: tuple[Metric, ...]
    sign: int

    @property
    def name(self) -> str:
        """The metric's written form; the mean of several is written as one."""
        names = ", ".join(metric.name for metric in self.metrics)
        return names if len(self.metrics) == 1 else f"mean({names})"

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value."""
        low, high = (float(np.mean([m.range[end] for m in self.metrics])) for end in (0, 1))
        return low, high

    def values(self, counts: Counts[Any]) -> Array:
        """The value on each table."""
        values = [application.count_values(metric, counts, metric.parameters) for metric in self.metrics]
        return np.asarray(values[0] if len(values) == 1 else np.mean(values, axis=0))

    def why(self, counts: Counts[Array]) -> str:
        """The reason why one table has no value."""
        whys = (application.on_counts(metric, counts, metric.parameters).why for metric in self.metrics)
        return next(filter(None, whys), "the function returned NaN")

    def tie(self, values: Array) -> float:
        """The difference that rounding can make between equal values."""
        size = max(map(abs, self.range))
        return TIE * (size if math.isfinite(size) else float(np.fmax.reduce(np.abs(values), axis=None)))


def read_aim(metric: AimLike | None, parameters: Mapping[str, Any]) -> Aim:
    """What to look for, from whatever names it; the default metric where nothing does."""
    if isinstance(metric, Mapping):
        return read_aim("expected_cost", {**metric, **parameters})
    if (matrix := _cost_matrix(metric)) is not None:
        costs = {name: float(matrix[i, j]) for name, (i, j) in _COSTS.items()}
        return read_aim("expected_cost", {**costs, **parameters})
    several = list(metric) if isinstance(metric, (list, tuple)) else [default_metric() if metric is None else metric]
    if not several:
        raise InputError("metric= is an empty list; name one metric or more.")
    metrics = [_thresholded_metric(item) for item in several]  # type: ignore[arg-type]  # which refuses what is none
    signs = {_sign(metric) for metric in metrics}
    if len(signs) > 1:
        raise InputError(f"Of {', '.join(m.name for m in metrics)} some are best high and some low; give one kind.")
    return Aim(tuple(_with_parameters(metrics, parameters)), signs.pop())


def _cost_matrix(metric: AimLike | None) -> Array | None:
    """The costs of a 2 x 2 matrix of numbers; None of anything else."""
    rows = metric if isinstance(metric, (list, tuple, np.ndarray)) and len(metric) == 2 else ()
    is_matrix = len(rows) and all(np.shape(row) == (2,) and np.asarray(row).dtype.kind in "iuf" for row in rows)
    return np.asarray(rows) if is_matrix else None


def _thresholded_metric(item: MetricLike) -> Metric:
    metric = get_metric(item)
    if metric.function is None:
        raise InputTypeError(
            f"{metric.name} judges {what_is_judged(metric)}, so no threshold is best for it; name another."
        )
    # A plain function comes without facts; whoever looks for its best threshold means its highest value.
    is_plain = callable(item) and metric is not item
    return replace(metric, direction="higher") if is_plain else metric


def _sign(metric: Metric) -> int:
    if not metric.sign:
        raise InputError(
            f"No value of {metric.name} is best, so no threshold is; name a metric with a direction, or declare one."
        )
    return metric.sign


def _with_parameters(metrics: list[Metric], parameters: Mapping[str, Any]) -> Iterator[Metric]:
    """Each metric with those of the parameters that it has; the last refuses what none has."""
    unknown = {key for key in parameters if not any(key in m.parameters for m in metrics)}
    for metric in metrics:
        mine = {key: value for key, value in parameters.items() if key in metric.parameters or key in unknown}
        yield metric.fixed(None, **mine) if mine else metric
