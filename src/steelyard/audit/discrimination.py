"""Discrimination: which measures tell two classifiers apart, which change their order, and where two measures disagree.

After Wu and Cannistraci, who rank measures by the difference of two classifiers under three imbalances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.draws import generator
from steelyard.analysis.prevalence import shares
from steelyard.analysis.rows import Rows, table_text, three_digits
from steelyard.audit.correlation import measured
from steelyard.audit.robustness import ROUNDING, directed
from steelyard.errors import InputError, InputTypeError
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.metrics.metric import Metric

Array = np.ndarray[Any, Any]
USUAL = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
POINTS = ("quasi-random", "grid")
MOST_PAIRS = 2_000_000


def at_rates(tpr: Any, tnr: Any, pi: Any) -> Counts:
    """The table, of one row in all, of a classifier with these rates where a share `pi` is positive.

    >>> at_rates(0.8, 0.9, 0.5)
    Counts(tp=0.4, fn=0.09999999999999998, fp=0.04999999999999999, tn=0.45)
    """
    return Counts(pi * tpr, pi * (1 - tpr), (1 - pi) * (1 - tnr), (1 - pi) * tnr)


# ---------------------------------------------------------------- two classifiers


@dataclass(frozen=True)
class Separation:
    """How one measure tells classifier A from B over the conditions: positive differences speak for A."""

    metric: str
    conditions: tuple[str, ...]
    differences: tuple[float, ...]
    ranks: tuple[int, ...]
    flips: int
    separates: bool

    @property
    def least(self) -> float:
        """The smallest difference, whomever it speaks for; NaN where the measure is undefined throughout."""
        return min((abs(d) for d in self.differences if not math.isnan(d)), default=math.nan)

    @property
    def shift(self) -> int:
        """How many places the measure moves in the ranking by difference as the condition changes."""
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
class Discrimination:
    """Two classifiers by every measure (rows) under every condition (columns): prevalences, or the tables given."""

    conditions: tuple[str, ...]
    separations: Rows[Separation]
    tolerance: float

    def __getitem__(self, name: Any) -> Separation:
        """The row of one measure."""
        wanted = get_metric(name).name
        for found in self.separations:
            if found.metric == wanted:
                return found
        raise InputError(f"{wanted} was not among the measures tried; name it in metrics=.")

    @property
    def flipping(self) -> list[str]:
        """The measures that put A ahead under some conditions and B under others."""
        return [found.metric for found in self.separations if found.flips]

    @property
    def separating(self) -> list[str]:
        """The measures that tell the two apart under every condition, always in the same order."""
        return [found.metric for found in self.separations if found.separates]

    def ranking(self, condition: int | str = 0) -> list[tuple[str, float]]:
        """The measures by their difference under one condition, what speaks most for A first, as in Wu's Figure 2."""
        i = self.conditions.index(condition) if condition in self.conditions else condition
        if not (isinstance(i, int) and -len(self.conditions) <= i < len(self.conditions)):
            told = ", ".join(self.conditions)
            raise InputError(f"There is no condition {condition!r}; there are {told}.")
        order = sorted(self.separations, key=lambda found: _rank_key(found.differences[i]))
        return [(found.metric, found.differences[i]) for found in order]

    def __repr__(self) -> str:
        table = [
            {"measure": s.metric}
            | {c: _signed(d) for c, d in zip(self.conditions, s.differences, strict=True)}
            | {"flips": s.flips, "leader": s.leader}
            for s in self.separations
        ]
        said = f"A less B, positive where A is better; {len(self.flipping)} of {len(table)} measures change their order"
        return f"{said}\n{table_text(table)}"


def _rank_key(difference: float) -> float:
    return math.inf if math.isnan(difference) else -difference


def _signed(difference: float) -> str:
    return "–" if math.isnan(difference) else f"{difference:+.3f}"


