"""Measured: a metric on the tables of all runs at once, and what its values say together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance import chance, independent
from steelyard.analysis.corrected_t_test import corrected_t_test
from steelyard.analysis.formatting import ROUNDING
from steelyard.analysis.rows import Flat
from steelyard.errors import InputError, SteelyardError
from steelyard.evaluation.rows import SHOWN_AVERAGES
from steelyard.metrics import application
from steelyard.metrics.application import ClassCells
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.confusion import Confusion, one_vs_rest
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.runs import Run
    from steelyard.protocol.splits import Part
    from steelyard.statistics.score_table import ScoreTable

KALITA = "f1[average=macro]"  # the number that Kalita ranks by: the F of the classes, averaged, over all runs


def specs_of(metrics: Iterable[SpecLike] | None, runs: Sequence[Run]) -> list[MetricSpec]:
    """The metrics asked for; where none are, all that the runs allow, and Kalita's averages."""
    if metrics is not None:
        return MetricSpec.all_of(metrics)
    scores = [run.scores for run in runs if run.scores is not None]
    positive = runs[0].data.positive is not None
    specs = [MetricSpec(m) for m in list_metrics() if _fits(m, scores, positive=positive)]
    if not positive and any(run.answer.scores is not None for run in runs):
        specs += [MetricSpec(m, "macro") for m in metrics_with_role("averaged over columns")]
    return specs + [MetricSpec(m, average) for average in SHOWN_AVERAGES for m in metrics_with_role("per class")]


def _fits(metric: Metric, scores: Sequence[ScoreTable], *, positive: bool) -> bool:
    """Whether runs with such scores, or without any, can be judged by the metric."""
    if metric.scores is not None and scores:
        return all(metric.fits_scores(table) for table in scores)
    return metric.function is not None and (positive or metric.classes is not None)


def needs_scores(metrics: Iterable[SpecLike] | None) -> bool:
    """Whether any of the metrics asked for is about scores."""
    return metrics is None or any(MetricSpec.of(metric).metric.scores is not None for metric in metrics)


# ---------------------------------------------------------------- on all runs at once


def values(spec: MetricSpec, runs: Sequence[Run], tables: Array) -> Array:
    """The value of each run, and with average=None of each class on the last axis; NaN where a run failed."""
    if of_scores(spec, runs):
        return _of_scores(spec, runs)
    found = of_tables(spec, tables, runs[0].data)
    failed = [i for i, run in enumerate(runs) if run.error is not None]
    found[failed] = math.nan
    return found


def of_scores(spec: MetricSpec, runs: Sequence[Run]) -> bool:
    """Whether the metric is taken of the scores: it knows no other way, or they are there."""
    metric = spec.metric
    return metric.scores is not None and (metric.function is None or any(run.scores is not None for run in runs))


def stacked(runs: Sequence[Run]) -> Array:
    """The tables of the runs on a first axis, a failed run's empty; then that of all, and what guessing expects."""
    k = len(runs[0].data.labels)
    tables = np.stack([np.zeros((k, k)) if run.confusion is None else run.confusion.matrix for run in runs])
    whole = tables.sum(0)
    guessed = independent(whole) if (whole.sum(1) > 0).sum() > 1 else np.zeros((k, k))
    return np.concatenate([tables, whole[None], guessed[None]])


def of_tables(spec: MetricSpec, matrices: Array, data: Any) -> Array:
    """The metric on an array of tables of classes."""
    metric = spec.metric
    if spec.average == "native" and data.positive is not None:
        place = data.labels.index(data.positive)
        cells = (cell[..., place] for cell in one_vs_rest(matrices))
        return np.asarray(application.count_values(metric, Counts.trusted(*cells), metric.parameters))
    if spec.average == "native" and metric.classes is None:
        raise InputError(
            f"{metric.name} is about one class; name it with pos_label= (--positive), or write "
            f"{metric.name}[average=macro]."
        )
    options = CallOptions(average=spec.average)
    return np.asarray(application.class_values(metric, ClassCells.of(matrices), options, metric.parameters))


def _of_scores(spec: MetricSpec, runs: Sequence[Run]) -> Array:
    told = "an estimator with predict_proba or decision_function"
    if all(run.answer.scores is None for run in runs if run.error is None):
        raise InputError(f"{spec.name} needs scores: {told}.")
    by_columns = runs[0].data.positive is None
    if by_columns != (spec.average != "native"):
        stem = spec.metric.name
        needed, other = ("a positive class", f"{stem}[average=macro]") if by_columns else ("a score a class", stem)
        do = "give" if by_columns else "leave out"
        raise InputError(f"{spec.name} needs {needed}: {do} pos_label=, or ask for {other}.")
    if by_columns:
        return np.array([run.by_columns(spec.metric, str(spec.average)) for run in runs])
    return np.array([math.nan if run.scores is None else of_score_table(spec.metric, run.scores) for run in runs])


