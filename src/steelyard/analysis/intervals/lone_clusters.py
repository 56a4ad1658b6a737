"""Lone clusters: a class whose rows are all of one cluster, of which nothing shows how its clusters vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.score_values import score_values
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.metrics.metric import Metric


def _lone_classes(tables: Array) -> Array:
    """The classes in the table of one cluster alone, clusters first and true classes next."""
    return np.flatnonzero((tables.sum(tuple(range(2, tables.ndim))) > 0).sum(0) == 1)


def unknown_variation(names: Sequence[str]) -> str:
    """Why there is no interval.

    >>> unknown_variation(["class 1"])
    'the rows of class 1 are all of one cluster, which does not show how clusters vary'
    """
    return f"the rows of {', and those of '.join(names)} are all of one cluster, which does not show how clusters vary"


def class_names(estimand: Estimand) -> list[str]:
    """The classes of the table that the metric is taken of: all, or one and the rest."""
    table, place = estimand.label_table, estimand.positive_place
    if isinstance(table, Counts):
        return ["the positive class", "the negative class"]
    names = [f"class {label}" for label in table.labels]
    return names if place is None else [names[place], " and ".join(names[:place] + names[place + 1 :])]


def label_reason(estimand: Estimand, tables: Array, names: Sequence[str], *, fixed_shares: bool = False) -> str | None:
    """Why a metric of labels has no interval, or None: it reads a class of one cluster, and is no mean over rows."""
    lone = _lone_classes(tables)
    if not len(lone) or (not fixed_shares and _is_row_mean(estimand, tables.shape[1])):
        return None
    read = [names[place] for place in lone if _reads_class(estimand, tables.shape[1], int(place))]
    return unknown_variation(read) if read else None


def score_reason(
    metric: Metric,
    parameters: Mapping[str, Any],
    clusters: Array | None,
    positive: Array,
    *,
    fixed_shares: bool = False,
) -> str | None:
    """Why a metric of scores has no interval, or None; all that are no mean over rows read both classes."""
    if clusters is None:
        return None
    sides = {"the positive class": clusters[positive], "the negative class": clusters[~positive]}
    lone = [name for name, members in sides.items() if (members == members[:1]).all()]
    if not lone or (not fixed_shares and is_mean_of_scores(metric, parameters)):
        return None
    return unknown_variation(lone)


def _is_row_mean(estimand: Estimand, k: int) -> bool:
    """Whether it is a mean over all rows, as accuracy is: that of a half of two tables is half-way between theirs."""
    one, other = np.random.default_rng(0).dirichlet(np.ones(k * k), 2).reshape(2, k, k)
    values = estimand.on_cells(np.stack([one, other, (one + other) / 2]))
    return bool(np.isclose(values[..., 2], (values[..., 0] + values[..., 1]) / 2, rtol=1e-9).all())


def _reads_class(estimand: Estimand, k: int, place: int) -> bool:
    """Whether it changes with what the rows of that class are predicted as."""
    right = np.random.default_rng(0).dirichlet(np.ones(k * k)).reshape(k, k)
    wrong = right.copy()
    right[place], wrong[place] = (right[place].sum() * (np.arange(k) == at) for at in (place, (place + 1) % k))
    values = estimand.on_cells(np.stack([right, wrong]))
    return not bool(np.isclose(values[..., 0], values[..., 1], rtol=1e-9, equal_nan=True).all())


def is_mean_of_scores(metric: Metric, parameters: Mapping[str, Any]) -> bool:
    """Whether it is a mean over all rows, as the Brier score is."""
    weights = np.array([[1.0, 2, 3, 4], [4.0, 1, 2, 3], [2.5, 1.5, 2.5, 3.5]])
    sides = [(np.array([0.2, 0.7]), weights[:, :2]), (np.array([0.3, 0.6]), weights[:, 2:])]
    positive, negative = (ClassScores(scores, mass, mass, mass) for scores, mass in sides)
    table = ScoreTable(positive, negative)
    values = np.broadcast_to(score_values(metric, table, parameters), 3)
    return bool(np.isclose(values[2], (values[0] + values[1]) / 2, rtol=1e-9))
