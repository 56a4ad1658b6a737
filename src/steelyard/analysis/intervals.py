"""Uncertainty: how sure a value is, as an interval that holds what it promises, at a cost that rows do not change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis import draws as drawing
from steelyard.analysis.rows import Rows
from steelyard.analysis.sampler import COUNT_DRAWS, METHODS, Interval, Sampler
from steelyard.errors import InputError, InputTypeError, did_you_mean
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.array_tables import declared_labels
from steelyard.metrics import application
from steelyard.metrics.registry import get_metric
from steelyard.metrics.results import Options
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array

READ = ("pos_label", "labels", "average", "sample_weight", "frequency")
MOST_AT_ONCE = 20_000_000  # draws of a table at a time: four cells of 8 bytes each


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
    """How sure a metric is on counts, a table, or labels and predictions or scores.

    The default draws tables from the posterior (1/2 row added to each cell of 2 x 2), which covers where the
    percentile bootstrap collapses; a kinked metric takes the range over the likely draws, roc_auc a score interval,
    other rank metrics a Bayesian bootstrap. `groups` names the cluster of each row, such as the patient;
    `prevalence` reads the metric where that share of the rows is positive.

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
    """The intervals of many metrics, which share one set of draws; the arguments are those of interval.

    >>> from steelyard import Counts
    >>> intervals(["recall", "precision"], Counts(tp=28, fn=23, fp=72, tn=2680), draws=1000)[1].value
    0.28
    """
    check(level, method, draws)
    if isinstance(metrics, str):
        raise InputTypeError(f"intervals takes a list of metrics; write [{metrics!r}], or use interval for one.")
    known = [get_metric(metric) for metric in metrics]
    parameters = [{key: value for key, value in options.items() if key in m.parameters} for m in known]
    reading = _reading({key: value for key, value in options.items() if not any(key in m.parameters for m in known)})
    source = drawing.generator(rng)
    if isinstance(data, Counts) and data.shape and np.prod(data.shape) * (draws or COUNT_DRAWS) > MOST_AT_ONCE:
        return _by_blocks(known, data, level, method, draws or COUNT_DRAWS, source, prevalence, options)
    sampler = Sampler(level, method, draws, source, prevalence=prevalence)
    if groups is not None:
        sampler.tables = cluster_tables(data, y_other, groups, reading, prevalence)
    tables: dict[bool, Any] = {}  # weighed once for the metrics of labels, once for those of scores
    for m in known:
        if (m.scores is not None) not in tables:
            tables[m.scores is not None] = application.weighed(m, data, y_other, reading)
        if groups is not None and m.scores is not None:
            raise InputError(f"{m.name} is a metric of scores; clusters are weighed for metrics of labels only.")
    asked = [
        (m, tables[m.scores is not None], {**m.parameters, **given}) for m, given in zip(known, parameters, strict=True)
    ]
    return Rows(sampler.intervals(asked, reading))


def _reading(options: dict[str, Any]) -> Options:
    """The options of a call, checked; an undefined value has no interval, so nothing replaces it."""
    for key in options:
        if key not in READ:
            raise InputTypeError(f"An interval has no option {key!r}.{did_you_mean(key, READ)}")
    return Options(**options)


def _by_blocks(
    known: list[Any], counts: Counts, level: float, method: str, draws: int, rng: Any, prevalence: Any, options: Any
) -> Rows[Interval]:
    """The intervals of very many tables, some at a time, so that their draws fit into memory."""
    flat = Counts.trusted(*(np.ravel(cell) for cell in counts))
    size = max(1, MOST_AT_ONCE // draws)
    how = {"level": level, "method": method, "draws": draws, "rng": rng, "prevalence": prevalence, **options}
    parts = [intervals(known, flat[a : a + size], **how) for a in range(0, len(flat.tp), size)]
    return Rows(_joined([part[i] for part in parts], counts.shape) for i in range(len(known)))


def _joined(parts: list[Interval], shape: tuple[int, ...]) -> Interval:
    value, low, high, why = (
        np.concatenate([getattr(part, key) for part in parts]).reshape(shape) for key in ("value", "low", "high", "why")
    )
    share = float(np.average([part.undefined_share for part in parts], weights=[len(part.value) for part in parts]))
    return replace(parts[0], value=value, low=low, high=high, why=why, undefined_share=share)


def check(level: float, method: str, draws: int | None) -> None:
    """Refuse a level, a method or a number of draws that make no sense."""
    drawing.check_level(level)
    if method not in METHODS:
        raise InputError(f"No method is called {method!r}; there are {', '.join(METHODS)}.")
    if draws is not None and (not isinstance(draws, (int, np.integer)) or isinstance(draws, bool) or draws < 1):
        raise InputError(f"draws is a whole number of 1 or more, not {draws!r}.")


def cluster_tables(y_true: Any, y_pred: Any, groups: Any, options: Options, prevalence: Any) -> Array:
    """The table of each cluster that has any weight, clusters on a first axis; an average row weighs 1."""
    if y_pred is None:
        raise InputTypeError("groups= names the cluster of each row, so give the rows: (y_true, y_pred), not a table.")
    if prevalence is not None:
        raise InputError(
            "prevalence= and groups= cannot be given together; weigh the clusters at their own prevalence."
        )
    true, pred = arrays.column(y_true, "y_true"), arrays.column(y_pred, "y_pred")
    member = arrays.column(groups, "groups")
    weight = arrays.weights(options.sample_weight, "sample_weight")
    times = arrays.weights(options.frequency, "frequency", whole=True)
    arrays.check_lengths(y_true=true, y_pred=pred, groups=member, sample_weight=weight, frequency=times)
    true_codes, pred_codes, labels = label_codes.encode_pair(true, pred, declared_labels(options.labels))
    which, clusters = label_codes.encode(member, None, "groups")
    k, mass = len(labels), np.ones(len(true))
    for column in (weight, times):
        mass = mass if column is None else mass * column
    code = (which.astype(np.int64) * k + true_codes.astype(np.int64)) * k + pred_codes.astype(np.int64)
    tables = np.bincount(code, mass, minlength=len(clusters) * k * k).reshape(-1, k, k)
    held = tables[tables.sum((1, 2)) > 0]
    if len(held) < 2:
        raise InputError("groups= names one cluster only; with no second one nothing tells how clusters differ.")
    # The prior adds rows, so a row must weigh 1 on average, whatever the scale of the weights.
    one = 1.0 if weight is None else (weight * mass).sum() / mass.sum()
    return np.asarray(held / one)
