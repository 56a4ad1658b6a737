"""Discrimination: which metrics tell two classifiers apart, and which change their order with the classes' shares.

After Wu and Cannistraci, who rank metrics by the difference of two classifiers under three imbalances. Where two
metrics disagree is in `disagreement`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.prevalence import shares
from steelyard.analysis.rows import Rows, table_text
from steelyard.auditing.disagreement import USUAL, disagreement, disagreements
from steelyard.auditing.model_tables import at_rates, directed, measured, ordered
from steelyard.errors import InputError, InputTypeError
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

__all__ = ["Discrimination", "disagreement", "disagreements", "discrimination"]


@dataclass(frozen=True)
class Separation:
    """How one metric tells classifier A from B over the conditions: positive differences speak for A."""

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
class Discrimination:
    """Two classifiers by every metric (rows) under every condition (columns): prevalences, or the tables given."""

    conditions: tuple[str, ...]
    separations: Rows[Separation]
    tolerance: float

    def __getitem__(self, name: Any) -> Separation:
        """The row of one metric."""
        wanted = get_metric(name).name
        for found in self.separations:
            if found.metric == wanted:
                return found
        raise InputError(f"{wanted} was not among the metrics tried; name it in metrics=.")

    @property
    def flipping(self) -> list[str]:
        """The metrics that put A ahead under some conditions and B under others."""
        return [found.metric for found in self.separations if found.flips]

    @property
    def separating(self) -> list[str]:
        """The metrics that tell the two apart under every condition, always in the same order."""
        return [found.metric for found in self.separations if found.separates]

    def ranking(self, condition: int | str = 0) -> list[tuple[str, float]]:
        """The metrics by their difference under one condition, what speaks most for A first, as in Wu's Figure 2."""
        i = self.conditions.index(condition) if condition in self.conditions else condition
        if not (isinstance(i, int) and -len(self.conditions) <= i < len(self.conditions)):
            told = ", ".join(self.conditions)
            raise InputError(f"There is no condition {condition!r}; there are {told}.")
        order = sorted(self.separations, key=lambda found: _rank_key(found.differences[i]))
        return [(found.metric, found.differences[i]) for found in order]

    def __repr__(self) -> str:
        table = [
            {"metric": s.metric}
            | {c: _signed(d) for c, d in zip(self.conditions, s.differences, strict=True)}
            | {"flips": s.flips, "leader": s.leader}
            for s in self.separations
        ]
        said = f"A less B, positive where A is better; {len(self.flipping)} of {len(table)} metrics change their order"
        return f"{said}\n{table_text(table)}"


def _rank_key(difference: float) -> float:
    return math.inf if math.isnan(difference) else -difference


def _signed(difference: float) -> str:
    return "–" if math.isnan(difference) else f"{difference:+.3f}".replace("-0.000", "+0.000")


def discrimination(
    a: Any,
    b: Any,
    *,
    prevalences: Any = USUAL,
    metrics: Iterable[Any] | None = None,
    tolerance: float = 0.0,
) -> Discrimination:
    """Which metrics tell two classifiers apart, and which change their order as the classes' shares change (Wu).

    Each classifier is a point (TPR, TNR) or one table, put to every prevalence; or Counts of one table a condition,
    such as three test sets, which are taken as they are. A metric separates the two where they differ by more than
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
    _check_directed(chosen)
    tables, conditions = _pair(a, b, prevalences)
    one, other = (measured(chosen, table) for table in tables)
    differences = ordered(one, other, chosen)
    from scipy.stats import rankdata

    ranks = rankdata(-_tied(np.nan_to_num(differences, nan=-np.inf)), method="min", axis=1)
    return Discrimination(
        conditions,
        Rows(_separation(m.name, conditions, differences[:, i], ranks[:, i], tolerance) for i, m in enumerate(chosen)),
        tolerance,
    )


def _check_directed(metrics: Sequence[Metric]) -> None:
    without = next((m.name for m in metrics if m.direction is None), None)
    if without is not None:
        raise InputError(
            f"{without} says of no value that it is better than another, so nobody leads by it; "
            "leave it out, or declare what is best with @metric."
        )


def _tied(differences: Array) -> Array:
    """The differences with twelve decimals, so that ranks do not tell apart what rounding made different."""
    return np.asarray(np.round(differences, 12))


def _separation(
    name: str, conditions: tuple[str, ...], differences: Array, ranks: Array, tolerance: float
) -> Separation:
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
