"""Paired draws: tables of two models that might have been, and what they say of a difference. Used by comparison."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis import draws as drawing
from steelyard.analysis.distributions import normal_below
from steelyard.analysis.paired_difference import ROUNDING, Difference, Plan, Weighed
from steelyard.metrics import application
from steelyard.metrics.application import ClassCells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.paired import Paired

_PRIOR_MASS = 4.0  # 1/2 for each cell of 2 x 2 x 2; spread over K x K x K cells so that it does not drown them
_MOST_WORK, _AT_ONCE = 20_000_000, 2_000_000  # cells drawn in all, unless more draws are asked for, and at a time
_DRAWS = 10_000  # at most, unless more are asked for
FEWEST = 10  # draws beyond 0 or beyond the difference seen, below which a normal tail tells more than their number


def label_differences(a: str, b: str, table: Paired, weighed: Weighed, plan: Plan) -> Iterator[Difference]:
    """The differences of two models by every metric of labels, judged."""
    draws = PairDraws(table, plan)
    for metric in weighed.metrics:
        held, swapped = (draws.values(metric, weighed.options, drawn) for drawn in (posterior, swaps))
        row = weighed.difference(metric, a, b)
        low, high, p = map(float, judge(row.difference, held, swapped, plan.tails))
        undefined = float(np.isnan(held).mean())
        yield replace(row, low=low, high=high, p_value=p, method="posterior", undefined_share=undefined)


# ---------------------------------------------------------------- draws


@dataclass
class PairDraws:
    """The draws of a pair's table and of its swaps, of one class against the rest or of all; made once each."""

    table: Paired
    plan: Plan
    _kept: dict[Any, tuple[Array, Array]] = field(default_factory=dict)

    def values(self, metric: Metric, options: CallOptions, drawn: Callable[..., tuple[Array, Array]]) -> Array:
        """The metric's differences on the draws of `posterior` or `swaps`, draws on the last axis."""
        place = application.positive_place(metric, self.table.confusion(0), options)
        if (drawn, place) not in self._kept:
            rows = positive_first(self.table, place)
            draws = self.plan.draws or int(np.clip(_MOST_WORK // rows.size, 1_000, _DRAWS))
            self._kept[drawn, place] = drawn(rows, draws, self.plan.rng)
        a, b = (_evaluated(metric, cells, place, options) for cells in self._kept[drawn, place])
        return np.asarray(a - b)


def positive_first(table: Paired, place: int | None) -> Array:
    """The rows of one class against the rest, that class first; of all classes where none is meant."""
    return table.rows if place is None else table.collapsed(table.labels[place]).rows[::-1, ::-1, ::-1]


def posterior(rows: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws of both models' tables from the Dirichlet posterior of truth x A x B, on a new first axis."""
    prior = _PRIOR_MASS / rows.shape[-1] ** 3
    return _margins(lambda n: rng.standard_gamma(rows + prior, size=(n, *rows.shape)), rows.size, draws)


def swaps(rows: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws of both models' tables where each row's two predictions are swapped or not, as a coin falls."""
    both = rows + rows.swapaxes(-1, -2)
    upper = np.triu(np.ones(rows.shape[-2:], dtype=bool), 1)

    def cells(n: int) -> Array:
        heads = rng.binomial(np.where(upper, both, 0), 0.5, size=(n, *rows.shape))
        tails = np.where(upper, both, 0) - heads
        alike: Array = rows * np.eye(rows.shape[-1], dtype=np.int64)
        return heads + tails.swapaxes(-1, -2) + alike

    return _margins(cells, rows.size, draws)


def _margins(cells: Callable[[int], Array], size: int, draws: int) -> tuple[Array, Array]:
    """Truth x A and truth x B of the draws, a part of them at a time."""
    parts = [(drawn.sum(-1), drawn.sum(-2)) for drawn in map(cells, steps(draws, size))]
    a, b = (np.concatenate(side).astype(np.float64) for side in zip(*parts, strict=True))
    return a, b


def steps(draws: int, size: int) -> Iterator[int]:
    """How many draws of that size are made at a time."""
    step = max(1, _AT_ONCE // max(size, 1))
    return (min(step, draws - start) for start in range(0, draws, step))


def _evaluated(metric: Metric, cells: Array, place: int | None, options: CallOptions) -> Array:
    if place is not None:
        return np.asarray(application.count_values(metric, drawing.as_counts(cells), metric.parameters))
    return np.moveaxis(application.class_values(metric, ClassCells.of(cells), options, metric.parameters), 0, -1)


# ---------------------------------------------------------------- what they say


def judge(difference: Any, held: Array, swapped: Array, tails: tuple[float, float]) -> tuple[Any, Any, Any]:
    """The ends and the p-value of differences, given the draws of their posterior and of their swaps on a last axis.

    Of two models that are equal the posterior alone rejects up to 7 % at 0.05 where some eight rows disagree.
    """
    return judge_beside(difference, held, _swapped(np.asarray(difference), swapped), tails)


def judge_beside(difference: Any, held: Array, p: Any, tails: tuple[float, float]) -> tuple[Any, Any, Any]:
    """The ends and the p-value of differences, given their draws on a last axis; another p-value holds if larger."""
    p = np.where(np.abs(difference) <= ROUNDING, 1.0, np.fmax(_beyond(held), p))
    return (*_ends(difference, held, tails), np.where(np.isnan(difference), np.nan, p))


def _ends(difference: Any, held: Array, tails: tuple[float, float]) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a metric that no draw defines has no interval
        low, high = np.nanquantile(held, tails, axis=-1)
    lost = np.isnan(difference)
    return np.where(lost, np.nan, np.fmin(low, difference)), np.where(lost, np.nan, np.fmax(high, difference))


def _beyond(held: Array) -> Array:
    """Twice the share of the draws on the other side of 0; 0 where they are too few to be a share."""
    few = np.minimum((held <= 0).sum(-1), (held >= 0).sum(-1))
    share = 2 * (few + 1) / ((~np.isnan(held)).sum(-1) + 1)
    return np.where(few < FEWEST, 0.0, np.minimum(share, 1.0))


def _swapped(difference: Array, swapped: Array) -> Array:
    """The share of the swaps that differ more, equal ones by half; a normal tail where these are few."""
    far, seen = np.abs(swapped), np.abs(difference)[..., None]
    beyond = (far > seen + ROUNDING).sum(-1) + (np.abs(far - seen) <= ROUNDING).sum(-1) / 2
    defined = np.maximum((~np.isnan(far)).sum(-1), 1)
    tail = normal_tail(difference, np.sqrt(np.nansum(far**2, -1) / defined))
    return np.asarray(np.where(beyond >= FEWEST, beyond / defined, np.minimum(tail, FEWEST / defined)))


def normal_tail(difference: Any, spread: Any) -> Array:
    """The share of a normal distribution around 0 of that spread beyond the difference, on both sides."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * normal_below(-np.where(spread > 0, np.abs(difference) / spread, np.inf)))
