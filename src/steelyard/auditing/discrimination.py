"""Discrimination: which metrics separate two classifiers, and which change their order with the prevalence.

After Wu and Cannistraci, who rank metrics by the difference of two classifiers under three imbalances. Where two
metrics disagree is in `disagreement`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.prevalence.prevalence import checked_prevalence
from steelyard.analysis.results.formatting import three_digits
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.model_tables import at_rates, directed_difference, metric_values, named_metrics
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.registry import get_metric
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard._types import Array, Rng
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.registry import MetricLike


# ---------------------------------------------------------------- disagreement
# How often two metrics order two classifiers differently, over the plane of (TPR, TNR).


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

    The points are classifiers: `size` quasi-random pairs of them (65,536; Sobol's sequence, scrambled by `rng`), or all
    pairs of a grid of `size` by `size` points (21). Accuracy and balanced accuracy agree where the classes are
    balanced, and where one class is vanishing they order one pair in four differently.

    >>> accuracies = disagreement("accuracy", "balanced_accuracy", [0.5, 0.1, 0.001])
    >>> [round(share, 2) for share in accuracies.by_prevalence]
    [0.0, 0.21, 0.25]
    """
    a, b = chosen = [get_metric(metric) for metric in (metric_a, metric_b)]
    at = np.atleast_1d(checked_prevalence(prevalence))
    if not at.size:
        raise InputError("prevalence= is empty; give one share of positives, or several.")
    plane = _plane(points, size, rng)
    against, tied, defined = np.stack([_pair_counts(chosen, plane, float(p)) for p in at], -1)
    for i, metric in enumerate(chosen):
        if not defined[i, i].any():
            raise InputError(f"{metric.name} is undefined on every table tried, so it orders nothing; leave it out.")
    total, tries = defined[0, 1].sum(), plane.shape[-1] * len(at)
    with np.errstate(invalid="ignore"):
        return Disagreement(
            a.name,
            b.name,
            share=float(against[0, 1].sum() / total),
            tied=float(tied[0, 1].sum() / total),
            undefined=float(1 - total / tries),
            prevalences=tuple(map(float, at)),
            by_prevalence=tuple(map(float, against[0, 1] / defined[0, 1])),
        )


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


def _plane(points: str, size: int | None, rng: Rng) -> Array:
    """Pairs of points: first and second classifier x (TPR, TNR) x pairs."""
    if points not in _POINTS:
        raise InputError(argument="points", expected=" or ".join(map(repr, _POINTS)), given=points)
    count = {"grid": 21}.get(points, 65_536) if size is None else size
    most = int((2 * MOST_PAIRS) ** 0.25) if points == "grid" else MOST_PAIRS
    if not (isinstance(count, (int, np.integer)) and 2 <= count <= most):
        raise InputError(
            argument="size", expected=f"a whole number from 2 to {most:,} with {points} points", given=size
        )
    if points == "grid":
        grid = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, count)]), -1).reshape(-1, 2)
        first, second = np.triu_indices(len(grid), 1)
        return np.stack([grid[first].T, grid[second].T])
    from scipy.stats import qmc

    power = math.ceil(math.log2(count))  # Sobol's sequence is even over powers of two
    sobol = qmc.Sobol(4, seed=generator(rng))  # seed= is called rng= since scipy 1.15
    return np.asarray(sobol.random_base2(power)[:count].T.reshape(2, 2, count))


# ---------------------------------------------------------------- discrimination


Classifier: TypeAlias = "Counts | tuple[float, float]"  # a table, one table a condition, or a point (TPR, TNR)
__all__ = ["Discrimination", "disagreement", "discrimination"]


