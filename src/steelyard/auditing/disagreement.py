"""Disagreement: how often two metrics order two classifiers differently, over the plane of (TPR, TNR)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.prevalence.class_shares import checked_prevalence
from steelyard.analysis.results.formatting import three_digits
from steelyard.analysis.results.rows import Flat, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.metric_values import directed_difference, metric_values, named_metrics
from steelyard.auditing.model_tables import at_rates
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array, Rng
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike

RARE_TO_COMMON = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_POINTS = ("quasi-random", "grid")
MOST_PAIRS = 2_000_000


@dataclass(frozen=True, eq=False)
class Disagreement(Flat):
    """How often two metrics put two classifiers in opposite order, over the (TPR, TNR) plane.

    `share` is of the pairs of points where both are defined; `tied` those where one of them sees no difference.
    """

    a: str
    b: str
    share: float
    tied: float
    undefined: float
    prevalences: tuple[float, ...]
    by_prevalence: tuple[float, ...]

    def row(self) -> dict[str, Any]:
        """The disagreement as a row of a table."""
        row = {"a": self.a, "b": self.b, "share": self.share, "tied": self.tied, "undefined": self.undefined}
        return row | {f"at {p:g}": s for p, s in zip(self.prevalences, self.by_prevalence, strict=True)}

    def __repr__(self) -> str:
        sentence = f"{self.a} and {self.b} order {100 * self.share:.3g} % of pairs of classifiers differently"
        parts = (f"{three_digits(s)} at {p:g}" for p, s in zip(self.prevalences, self.by_prevalence, strict=True))
        return f"{sentence} ({', '.join(parts)})"


@names_wrong_arguments
def disagreement(
    metric_a: MetricLike,
    metric_b: MetricLike,
    prevalence: float | Sequence[float] = RARE_TO_COMMON,
    *,
    points: str = "quasi-random",
    size: int | None = None,
    rng: Rng = None,
) -> Disagreement:
    """The share of pairs of points of the (TPR, TNR) plane that two metrics order differently, by prevalence.

    `points`, `size` and `rng` are those of disagreements. Accuracy and balanced accuracy agree where the classes are
    balanced, and where one class is vanishing they order one pair in four differently.

    >>> accuracies = disagreement("accuracy", "balanced_accuracy", [0.5, 0.1, 0.001])
    >>> [round(share, 2) for share in accuracies.by_prevalence]
    [0.0, 0.21, 0.25]
    """
    return disagreements([metric_a, metric_b], prevalence, points=points, size=size, rng=rng)[0]


def disagreements(
    metrics: Iterable[MetricLike] | None = None,
    prevalence: float | Sequence[float] = RARE_TO_COMMON,
    *,
    points: str = "quasi-random",
    size: int | None = None,
    rng: Rng = None,
) -> Rows[Disagreement]:
    """Every pair of metrics: how often they order two classifiers differently, most first.

    The classifiers are pairs of points of the (TPR, TNR) plane: `size` quasi-random ones (65,536; Sobol's sequence,
    scrambled by `rng`), or all pairs of a grid of `size` by `size` points (21).
    """
    chosen = named_metrics(metrics)
    if len(chosen) < 2:
        raise InputError("It takes two metrics or more to disagree; name them in a list.")
    at = np.atleast_1d(checked_prevalence(prevalence))
    plane = _plane(points, size, rng)
    pair_counts = np.stack([_pair_counts(chosen, plane, float(p)) for p in at], -1)
    _check_defined(chosen, pair_counts[2])
    pairs = [
        _disagreement((chosen[i].name, chosen[j].name), pair_counts[:, i, j], plane.shape[-1], at)
        for i, j in combinations(range(len(chosen)), 2)
    ]
    return Rows(sorted(pairs, key=lambda pair: -np.nan_to_num(pair.share)))


def _pair_counts(metrics: Sequence[Metric], plane: Array, pi: float) -> Array:
    """For every pair of metrics the pairs of points ordered differently, those tied, and those where both are defined.

    The orders are kept as bits and counted; a matrix product of them took twenty times as long on busy cores.
    """
    first, second = (metric_values(metrics, at_rates(tpr, tnr, pi)) for tpr, tnr in plane)
    gap = directed_difference(first, second, metrics).T
    ahead, behind, both_defined = (np.packbits(bits, axis=-1) for bits in (gap > 0, gap < 0, ~np.isnan(gap)))
    against, defined = _common(ahead, behind) + _common(behind, ahead), _common(both_defined, both_defined)
    return np.stack([against, defined - _common(ahead | behind, ahead | behind), defined])


def _common(first: Array, second: Array) -> Array:
    """How many bits each row of the first shares with each row of the second."""
    return np.stack([np.bitwise_count(row & second).sum(-1, dtype=np.int64) for row in first])


def _check_defined(metrics: Sequence[Metric], defined: Array) -> None:
    for i, metric in enumerate(metrics):
        if not defined[i, i].any():
            raise InputError(f"{metric.name} is undefined on every table tried, so it orders nothing; leave it out.")


def _disagreement(names: tuple[str, str], counts: Array, pairs: int, at: Array) -> Disagreement:
    against, tied, defined = counts
    with np.errstate(invalid="ignore"):
        by, share, ties = against / defined, against.sum() / defined.sum(), tied.sum() / defined.sum()
    missing = 1 - defined.sum() / (pairs * len(at))
    ats = tuple(map(float, at)), tuple(map(float, by))
    return Disagreement(*names, float(share), float(ties), float(missing), *ats)


def _plane(points: str, size: int | None, rng: Rng) -> Array:
    """Pairs of points: first and second classifier x (TPR, TNR) x pairs."""
    if points not in _POINTS:
        raise InputError(f"points is {' or '.join(map(repr, _POINTS))}, not {points!r}.")
    count = {"grid": 21}.get(points, 65_536) if size is None else size
    most = int((2 * MOST_PAIRS) ** 0.25) if points == "grid" else MOST_PAIRS
    if not (isinstance(count, (int, np.integer)) and 2 <= count <= most):
        raise InputError(f"size is a whole number from 2 to {most:,} with {points} points, not {size!r}.")
    if points == "grid":
        grid = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, count)]), -1).reshape(-1, 2)
        first, second = np.triu_indices(len(grid), 1)
        return np.stack([grid[first].T, grid[second].T])
    from scipy.stats import qmc

    power = math.ceil(
        math.log2(count)
    )  # Sobol's sequence is even over powers of two; seed= is called rng= since scipy 1.15
    return np.asarray(qmc.Sobol(4, seed=generator(rng)).random_base2(power)[:count].T.reshape(2, 2, count))