def discrimination(
    a: Any,
    b: Any,
    *,
    prevalences: Any = USUAL,
    metrics: Iterable[Any] | None = None,
    tolerance: float = 0.0,
) -> Discrimination:
    """Which measures tell two classifiers apart, and which change their order as the classes' shares change (Wu).

    Each classifier is a point (TPR, TNR) or one table, put to every prevalence; or Counts of one table a condition,
    such as three test sets, which are taken as they are. A measure separates the two where they differ by more than
    `tolerance` under every condition and always in the same order.

    >>> careful, lopsided = (0.8, 0.8), (0.99, 0.5)
    >>> found = discrimination(careful, lopsided, metrics=["accuracy", "ac_score", "g_mean", "balanced_accuracy"])
    >>> found.flipping
    ['accuracy']
    >>> [name for name, _ in found.ranking("0.1")]
    ['accuracy', 'ac_score', 'g_mean', 'balanced_accuracy']
    """
    if not (isinstance(tolerance, (int, float)) and tolerance >= 0):
        raise InputError(f"tolerance is a difference of 0 or more that is still called none, not {tolerance!r}.")
    chosen = directed(metrics)
    tables, conditions = _pair(a, b, prevalences)
    one, other = (measured(chosen, table) for table in tables)
    differences = _ordered(one, other, chosen)
    ranks = np.argsort(np.argsort(-np.nan_to_num(differences, nan=-np.inf), axis=1, kind="stable"), axis=1) + 1
    return Discrimination(
        conditions,
        Rows(
            _separation(m.name, conditions, differences[:, i], ranks[:, i], tolerance) for i, m in enumerate(chosen)
        ),
        tolerance,
    )  # fmt: skip


def _separation(
    name: str, conditions: tuple[str, ...], differences: Array, ranks: Array, tolerance: float
) -> Separation:  # fmt: skip
    signs = np.sign(differences)
    told = signs[~np.isnan(signs) & (signs != 0)]
    flips = int((told[1:] != told[:-1]).sum())
    apart = bool((np.abs(differences) > tolerance).all()) and not flips
    return Separation(name, conditions, tuple(map(float, differences)), tuple(ranks.tolist()), flips, apart)


def _pair(a: Any, b: Any, prevalences: Any) -> tuple[tuple[Counts, Counts], tuple[str, ...]]:
    """The tables of both classifiers under each condition, and the conditions' names."""
    conditions = [isinstance(side, Counts) and side.shape != () for side in (a, b)]
    if all(conditions):
        if a.shape != b.shape or len(a.shape) != 1:
            raise InputError(f"Both classifiers need one table a condition; these have shapes {a.shape} and {b.shape}.")
        return (a, b), _distinct(f"{p:.3g}" for p in np.asarray(a.positives / np.maximum(a.total, 1e-300)))
    if any(conditions):
        raise InputTypeError("One classifier is an array of tables and the other is not; give both alike.")
    at = np.atleast_1d(shares(prevalences))
    rates = [_rates(side) for side in (a, b)]
    return (at_rates(*rates[0], at), at_rates(*rates[1], at)), _distinct(f"{p:g}" for p in at)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The names of the conditions, numbered where two are alike."""
    told = list(names)
    return tuple(told) if len(set(told)) == len(told) else tuple(f"{name} ({i})" for i, name in enumerate(told, 1))


def _rates(side: Any) -> tuple[float, float]:
    """The (TPR, TNR) of one classifier."""
    if isinstance(side, Counts):
        if not (side.positives > 0 and side.negatives > 0):
            raise InputError("A table without positives or without negatives says nothing about another prevalence.")
        return float(side.tp / side.positives), float(side.tn / side.negatives)
    try:
        tpr, tnr = (float(rate) for rate in side)
    except (TypeError, ValueError):
        raise InputTypeError(f"A classifier is Counts or a pair (TPR, TNR), not {side!r}.") from None
    if not (0 <= tpr <= 1 and 0 <= tnr <= 1):
        raise InputError(f"TPR and TNR lie between 0 and 1, not {side!r}.")
    return tpr, tnr


def _ordered(one: Array, other: Array, metrics: Sequence[Metric]) -> Array:
    """One less other, measures on the last axis, turned so that positive is better; 0 where they are equal."""
    turn = np.array([-1.0 if m.direction == "lower" else 1.0 for m in metrics])
    with np.errstate(invalid="ignore"):
        gap = (one - other) * turn
        return np.asarray(np.where(np.abs(gap) <= ROUNDING * np.maximum(1, np.abs(one)), 0 * gap, gap))


# ---------------------------------------------------------------- two measures


@dataclass(frozen=True)
class Disagreement:
    """How often two measures put two classifiers in opposite order, over the (TPR, TNR) plane.

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
        said = f"{self.a} and {self.b} order {100 * self.share:.3g} % of pairs of classifiers differently"
        parts = (f"{three_digits(s)} at {p:g}" for p, s in zip(self.prevalences, self.by_prevalence, strict=True))
        return f"{said} ({', '.join(parts)})"


