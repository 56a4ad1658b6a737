"""The rows of an evaluation: each metric on the tables it reads, with its interval, beside its no-skill baseline."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance.chance import Baselines
from steelyard.analysis.chance.chance_tests import ChanceTest, beats_chance
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.prevalence.prevalence import table_at
from steelyard.analysis.results.result import Rows
from steelyard.evaluation.metric_row import CLASS_METRICS, ClassRow, MetricRow
from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.ranking import check_probabilities
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard._types import Label
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable
    from steelyard.statistics.statistic import MetricTable

SHOWN_AVERAGES = ("macro", "weighted")


def metric_rows(
    table: Confusion | None,
    scores: ScoreTable | None,
    positive: Label,
    specs: Iterable[MetricSpec],
    inference: Inference,
) -> list[MetricRow]:
    """The rows of the metrics: of labels, of scores, and of classes averaged or by name where that was asked for."""
    native = [spec for spec in specs if spec.is_native]
    by_class = [spec for spec in specs if not spec.is_native and spec.metric.function is not None]
    rows = [
        *_label_rows(table, scores, positive, native, inference),
        *([] if scores is None else _score_rows(scores, native, inference)),
    ]
    if table is None:
        return rows
    return rows + [row for spec in by_class for row in table_rows([spec], table, CallOptions(), inference)]


def _label_rows(
    table: Confusion | None,
    scores: ScoreTable | None,
    positive: Label,
    specs: Sequence[MetricSpec],
    inference: Inference,
) -> list[MetricRow]:
    if table is None:
        return []
    of_labels = [spec for spec in specs if spec.metric.function is not None and not spec.reads_scores(scores)]
    if inference.clustered is not None:
        of_labels = [spec for spec in of_labels if spec.metric.scores is None]
    if positive is not None:
        return table_rows(of_labels, table, CallOptions(pos_label=positive), inference)
    rows = table_rows([spec for spec in of_labels if spec.metric.classes], table, CallOptions(), inference)
    averaged = [
        replace(spec, average=average)
        for average in SHOWN_AVERAGES
        for spec in of_labels
        if "per class" in spec.metric.roles
    ]
    return rows + table_rows(averaged, table, CallOptions(), inference)


def _score_rows(scores: ScoreTable, specs: Sequence[MetricSpec], inference: Inference) -> list[MetricRow]:
    """The metrics of scores; undefined where the rows are of one class, as in a group or a small test part."""
    of_scores = [spec for spec in specs if spec.metric.scores is not None]
    if not (scores.positive.n and scores.negative.n):
        why = "no negatives" if scores.positive.n else "no positives"
        return [MetricRow(spec, *(math.nan,) * 4, why) for spec in of_scores]
    return table_rows([spec for spec in of_scores if spec.metric.fits_scores(scores)], scores, CallOptions(), inference)


def table_rows(
    specs: Sequence[MetricSpec], table: MetricTable, options: CallOptions, inference: Inference
) -> list[MetricRow]:
    """The rows of metrics on one table, each beside its no-skill baseline."""
    intervals = table_intervals(specs, table, options, inference)
    baselines = Baselines(table_at(table, inference.prevalence))
    return [
        _row(interval, _baseline(spec, baselines, options)) for spec, interval in zip(specs, intervals, strict=True)
    ]


def check_has_form(spec: MetricSpec, labels: Sequence[Label]) -> None:
    """Refuse a metric of one class among classes of which none is the positive one, and of probabilities without."""
    if len(labels) > 2 and spec.is_native and spec.metric.of_probabilities and spec.metric.columns is not None:
        raise InputError(
            f"{spec.name} is of probabilities, a column for each class, that sum to 1 in each row; there are none "
            "here. Give them as y_score=."
        )
    if spec.is_native and spec.metric.classes is None:
        reason = f"{spec.name} is of one class, and which is the positive one is not clear from the labels"
        raise InputError(f"{reason} {first_ten(labels)}; name it with pos_label=.")


def check_named(
    specs: list[MetricSpec],
    rows: Iterable[MetricRow],
    table: Confusion | None,
    scores: ScoreTable | None,
    positive: Label,
) -> list[MetricSpec]:
    """The metrics that were named; one that has no row, since the data have no form of it, is refused."""
    present = {row.spec.metric.name for row in rows}
    for spec in (spec for spec in specs if spec.metric.name not in present):
        if scores is not None and spec.metric.of_probabilities:
            check_probabilities(spec.name, scores)
        if scores is not None and spec.metric.least_rows is not None:
            name, rank = spec.metric.name, spec.metric.least_rows
            raise InputError(
                f"{spec.name} has no value here: it is of the {spec.metric.parameters[rank]:g} rows that score "
                f"highest, and there are {scores.n:,}; ask for fewer, as in {name}[{rank}={max(scores.n // 2, 1)}]."
            )
        if table is not None and positive is None:
            check_has_form(spec, table.labels)
        raise InputError(f"{spec.name} has no value here: of rows in clusters it needs scores.")
    return specs


def _baseline(spec: MetricSpec, baselines: Baselines, options: CallOptions) -> float:
    """The no-skill baseline; NaN where a table, or a group, holds one class only."""
    try:
        return baselines.same_margins(spec, options)
    except InputError:
        return math.nan


def _row(interval: Interval, baseline: float) -> MetricRow:
    undefined = None if math.isfinite(interval.value) else interval.why
    ends = (interval.value, interval.low, interval.high)
    row = MetricRow(interval.spec, *ends, baseline, undefined, interval.undefined_share, interval.method)
    if interval.calibrated is None or interval.calibrated_high is None:
        without = undefined is None and math.isnan(interval.low)
        return replace(row, no_interval=interval.why) if without else row
    return replace(row, chance=interval.calibrated, chance_high=interval.calibrated_high)


def beats_no_skill(table: Confusion | None, scores: ScoreTable | None, positive: Label) -> ChanceTest | None:
    """The test against the no-skill baseline; None where that cannot be asked."""
    try:
        if table is not None:
            return beats_chance(table.counts(positive) if positive is not None and not table.weighted else table)
        return None if scores is None else beats_chance(scores)
    except (InputError, InputTypeError):
        return None


def class_rows(table: Confusion | None, inference: Inference) -> Rows[ClassRow]:
    """Each class against the rest."""
    if table is None or not len(table.labels):
        return Rows()
    specs = [MetricSpec.of(name) for name in CLASS_METRICS]
    by_metric = table_intervals(specs, table, CallOptions(average=None), inference)
    columns = zip(*map(_of_classes, by_metric), strict=True)
    return Rows(
        ClassRow(label, rows, *intervals)
        for label, rows, intervals in zip(table.labels, table.true_rows.tolist(), columns, strict=True)
    )


def with_class_ends(rows: Iterable[MetricRow], by_class: Iterable[ClassRow]) -> list[MetricRow]:
    """The rows, those of one class with the ends that the table of classes gives them: one quantity, one interval."""
    ends = {(row.label, name): interval for row in by_class for name, interval in row.intervals.items()}
    return [
        row if known is None else replace(row, low=known.low, high=known.high, method=known.method)
        for row, known in ((row, ends.get((row.spec.label, row.spec.metric.name))) for row in rows)
    ]


def in_order(rows: Iterable[MetricRow], specs: Sequence[MetricSpec]) -> list[MetricRow]:
    """The rows in the order of the metrics that were asked for, each once; a metric's averages follow it."""
    places = {spec: place for place, spec in enumerate(specs)}
    first = {spec.metric: place for spec, place in reversed(places.items())}
    once = {row.spec: row for row in rows}.values()
    return sorted(once, key=lambda row: places.get(row.spec, first.get(row.spec.metric, len(specs))))


def _of_classes(interval: Interval) -> Iterator[Interval]:
    """The interval of each class out of those of all."""
    ends = [np.asarray(end, dtype=np.float64).tolist() for end in (interval.value, interval.low, interval.high)]
    whys = [None] * len(ends[0]) if interval.why is None else list(interval.why)
    for value, low, high, why in zip(*ends, whys, strict=True):
        yield replace(interval, value=value, low=low, high=high, bin_error=None, why=why)
