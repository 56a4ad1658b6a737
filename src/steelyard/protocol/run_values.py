"""Measured: a metric on the tables of all runs at once, and what its values say together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance import ROUNDING, chance, independent
from steelyard.analysis.rows import Flat
from steelyard.analysis.significance_tests import corrected_t_test
from steelyard.errors import InputError, InputTypeError, SteelyardError
from steelyard.metrics import application, notation
from steelyard.metrics.application import ClassCells
from steelyard.metrics.registry import get_metric, list_metrics
from steelyard.metrics.results import Options
from steelyard.statistics.confusion import Confusion, one_vs_rest
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.protocol.runs import Run
    from steelyard.protocol.splits import Part

KALITA = "f1[average=macro]"  # the number that Kalita ranks by: the F of the classes, averaged, over all runs
AVERAGED = ("precision", "recall", "f1")
AVERAGES = ("macro", "weighted")
_RANKED = ("roc_auc", "average_precision")  # what is averaged over the columns of scores of many classes


@dataclass(frozen=True)
class Reading:
    """A metric, and how classes enter it: by its own form or the positive class ("native"), or by an average."""

    metric: Metric
    average: str | None = "native"

    @property
    def name(self) -> str:
        """The written form."""
        return self.metric.name if self.average == "native" else f"{self.metric.name}[average={self.average}]"

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is, 0 where no value is best."""
        return {"higher": 1, "lower": -1}.get(self.metric.direction or "", 0)


def read(metric: Any) -> Reading:
    """A metric as a user names it: a name, f_beta[beta=2], f1[average=macro], a Metric or a function."""
    if isinstance(metric, Reading):
        return metric
    if not isinstance(metric, str) or "average=" not in metric:
        return Reading(get_metric(metric))
    stem, parameters = notation.read(metric)
    average = str(parameters.pop("average"))
    if average not in (*AVERAGES, "micro"):
        raise InputError(f"average= takes 'macro', 'weighted' or 'micro', not {average!r}.")
    return Reading(get_metric(notation.write(stem, parameters)), average)


def readings(metrics: Any, runs: Sequence[Run]) -> list[Reading]:
    """The metrics asked for; where none are, all that the runs allow, and Kalita's averages."""
    if isinstance(metrics, str):
        raise InputTypeError(f"metrics= takes a list of metrics; write [{metrics!r}].")
    if metrics is not None:
        return [read(metric) for metric in metrics]
    scores = [run.scores for run in runs if run.scores is not None]
    positive = runs[0].data.positive is not None
    found = [
        Reading(m)
        for m in list_metrics()
        if (
            _fits(m, scores)
            if m.scores is not None and scores
            else m.function is not None and (positive or m.classes is not None)
        )
    ]
    columns = _RANKED if not positive and any(run.answer.scores is not None for run in runs) else ()
    found += [Reading(get_metric(name), "macro") for name in columns]
    return found + [Reading(get_metric(name), average) for average in AVERAGES for name in AVERAGED]


def needs_scores(metrics: Any) -> bool:
    """Whether any of the metrics asked for is about scores."""
    return metrics is None or any(read(metric).metric.scores is not None for metric in metrics)


def _fits(metric: Metric, scores: Sequence[Any]) -> bool:
    """Whether scores such as these can be judged by the metric."""
    if metric.name == "precision_at_k":
        return all(table.positive.total + table.negative.total >= metric.parameters["k"] for table in scores)
    return metric.family != "calibration" or all(table.has_probabilities for table in scores)


# ---------------------------------------------------------------- on all runs at once


def values(reading: Reading, runs: Sequence[Run], tables: Array) -> Array:
    """The value of each run, and with average=None of each class on the last axis; NaN where a run failed."""
    if of_scores(reading, runs):
        return _of_scores(reading, runs)
    found = of_tables(reading, tables, runs[0].data)
    failed = [i for i, run in enumerate(runs) if run.error is not None]
    found[failed] = math.nan
    return found


def of_scores(reading: Reading, runs: Sequence[Run]) -> bool:
    """Whether the metric is taken of the scores: it knows no other way, or they are there."""
    metric = reading.metric
    return metric.scores is not None and (metric.function is None or any(run.scores is not None for run in runs))


def stacked(runs: Sequence[Run]) -> Array:
    """The tables of the runs on a first axis, a failed run's empty; then that of all, and what guessing expects."""
    k = len(runs[0].data.labels)
    tables = np.stack([np.zeros((k, k)) if run.confusion is None else run.confusion.matrix for run in runs])
    whole = tables.sum(0)
    guessed = independent(whole) if (whole.sum(1) > 0).sum() > 1 else np.zeros((k, k))
    return np.concatenate([tables, whole[None], guessed[None]])


def of_tables(reading: Reading, matrices: Array, data: Any) -> Array:
    """The metric on an array of tables of classes."""
    metric = reading.metric
    if reading.average == "native" and data.positive is not None:
        place = data.labels.index(data.positive)
        cells = (cell[..., place] for cell in one_vs_rest(matrices))
        return np.asarray(application.count_values(metric, Counts.trusted(*cells), metric.parameters))
    if reading.average == "native" and metric.classes is None:
        raise InputError(
            f"{metric.name} is about one class; name it with pos_label= (--positive), or write "
            f"{metric.name}[average=macro]."
        )
    options = Options(average=reading.average)
    return np.asarray(application.class_values(metric, ClassCells.of(matrices), options, metric.parameters))


def _of_scores(reading: Reading, runs: Sequence[Run]) -> Array:
    told = "an estimator with predict_proba or decision_function"
    if all(run.answer.scores is None for run in runs if run.error is None):
        raise InputError(f"{reading.name} needs scores: {told}.")
    by_columns = runs[0].data.positive is None
    if by_columns != (reading.average != "native"):
        stem = reading.metric.name
        needed, other = ("a positive class", f"{stem}[average=macro]") if by_columns else ("a score a class", stem)
        do = "give" if by_columns else "leave out"
        raise InputError(f"{reading.name} needs {needed}: {do} pos_label=, or ask for {other}.")
    if by_columns:
        return np.array([run.by_columns(reading.metric, str(reading.average)) for run in runs])
    return np.array([math.nan if run.scores is None else of_score_table(reading.metric, run.scores) for run in runs])


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