def disagreement(metric_a: Any, metric_b: Any, prevalence: Any = USUAL, **options: Any) -> Disagreement:
    """The share of pairs of points of the (TPR, TNR) plane that two measures order differently, by prevalence.

    `options` are those of disagreements. Accuracy and balanced accuracy agree where the classes are balanced, and
    where one class is vanishing they order one pair in four differently.

    >>> found = disagreement("accuracy", "balanced_accuracy", [0.5, 0.1, 0.001])
    >>> [round(share, 2) for share in found.by_prevalence]
    [0.0, 0.21, 0.25]
    """
    return disagreements([metric_a, metric_b], prevalence, **options)[0]


def disagreements(
    metrics: Iterable[Any] | None = None,
    prevalence: Any = USUAL,
    *,
    points: str = "quasi-random",
    size: int | None = None,
    rng: Any = None,
) -> Rows[Disagreement]:
    """Every pair of measures: how often they order two classifiers differently, most first.

    The classifiers are pairs of points of the (TPR, TNR) plane: `size` quasi-random ones (65,536; Sobol's sequence,
    scrambled by `rng`), or all pairs of a grid of `size` by `size` points (21).
    """
    chosen = directed(metrics)
    if len(chosen) < 2:
        raise InputError("It takes two measures or more to disagree; name them in a list.")
    at = np.atleast_1d(shares(prevalence))
    plane = _plane(points, size, rng)
    tallies = np.stack([_tally(chosen, plane, float(p)) for p in at], -1)
    _check_defined(chosen, tallies[2])
    found = [_disagreement((chosen[i].name, chosen[j].name), tallies[:, i, j], plane.shape[-1], at)
             for i, j in combinations(range(len(chosen)), 2)]  # fmt: skip
    return Rows(sorted(found, key=lambda pair: -np.nan_to_num(pair.share)))


def _tally(metrics: Sequence[Metric], plane: Array, pi: float) -> Array:
    """For every pair of measures the pairs of points ordered differently, those tied, and those where both are defined.

    The orders are kept as bits and counted; a matrix product of them took twenty times as long on busy cores.
    """
    first, second = (measured(metrics, at_rates(tpr, tnr, pi)) for tpr, tnr in plane)
    gap = _ordered(first, second, metrics).T
    ahead, behind, known = (np.packbits(bits, axis=-1) for bits in (gap > 0, gap < 0, ~np.isnan(gap)))
    against, defined = _common(ahead, behind) + _common(behind, ahead), _common(known, known)
    return np.stack([against, defined - _common(ahead | behind, ahead | behind), defined])


def _common(one: Array, other: Array) -> Array:
    """How many bits each row of one shares with each row of the other."""
    return np.stack([np.bitwise_count(row & other).sum(-1, dtype=np.int64) for row in one])


def _check_defined(metrics: Sequence[Metric], defined: Array) -> None:
    for i, metric in enumerate(metrics):
        if not defined[i, i].any():
            raise InputError(f"{metric.name} is undefined on every table tried, so it orders nothing; leave it out.")


def _disagreement(names: tuple[str, str], tally: Array, pairs: int, at: Array) -> Disagreement:
    against, tied, defined = tally
    with np.errstate(invalid="ignore"):
        by, share, ties = against / defined, against.sum() / defined.sum(), tied.sum() / defined.sum()
    missing = 1 - defined.sum() / (pairs * len(at))
    ats = tuple(map(float, at)), tuple(map(float, by))
    return Disagreement(*names, float(share), float(ties), float(missing), *ats)


def _plane(points: str, size: int | None, rng: Any) -> Array:
    """Pairs of points: first and second classifier x (TPR, TNR) x pairs."""
    if points not in POINTS:
        raise InputError(f"points is {' or '.join(map(repr, POINTS))}, not {points!r}.")
    count = {"grid": 21}.get(points, 65_536) if size is None else size
    most = int((2 * MOST_PAIRS) ** 0.25) if points == "grid" else MOST_PAIRS
    if not (isinstance(count, (int, np.integer)) and 2 <= count <= most):
        raise InputError(f"size is a whole number from 2 to {most:,} with {points} points, not {size!r}.")
    if points == "grid":
        one = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, count)]), -1).reshape(-1, 2)
        first, second = np.triu_indices(len(one), 1)
        return np.stack([one[first].T, one[second].T])
    from scipy.stats import qmc

    power = math.ceil(math.log2(count))  # Sobol's sequence is even over powers of two
    return np.asarray(qmc.Sobol(4, rng=generator(rng)).random_base2(power)[:count].T.reshape(2, 2, count))
