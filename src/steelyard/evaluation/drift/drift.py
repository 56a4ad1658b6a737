"""Drift: periods of labelled rows, and of unlabelled ones, read against a reference period."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.intervals.intervals import intervals_of
from steelyard.analysis.results.result import Rows
from steelyard.evaluation.drift.change_parts import label_parts, prevalence_part, score_parts
from steelyard.evaluation.drift.drift_result import Drift
from steelyard.evaluation.drift.drift_rows import DriftChange
from steelyard.evaluation.drift.period_rows import Period, change_by_prevalence, period_row, unlabelled_period
from steelyard.evaluation.given_rows import GivenRows
from steelyard.evaluation.inputs import RowOptions, counted_inputs
from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.registry import metrics_with_role
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.natural_order import naturally_sorted
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet, Rng, Weights
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.drift.drift_rows import DriftPeriod
    from steelyard.ingest.source import Source
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.score_table import ScoreTable

_NAN = (math.nan,) * 3
_MOST_PERIODS = 400  # more than a year of days


@refuses_other_keywords
def drift(
    y_true: Tally | Frame | Source | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    period: ArrayLike | str | None = None,
    reference: Label = None,
    unlabelled: Mapping[Label, ArrayLike | ScoreTable | Tally] | None = None,
    threshold: float | None = None,
    metrics: Iterable[SpecLike] | None = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    true: str | None = None,
    pred: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    frequency: Weights | str = None,
    sample_weight: Weights = None,
) -> Drift:
    """What changed since a reference period, and whether the prevalence or the classifier changed it.

    `period` is the period of each row, such as the month: one value per row beside arrays, or a column of a frame; a
    Tally counted `by` one column has its periods. The `reference` is the first of them unless it is named. The change
    of each metric is split exactly: the part by the prevalence is what other shares of the classes do, the part by the
    classifier what other rates within the classes do, each the mean over moving it first and moving it last. Intervals
    draw both periods.
    `unlabelled` has the scores of periods without labels, by name: their prevalence is that of `steelyard.unlabelled`,
    and the part by the prevalence follows; the part by the classifier is not known. Periods are in their natural order.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> month = np.repeat(["2024-01", "2024-02"], 4000)
    >>> y_true = rng.random(8000) < np.where(month == "2024-01", 0.05, 0.2)
    >>> y_pred = rng.random(8000) < np.where(y_true, 0.7, 0.1)
    >>> found = drift(y_true, y_pred, period=month, metrics=["recall", "precision"])
    >>> print(found.verdict[0])
    2024-02 against 2024-01: the prevalence changed precision; the classifier shows no change.
    """
    columns = FrameColumns(true, pred, score, weight)
    rows = RowOptions(pos_label, labels, sample_weight, frequency)
    tally = _counted(GivenRows(y_true, y_pred, y_score, rows, columns, period, None), threshold)
    periods = _periods(tally, threshold, pos_label)
    first = _reference(periods, reference)
    inference = Inference(level, "auto", draws, rng)
    question = _Question(periods[first], inference, _specs(metrics))
    seen = {name: period_row(each, periods[first], inference) for name, each in periods.items()}
    changes = {name: question.changes(each) for name, each in periods.items() if name != first}
    for name, scores in (unlabelled or {}).items():
        if name in seen or str(name) in map(str, seen):
            raise InputError(f"{name!r} is a period of labelled rows; give the unlabelled ones another name.")
        seen[name], changes[name] = question.unlabelled(name, scores)
    if len(seen) < 2:
        raise InputError(f"There is one period only, {first!r}; drift needs two or more.")
    order = naturally_sorted(seen)
    return Drift(
        Rows(seen[name] for name in order),
        Rows(change for name in order for change in changes.get(name, [])),
        first,
        level,
    )


def _counted(given: GivenRows, threshold: float | None) -> Tally:
    """The rows counted by period."""
    if isinstance(given.data, Tally):
        if given.by is not None or len(given.data.by) != 1:
            raise InputError(f"A tally by period is counted by= one column; this one is by {first_ten(given.data.by)}.")
        return given.data
    if given.by is None:
        raise InputTypeError("The period of each row is needed; give period=, such as the month.")
    counted = given.counted(threshold=threshold, exact=None)
    assert isinstance(counted, Tally)  # noqa: S101 - of groups it is one
    return counted


def _periods(tally: Tally, threshold: float | None, pos_label: Label) -> dict[Label, Period]:
    """Each period with its tables, in order."""
    groups = {key[0]: part for key, part in tally.groups.items()}
    if len(groups) > _MOST_PERIODS:
        raise InputError(
            f"There are {len(groups):,} periods, such as {next(iter(groups))!r}, and at most {_MOST_PERIODS} can be "
            "read; give a column of weeks or months instead of dates or time stamps."
        )
    if any(key is None for key in groups):
        raise InputError("Some rows have no period; give each one, or leave them out.")
    whole = counted_inputs(tally, None, None, threshold, RowOptions(pos_label))
    positive = whole.positive_class(pos_label, tally)[0]
    return {name: Period.of(name, groups[name], whole.threshold, positive) for name in naturally_sorted(groups)}


def _reference(periods: Mapping[Label, Period], reference: Label) -> Label:
    if not periods:
        raise InputError("There are no periods; give rows of two or more.")
    if reference is None:
        return next(iter(periods))
    named = {str(name): name for name in periods}
    if str(reference) not in named:
        raise InputError(f"There is no period {reference!r}; there are {first_ten(list(periods))}.")
    return named[str(reference)]


def _specs(metrics: Iterable[SpecLike] | None) -> Sequence[MetricSpec]:
    if metrics is not None:
        return MetricSpec.all_of(metrics)
    return [MetricSpec(metric) for metric in metrics_with_role("headline") if not metric.is_of_label_sets]


@dataclass(frozen=True)
class _Question:
    """The reference period, and the metrics whose changes are asked for."""

    first: Period
    inference: Inference
    specs: Sequence[MetricSpec]
    values: dict[tuple[str, Label], tuple[float, float, float]] = field(default_factory=dict)  # those found already

    def changes(self, other: Period) -> list[DriftChange]:
        """The changes up to another period; of metrics that its tables have."""
        return [self._change(spec, other) for spec in self.specs if self._estimand(spec, self.first) is not None]

    def unlabelled(self, name: Label, scores: ArrayLike | ScoreTable | Tally) -> tuple[DriftPeriod, list[DriftChange]]:
        """A period of unlabelled rows, and the changes that its prevalence alone makes."""
        specs = [spec for spec in self.specs if self._estimand(spec, self.first) is not None]
        row, found = unlabelled_period(name, scores, self.first, specs, self.inference)
        if found.fits is False:
            return row, [self._refused(name, spec) for spec in specs]
        changes = []
        for metric in found.metrics:
            estimand = self._estimand(metric.spec, self.first)
            assert estimand is not None  # noqa: S101 - asked before
            moved = prevalence_part(estimand, self.first.positive, found.prevalence, self.inference)
            changes.append(change_by_prevalence(name, metric, self._value(metric.spec, self.first), moved))
        return row, changes

    def _refused(self, name: Label, spec: MetricSpec) -> DriftChange:
        why = "label shift does not explain the scores"
        return DriftChange.of(name, spec, [self._value(spec, self.first), _NAN], [_NAN] * 3, why)

    def _change(self, spec: MetricSpec, other: Period) -> DriftChange:
        values = [self._value(spec, period) for period in (self.first, other)]
        if (missing := other.missing or self.first.missing) is not None:
            return DriftChange.of(
                other.name, spec, values, [(values[1][0] - values[0][0], math.nan, math.nan), _NAN, _NAN], missing
            )
        tables = [each.table for period in (self.first, other) if (each := self._estimand(spec, period)) is not None]
        estimand = self._estimand(spec, self.first)
        assert estimand is not None  # noqa: S101 - asked before
        split = label_parts if isinstance(tables[0], Confusion) else score_parts
        parts, ends = split(estimand, (tables[0], tables[1]), self.inference)  # type: ignore[arg-type]  # counted alike
        whole = [(float(part[0]), *pair) for part, pair in zip(parts[2:], ends, strict=True)]
        why = None if math.isfinite(whole[0][0]) else f"{spec.name} is undefined in one of the periods"
        return DriftChange.of(other.name, spec, values, whole, why)

    def _value(self, spec: MetricSpec, period: Period) -> tuple[float, float, float]:
        """The metric in a period, with its interval."""
        if (key := (spec.name, period.name)) not in self.values:
            estimand = self._estimand(spec, period)
            self.values[key] = _NAN if estimand is None else _ends(intervals_of([estimand], self.inference)[0])
        return self.values[key]

    def _estimand(self, spec: MetricSpec, period: Period) -> Estimand | None:
        """The metric on the table of a period that it reads; None where there is none."""
        if spec.metric.function is not None and period.table is not None and not spec.reads_scores(period.scores):
            return self._of_labels(spec, period.table)
        scores = period.scores
        if spec.metric.scores is None or scores is None or not spec.metric.fits_scores(scores):
            return None
        if period.missing is not None:
            return None
        return Estimand(spec, scores, spec.metric.parameters, spec.options(CallOptions()))

    def _of_labels(self, spec: MetricSpec, table: Confusion) -> Estimand | None:
        """The metric on labels; None where there is no form of it for these classes."""
        positive = self.first.positive
        if positive is None and spec.is_native and spec.metric.classes is None:
            return None
        given: dict[str, Any] = {"pos_label": positive} if positive is not None and spec.is_native else {}
        return Estimand(spec, table, spec.metric.parameters, spec.options(CallOptions(**given)))


def _ends(found: Interval) -> tuple[float, float, float]:
    return float(found.value), float(found.low), float(found.high)
