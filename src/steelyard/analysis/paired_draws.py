"""Paired draws: tables of two models that might have been, and what they say of a difference."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.analysis.distributions import normal_below
from steelyard.analysis.formatting import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array
    from steelyard.analysis.estimand import Estimand
    from steelyard.analysis.inference import Inference
    from steelyard.analysis.paired_difference import Difference, ModelTables
    from steelyard.statistics.paired import Paired

    PairedDraw: TypeAlias = Callable[[Array, int, np.random.Generator], tuple[Array, Array]]

_PRIOR_MASS = 4.0  # 1/2 for each cell of 2 x 2 x 2; spread over K x K x K cells so that it does not drown them
_MOST_WORK, _AT_ONCE = 20_000_000, 2_000_000  # cells drawn in all, unless more draws are asked for, and at a time
_DRAWS = 10_000  # at most, unless more are asked for
FEWEST = 10  # draws beyond 0 or beyond the difference seen, below which a normal tail tells more than their number


def label_differences(a: str, b: str, table: Paired, tables: ModelTables, inference: Inference) -> Iterator[Difference]:
    """The differences of two models by every metric of labels, tested."""
    draws = PairDraws(table, inference)
    for spec in tables.specs:
        estimand = tables.estimand(spec, a)
        drawn, swapped = (draws.values(estimand, draw) for draw in (posterior_pairs, swapped_pairs))
        row = tables.difference(spec, a, b)
        low, high, p = map(float, judge(row.difference, drawn, swapped, inference.tails))
        undefined = float(np.isnan(drawn).mean())
        yield replace(row, low=low, high=high, p_value=p, method="posterior", undefined_share=undefined)


# ---------------------------------------------------------------- draws


@dataclass
class PairDraws:
    """The draws of a pair's table and of its swaps, of one class against the rest or of all; made once each."""

    table: Paired
    inference: Inference
    _drawn: dict[tuple[PairedDraw, int | None], tuple[Array, Array]] = field(default_factory=dict)

    def values(self, estimand: Estimand, draw: PairedDraw) -> Array:
        """The metric's differences on the draws of `posterior_pairs` or `swapped_pairs`, draws on the last axis."""
        place = estimand.positive_place
        if (draw, place) not in self._drawn:
            rows = positive_first(self.table, place)
            draws = self.inference.draws or int(np.clip(_MOST_WORK // rows.size, 1_000, _DRAWS))
            self._drawn[draw, place] = draw(rows, draws, self.inference.generator)
        a, b = (estimand.on_cells(cells) for cells in self._drawn[draw, place])
        return np.asarray(a - b)


def positive_first(table: Paired, place: int | None) -> Array:
    """The rows of one class against the rest, that class first; of all classes where none is meant."""
    return table.rows if place is None else table.collapsed(table.labels[place]).rows[::-1, ::-1, ::-1]


def posterior_pairs(rows: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws of both models' tables from the Dirichlet posterior of truth x A x B, on a new first axis."""
    prior = _PRIOR_MASS / rows.shape[-1] ** 3
    return _margins(lambda n: rng.standard_gamma(rows + prior, size=(n, *rows.shape)), rows.size, draws)


def swapped_pairs(rows: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
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


# ---------------------------------------------------------------- what they say


def judge(
    difference: Array | float, drawn: Array, swapped: Array, tails: tuple[float, float]
) -> tuple[Array, Array, Array]:
    """The ends and the p-value of differences, given the draws of their posterior and of their swaps on a last axis.

    Of two models that are equal the posterior alone rejects up to 7 % at 0.05 where some eight rows disagree.
    """
    return judge_beside(difference, drawn, _swap_p_value(np.asarray(difference), swapped), tails)


def judge_beside(
    difference: Array | float, drawn: Array, p: Array | float, tails: tuple[float, float]
) -> tuple[Array, Array, Array]:
    """The ends and the p-value of differences, given their draws on a last axis; another p-value holds if larger."""
    p = np.where(np.abs(difference) <= ROUNDING, 1.0, np.fmax(_beyond(drawn), p))
    return (*_ends(difference, drawn, tails), np.where(np.isnan(difference), np.nan, p))


def _ends(difference: Array | float, drawn: Array, tails: tuple[float, float]) -> tuple[Array, Array]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a metric that no draw defines has no interval
        low, high = np.nanquantile(drawn, tails, axis=-1)
    undefined = np.isnan(difference)
    ends = (np.fmin(low, difference), np.fmax(high, difference))
    return np.where(undefined, np.nan, ends[0]), np.where(undefined, np.nan, ends[1])


def _beyond(drawn: Array) -> Array:
    """Twice the share of the draws on the other side of 0; 0 where they are too few to be a share."""
    few = np.minimum((drawn <= 0).sum(-1), (drawn >= 0).sum(-1))
    share = 2 * (few + 1) / ((~np.isnan(drawn)).sum(-1) + 1)
    return np.where(few < FEWEST, 0.0, np.minimum(share, 1.0))


def _swap_p_value(difference: Array, swapped: Array) -> Array:
    """The share of the swaps that differ more, equal ones by half; a normal tail where these are few."""
    far, seen = np.abs(swapped), np.abs(difference)[..., None]
    beyond = (far > seen + ROUNDING).sum(-1) + (np.abs(far - seen) <= ROUNDING).sum(-1) / 2
    defined = np.maximum((~np.isnan(far)).sum(-1), 1)
    tail = normal_tail(difference, np.sqrt(np.nansum(far**2, -1) / defined))
    return np.asarray(np.where(beyond >= FEWEST, beyond / defined, np.minimum(tail, FEWEST / defined)))


def normal_tail(difference: Array | float, spread: Array | float) -> Array:
    """The share of a normal distribution around 0 of that spread beyond the difference, on both sides."""
    spread = np.asarray(spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * normal_below(-np.where(spread > 0, np.abs(difference) / spread, np.inf)))
