"""Drift: periods of labelled rows, and of unlabelled ones, read against a reference period."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.results.rows import Rows
from steelyard.evaluation.drift.change_parts import label_parts, score_parts
from steelyard.evaluation.drift.drift_result import Drift, DriftChange
from steelyard.evaluation.drift.period_rows import Period, period_row, unlabelled_period
from steelyard.evaluation.given_rows import GivenRows
from steelyard.evaluation.inputs import RowOptions, counted_inputs
from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.registry import metrics_with_role
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet, Rng, Weights
    from steelyard.evaluation.drift.change_parts import ChangeParts, PartEnds
    from steelyard.ingest.source import Source
    from steelyard.metrics.spec import SpecLike

_NAN = (math.nan,) * 3


@refuses_other_keywords
def drift(
    y_true: Tally | Frame | Source | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    period: ArrayLike | str | None = None,
    reference: Label = None,
    unlabelled: Mapping[Label, ArrayLike] | None = None,
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
    `unlabelled` has the scores of periods without labels: their prevalence is that of `steelyard.unlabelled`, and the
    part by the prevalence follows; the part by the classifier is not known.

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
    others = [each for name, each in periods.items() if name != first]
    changes = [change for each in others for change in question.changes(each)]
    seen = [period_row(each, periods[first], inference) for each in (periods[first], *others)]
    for name, scores in (unlabelled or {}).items():
        row, parts = unlabelled_period(name, scores, periods[first], question.specs, inference)
        seen.append(row)
        changes += parts
    if len(seen) < 2:
        raise InputError(f"There is one period only, {first!r}; drift needs two or more.")
    return Drift(Rows(seen), Rows(changes), first, level)


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
    if any(key is None for key in groups):
        raise InputError("Some rows have no period; give each one, or leave them out.")
    try:
        order = sorted(groups)  # type: ignore[type-var]  # else in the order they came
    except TypeError:
        order = list(groups)
    whole = counted_inputs(tally, None, None, threshold, RowOptions(pos_label))
    positive = whole.positive_class(pos_label, tally)[0]
    return {name: Period.of(name, groups[name], whole.threshold, positive) for name in order}


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

    def changes(self, other: Period) -> list[DriftChange]:
        """The changes up to another period; of metrics that its tables have."""
        return [change for spec in self.specs if (change := self._change(spec, other)) is not None]

    def _change(self, spec: MetricSpec, other: Period) -> DriftChange | None:
        missing = other.missing or self.first.missing
        if (
            spec.metric.function is not None
            and self.first.table is not None
            and not spec.reads_scores(self.first.scores)
        ):
            estimand = self._of_labels(spec)
            if estimand is None:
                return None
            if missing is not None:
                return _undefined(other.name, spec, missing)
            return _change(other.name, spec, *label_parts(estimand, (self.first.table, other.table), self.inference))  # type: ignore[arg-type]  # counted alike
        if spec.metric.scores is None or self.first.scores is None or not spec.metric.fits_scores(self.first.scores):
            return None
        if missing is not None:
            return _undefined(other.name, spec, missing)
        estimand = Estimand(spec, self.first.scores, spec.metric.parameters, spec.options(CallOptions()))
        return _change(other.name, spec, *score_parts(estimand, (self.first.scores, other.scores), self.inference))  # type: ignore[arg-type]  # counted alike

    def _of_labels(self, spec: MetricSpec) -> Estimand | None:
        """The metric on the labels of the reference; None where there is no form of it for these classes."""
        positive, table = self.first.positive, self.first.table
        if positive is None and spec.is_native and spec.metric.classes is None:
            return None
        given: dict[str, Any] = {"pos_label": positive} if positive is not None and spec.is_native else {}
        assert table is not None  # noqa: S101 - asked before
        return Estimand(spec, table, spec.metric.parameters, spec.options(CallOptions(**given)))


def _change(name: Label, spec: MetricSpec, parts: ChangeParts, ends: PartEnds) -> DriftChange:
    before, after, *values = (float(part[0]) for part in parts)
    why = None if math.isfinite(values[0]) else f"{spec.name} is undefined in one of the periods"
    return DriftChange.of(
        name, spec, (before, after), [(value, *pair) for value, pair in zip(values, ends, strict=True)], why
    )


def _undefined(name: Label, spec: MetricSpec, why: str) -> DriftChange:
    return DriftChange.of(name, spec, (math.nan, math.nan), [_NAN] * 3, why)