def of_score_table(metric: Metric, table: Any) -> float:
    """The value on one table of scores; NaN where it lacks a class."""
    if not (table.positive.total and table.negative.total):
        return math.nan
    return float(metric(table))


# ---------------------------------------------------------------- together


@dataclass(frozen=True)
class Summary(Flat):
    """One metric, or one kind of cost, over all runs of a model.

    `mean`, `sd`, `best` and `worst` are over the runs in which it is defined; `low` and `high` are Nadeau and Bengio's
    interval of the mean, which allows for training rows that runs share, and in which rows tested again do not count
    anew: to repeat the folds makes the mean steadier, but adds no rows. `pooled` is the value of the merged table.
    `chance` is for the mean: what guesses with the margins of each run score on average, over the same runs; of scores,
    and where a run tests rows of one class only, what guessing scores on the merged table. `undefined` counts the
    runs left out. `noise` is how far repeated timings of one run lie apart, as a share, and `median` that of the
    costs of the runs, which one slow run does not move. Where all runs gave the same value their
    spread tells nothing: then the interval is `of_rows`, that of the rows tested.
    """

    model: str | None
    name: str
    mean: float
    sd: float
    low: float
    high: float
    best: float
    worst: float
    pooled: float | None = None
    chance: float | None = None
    undefined: int | None = None
    noise: float | None = None
    why: str | None = None
    of_rows: bool = False
    median: float | None = None


@dataclass(frozen=True)
class Extent:
    """The rows that a run trains on and tests, in the mean, and the share of all tested that are no repetition."""

    train: float
    test: float
    fresh: float

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Extent:
        """Those of some runs."""
        train, test = np.mean([part.sizes for part in parts], axis=0).tolist()
        seen = np.zeros(parts[0].rows, dtype=bool)
        for part in parts:
            seen[part.test] = True
        return cls(train, test, min(1.0, int(seen.sum()) / sum(len(part.test) for part in parts)))


def summary(
    model: str | None,
    name: str,
    found: Array,
    sizes: Extent,
    sign: int,
    limits: tuple[float, float],
    level: float,
    **more: Any,
) -> Summary:
    """What the values of the runs say together."""
    known = found[np.isfinite(found)]
    left_out = len(found) - len(known)
    if not len(known):
        nothing = (math.nan,) * 6
        return Summary(model, name, *nothing, undefined=left_out or None, **more)
    low = high = sd = math.nan
    if len(known) > 1 and np.ptp(known) == 0:
        sd = 0.0  # and no interval: runs that agree by chance do not make the mean certain
    elif len(known) > 1:
        worth = len(known) * sizes.fresh
        test = corrected_t_test(known, n_train=sizes.train, n_test=sizes.test, worth=worth, level=level)
        sd, low, high = float(known.std(ddof=1)), max(test.low, limits[0]), min(test.high, limits[1])
    best, worst = (float(known.max()), float(known.min()))[:: -1 if sign < 0 else 1] if sign else (math.nan, math.nan)
    # A mean of equal values may round to a neighbour of theirs.
    mean = float(np.clip(known.mean(), known.min(), known.max()))
    return Summary(model, name, mean, sd, low, high, best, worst, undefined=left_out or None, **more)


def guessing(metric: Metric, scores: Any) -> float:
    """What guessing would score on the merged scores."""
    try:
        return float(chance(metric, scores).same_margins)
    except SteelyardError:  # one class only
        return math.nan


def without_rounding(metric: Metric, value: float) -> float:
    """What guessing scores, 0 where floats miss it by their rounding."""
    return 0.0 if metric.range[0] < 0 and abs(value) < ROUNDING else value


def merged(tables: Iterable[Any]) -> Any:
    """The tables of all runs as one; None where there are none."""
    held = [table for table in tables if table is not None]
    return sum(held[1:], start=held[0]) if held else None


def empty_table(labels: tuple[Any, ...], positive: Any) -> Confusion:
    """The table of no rows."""
    k = len(labels)
    return Confusion.of_rows(labels, np.zeros((k, k), dtype=np.int64), positive)