@dataclass(frozen=True, eq=False)
class Separation(Flat):
    """How one metric separates classifier A from B over the conditions: positive differences speak for A."""

    metric: str
    conditions: tuple[str, ...]
    differences: tuple[float, ...]
    ranks: tuple[int, ...]
    flips: int
    separates: bool

    @property
    def least(self) -> float:
        """The smallest difference, whomever it speaks for; NaN where the metric is undefined throughout."""
        return min((abs(d) for d in self.differences if not math.isnan(d)), default=math.nan)

    @property
    def shift(self) -> int:
        """How many places the metric moves in the ranking by difference as the condition changes."""
        return max(self.ranks) - min(self.ranks)

    @property
    def leader(self) -> str:
        """Who leads: A, B, "A or B" by the condition, or neither."""
        ahead = {"A": any(d > 0 for d in self.differences), "B": any(d < 0 for d in self.differences)}
        return " or ".join(name for name in ahead if ahead[name]) or "neither"

    def row(self) -> dict[str, Any]:
        """The separation as a row of a table."""
        row: dict[str, Any] = {"metric": self.metric}
        row |= {f"at {name}": d for name, d in zip(self.conditions, self.differences, strict=True)}
        return row | {"leader": self.leader, "flips": self.flips, "shift": self.shift, "separates": self.separates}


@dataclass(frozen=True, eq=False, repr=False)
class Discrimination(Result[Separation]):
    """Two classifiers by every metric (rows) under every condition (columns): prevalences, or the tables given."""

    conditions: tuple[str, ...]
    separations: Rows[Separation]
    tolerance: float

    def __iter__(self) -> Iterator[Separation]:
        return iter(self.separations)

    def __getitem__(self, name: MetricLike) -> Separation:
        """The row of one metric."""
        wanted = get_metric(name).name
        for separation in self.separations:
            if separation.metric == wanted:
                return separation
        raise InputError(f"{wanted} was not among the metrics tried; name it in metrics=.")

    @property
    def flipping(self) -> list[str]:
        """The metrics that put A ahead under some conditions and B under others."""
        return [separation.metric for separation in self.separations if separation.flips]

    @property
    def separating(self) -> list[str]:
        """The metrics that separate the two under every condition, always in the same order."""
        return [separation.metric for separation in self.separations if separation.separates]

    def ranking(self, condition: int | str = 0) -> list[tuple[str, float]]:
        """The metrics by their difference under one condition, what speaks most for A first, as in Wu's Figure 2."""
        i = self.conditions.index(condition) if condition in self.conditions else condition
        if not (isinstance(i, int) and -len(self.conditions) <= i < len(self.conditions)):
            names = ", ".join(self.conditions)
            raise InputError(f"There is no condition {condition!r}; there are {names}.")
        differences = [(separation.metric, separation.differences[i]) for separation in self.separations]
        return sorted(differences, key=lambda pair: math.inf if math.isnan(pair[1]) else -pair[1])

    @property
    def headline(self) -> str:
        """How many metrics change their order."""
        changing = f"{len(self.flipping)} of {len(self.separations)} metrics change their order"
        return f"A minus B, positive where A is better; {changing}."

    def shown_rows(self) -> list[dict[str, Any]]:
        """The differences under each condition as people see them."""
        return [
            {"metric": each.metric}
            | {name: _signed(d) for name, d in zip(self.conditions, each.differences, strict=True)}
            | {"flips": each.flips, "leader": each.leader}
            for each in self.separations
        ]


def _signed(difference: float) -> str:
    return "–" if math.isnan(difference) else f"{difference:+.3f}".replace("-0.000", "+0.000")


