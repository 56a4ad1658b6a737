"""Uncertainty: how sure a value is, as an interval that holds what it promises, at a cost that rows do not change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis import draws as drawing
from steelyard.analysis.rows import Rows
from steelyard.analysis.sampling import METHODS, Array, Interval, Sampler
from steelyard.errors import InputError, InputTypeError
from steelyard.ingest import arrays, encoding
from steelyard.ingest.labels import declared_labels
from steelyard.metrics import calling
from steelyard.metrics.calling import Options
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Iterable


def interval(
    metric: Any,
    data: Any,
    y_other: Any = None,
    *,
    level: float = 0.95,
    method: str = "auto",
    draws: int | None = None,
    rng: Any = None,
    groups: Any = None,
    prevalence: Any = None,
    **options: Any,
) -> Interval:
    """How sure a measure is on counts, a table, or labels and predictions or scores.

    The default draws tables from the posterior (1/2 row added to each cell of 2 x 2), which covers where the
    percentile bootstrap collapses; a kinked measure takes the range over the likely draws, roc_auc a score interval,
    other rank measures a Bayesian bootstrap. `groups` names the cluster of each row, such as the patient;
    `prevalence` reads the measure where that share of the rows is positive.

    >>> from steelyard import Counts
    >>> interval("recall", Counts(tp=28, fn=23, fp=72, tn=2680))
    recall 0.549 (0.414 to 0.680), 95 % posterior
    """
    return intervals(
        [metric],
        data,
        y_other,
        level=level,
        method=method,
        draws=draws,
        rng=rng,
        groups=groups,
        prevalence=prevalence,
        **options,
    )[0]


def intervals(
    metrics: Iterable[Any],
    data: Any,
    y_other: Any = None,
    *,
    level: float = 0.95,
    method: str = "auto",
    draws: int | None = None,
    rng: Any = None,
    groups: Any = None,
    prevalence: Any = None,
    **options: Any,
) -> Rows[Interval]:
    """The intervals of many measures, which share one set of draws."""
    check(level, method, draws)
    known = [get_metric(metric) for metric in metrics]
    parameters = {key: options.pop(key) for key in list(options) if any(key in m.parameters for m in known)}
    reading = Options(**options)
    sampler = Sampler(level, method, draws, drawing.generator(rng), prevalence=prevalence)
    if prevalence is not None and groups is not None:
        raise InputError(
            "prevalence= and groups= cannot be given together; weigh the clusters at their own prevalence."
        )
    if groups is not None:
        sampler.tables = cluster_tables(data, y_other, groups, reading)
    found = [
        sampler.interval(m, calling.weighed(m, data, y_other, reading), reading, {**m.parameters, **parameters})
        for m in known
    ]
    return Rows(found)


def check(level: float, method: str, draws: int | None) -> None:
    """Refuse a level, a method or a number of draws that make no sense."""
    if not (isinstance(level, (int, float)) and 0 < level < 1):
        raise InputError(f"level is a probability between 0 and 1, such as 0.95, not {level!r}.")
    if method not in METHODS:
        raise InputError(f"No method is called {method!r}; there are {', '.join(METHODS)}.")
    if draws is not None and (not isinstance(draws, (int, np.integer)) or draws < 1):
        raise InputError(f"draws is a whole number of 1 or more, not {draws!r}.")


def cluster_tables(y_true: Any, y_pred: Any, groups: Any, options: Options) -> Array:
    """The table of each cluster, clusters on a first axis."""
    if y_pred is None:
        raise InputTypeError("groups= names the cluster of each row, so give the rows: (y_true, y_pred), not a table.")
    true, pred = arrays.column(y_true, "y_true"), arrays.column(y_pred, "y_pred")
    member = arrays.column(groups, "groups")
    arrays.check_lengths(y_true=true, y_pred=pred, groups=member)
    true_codes, pred_codes, labels = encoding.encode_pair(true, pred, declared_labels(options.labels))
    clusters, which = np.unique(member.astype(str) if member.dtype.kind == "O" else member, return_inverse=True)
    if len(clusters) < 2:
        raise InputError("groups= names one cluster only; with no second one nothing tells how clusters differ.")
    k = len(labels)
    code = (which * k + true_codes.astype(np.int64)) * k + pred_codes.astype(np.int64)
    weight = arrays.weights(options.sample_weight, "sample_weight")
    tables = np.bincount(code, weight, minlength=len(clusters) * k * k).reshape(-1, k, k)
    return tables.astype(np.float64)