@names_wrong_arguments
def discrimination(
    a: Classifier,
    b: Classifier,
    *,
    prevalences: float | Sequence[float] = RARE_TO_COMMON,
    metrics: Iterable[MetricLike] | None = None,
    tolerance: float = 0.0,
) -> Discrimination:
    """Which metrics separate two classifiers, and which change their order with the prevalence (Wu).

    Each classifier is a point (TPR, TNR) or one table, put to every prevalence; or Counts of one table a condition,
    such as three test sets, which are taken as they are. A metric separates the two where they differ by more than
    `tolerance` under every condition and always in the same order.

    >>> careful, lopsided = (0.8, 0.8), (0.99, 0.5)
    >>> result = discrimination(careful, lopsided, metrics=["accuracy", "ac_score", "g_mean", "balanced_accuracy"])
    >>> result.flipping
    ['accuracy']
    >>> [name for name, _ in result.ranking("0.1")]
    ['accuracy', 'ac_score', 'g_mean', 'balanced_accuracy']
    """
    if not (isinstance(tolerance, (int, float)) and tolerance >= 0):
        raise InputError(
            argument="tolerance", expected="a difference of 0 or more that is still called none", given=tolerance
        )
    chosen = named_metrics(metrics)
    for metric in chosen:
        if metric.direction is None:
            raise InputError(
                f"{metric.name} has no better or worse values, so no model leads by it; "
                "leave it out, or declare what is best with @metric."
            )
    tables, conditions = _pair(a, b, prevalences)
    of_a, of_b = (metric_values(chosen, table) for table in tables)
    differences = directed_difference(of_a, of_b, chosen)
    from scipy.stats import rankdata

    # Twelve decimals, so that ranks tie what rounding made different.
    ranks = rankdata(-np.round(np.nan_to_num(differences, nan=-np.inf), 12), method="min", axis=1)
    separations = Rows[Separation]()
    for i, metric in enumerate(chosen):
        signs = np.sign(differences[:, i])
        leads = signs[~np.isnan(signs) & (signs != 0)]
        flips = int((leads[1:] != leads[:-1]).sum())
        separations.append(
            Separation(
                metric.name,
                conditions,
                tuple(map(float, differences[:, i])),
                tuple(ranks[:, i].tolist()),
                flips,
                separates=bool((np.abs(differences[:, i]) > tolerance).all()) and not flips,
            )
        )
    return Discrimination(conditions, separations, tolerance)


def _pair(
    a: Classifier, b: Classifier, prevalences: float | Sequence[float]
) -> tuple[tuple[Counts, Counts], tuple[str, ...]]:
    """The tables of both classifiers under each condition, and the conditions' names."""
    arrays = [table for table in (a, b) if isinstance(table, Counts) and table.shape != ()]
    if len(arrays) == 2:
        a, b = arrays
        if a.shape != b.shape or len(a.shape) != 1:
            raise InputError(f"Both classifiers need one table a condition; these have shapes {a.shape} and {b.shape}.")
        return (a, b), _distinct(f"{p:.3g}" for p in np.asarray(a.positives / np.maximum(a.total, 1e-300)))
    if arrays:
        raise InputTypeError("One classifier is an array of tables and the other is not; give both alike.")
    at = np.atleast_1d(checked_prevalence(prevalences))
    rates = [_rates(classifier) for classifier in (a, b)]
    return (at_rates(*rates[0], at), at_rates(*rates[1], at)), _distinct(f"{p:g}" for p in at)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The names of the conditions, numbered where two are alike."""
    texts = tuple(names)
    return texts if len(set(texts)) == len(texts) else tuple(f"{text} ({i})" for i, text in enumerate(texts, 1))


def _rates(classifier: Classifier) -> tuple[float, float]:
    """The (TPR, TNR) of one classifier."""
    if isinstance(classifier, Counts):
        if not (classifier.positives > 0 and classifier.negatives > 0):
            raise InputError("A table without positives or without negatives has no value at another prevalence.")
        return float(classifier.tp / classifier.positives), float(classifier.tn / classifier.negatives)
    try:
        tpr, tnr = (float(rate) for rate in classifier)
    except (TypeError, ValueError):
        raise InputTypeError(f"A classifier is Counts or a pair (TPR, TNR), not {classifier!r}.") from None
    if not (0 <= tpr <= 1 and 0 <= tnr <= 1):
        raise InputError(f"TPR and TNR lie between 0 and 1, not {classifier!r}.")
    return tpr, tnr
