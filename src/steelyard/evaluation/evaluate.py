"""Evaluate: predictions, scores or a table in, an Evaluation out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.confusions.ordered_metrics import ClassOrder
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence
from steelyard.analysis.results.rows import Rows
from steelyard.evaluation.class_columns import (
    column_rows,
    given_columns,
)
from steelyard.evaluation.class_risk import class_risk
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.given_rows import GivenRows, cluster_sentences, predicted_at_threshold
from steelyard.evaluation.group_metrics import evaluated_groups
from steelyard.evaluation.groups import lone_class_sentences, no_interval_sentences
from steelyard.evaluation.hierarchy_levels import with_levels
from steelyard.evaluation.inputs import (
    RowOptions,
    counted_inputs,
)
from steelyard.evaluation.label_sets.evaluate_label_sets import evaluate_label_sets
from steelyard.evaluation.ordered_classes import in_stated_order
from steelyard.evaluation.rows import beats_no_skill, check_named, class_rows, in_order, metric_rows, with_class_ends
from steelyard.evaluation.table_notes import odds_notes, table_notes
from steelyard.evaluation.verdict.sentences import muted_codes
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.label_overlap import check_label_overlap
from steelyard.ingest.label_set_input import LabelSetInput, refuse_of_one_label
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.metrics.score_values import reads_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet, Rng
    from steelyard.analysis.confusions.hierarchy import HierarchyLike
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.evaluation.class_columns import GroupedColumns
    from steelyard.ingest.array_groups import By
    from steelyard.ingest.source import Source
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.score_table import ScoreTable
    from steelyard.statistics.statistic import Statistic


@refuses_other_keywords
def evaluate(
    y_true: Statistic | Tally | Source | Frame | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    threshold: float | Sequence[float] | Mapping[Any, float] | None = None,
    metrics: Iterable[SpecLike] | None = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: ArrayLike | None = None,
    frequency: ArrayLike | str | None = None,
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    true: str | Sequence[str] | None = None,
    pred: str | Sequence[str] | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    by: By | None = None,
    cluster: ArrayLike | str | None = None,
    design: str = "random",
    exact: bool | None = None,
    mute: Iterable[str] | None = None,
    hierarchy: HierarchyLike | None = None,
) -> Evaluation:
    """Evaluate predictions, scores or a table: every metric with its interval and no-skill baseline, and a verdict.

    Scores alone are thresholded at 0.5 where they lie between 0 and 1, and the result states it; others are ranked
    only, until a threshold is given. `prevalence` reads everything where that share of the rows is positive; where
    that share was itself estimated, a Prevalence carries that into the intervals. Of a frame (pandas, Polars,
    PyArrow, DuckDB, Dask, PySpark) name the columns: true, pred or score, weight, frequency, by and cluster; it is
    counted where it lives; `score` may be a column for each class there, as a pattern ("p_*") or a list. `by`
    reports groups of rows separately; rows of one `cluster`, such as the patient, are not independent, and the
    intervals allow for it: columns of the frame, or beside arrays one value per row. Of yes/no and the like the
    positive class is taken by convention and stated in `assumed`; `pos_label=steelyard.RARER` takes the rarer one.
    `design="stratified"` states that so many rows of each class were chosen: their shares are then no matter of
    chance, and intervals are narrower. `exact` keeps every score of a frame, or asks for bins. A Tally is taken as
    well. `mute` lists codes of sentences that the verdict leaves out; without it those of the environment variable
    STEELYARD_MUTE are left out. Metrics of calibration are reported by `calibration`, and here where `metrics`
    names them. `hierarchy` shows errors by level: the text between the parts of labels that are paths, such as "/", or
    the parent of each label. Where rows may have several labels each (a matrix with a column for each label, lists of
    labels, `multilabel(...)`, or of a frame patterns such as `true="y_*"`) the result is a MultilabelEvaluation;
    `threshold` may be one for each label there, in their order or by label.

    >>> from steelyard import Counts
    >>> report = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> report["ac_score"].value
    0.7021746453568889
    >>> print(report.verdict[0])
    Of 1,000 rows like these, 18 are positive. The classifier flags 36, finds 10 and misses 8; 26 are false alarms.
    """
    columns = FrameColumns(true, pred, score, weight)  # type: ignore[arg-type]  # several are brought
    inference = Inference(level, "auto", draws, rng, prevalence, None, design)
    sets = LabelSetInput(y_true, y_pred, y_score, columns, labels, sample_weight, frequency, by, cluster)
    asked: dict[str, Any] = {"metrics": metrics, "mute": mute}
    if sets.are_sets:
        refuse_of_one_label(pos_label=pos_label, exact=exact, hierarchy=hierarchy)
        return evaluate_label_sets(sets, threshold=threshold, inference=inference, **asked)  # type: ignore[return-value]  # of the same faces
    rows = RowOptions(pos_label, labels, sample_weight, frequency)
    given = GivenRows(y_true, y_pred, y_score, rows, columns, by, cluster)
    return _evaluate_rows(given, threshold, inference, exact=exact, hierarchy=hierarchy, **asked)


def _evaluate_rows(
    rows: GivenRows,
    threshold: Any,
    inference: Inference,
    *,
    metrics: Iterable[SpecLike] | None,
    exact: bool | None,
    mute: Iterable[str] | None,
    hierarchy: HierarchyLike | None,
) -> Evaluation:
    """The evaluation of rows that have one label each, or of a table of them."""
    asked, order = in_stated_order(rows)
    classes = given_columns(asked.data, asked.y_pred, asked.y_score, threshold, asked.rows)  # type: ignore[arg-type]  # beside scores: rows
    given = asked._replace(y_pred=classes.y_pred, y_score=classes.y_score).brought()
    counted = given.counted(threshold=threshold, exact=exact)
    inputs = counted_inputs(counted, given.y_pred, given.y_score, threshold, given.rows)
    clustered = predicted_at_threshold(given.clustered(), inputs, asked.y_score)
    if inputs.table is not None and rows.rows.labels is None and not isinstance(rows.data, (Confusion, Tally)):  # parts
        check_label_overlap(inputs.table)
    positive, stated = inputs.positive_class(rows.rows.pos_label, rows.data)
    notes = (*table_notes(inputs.table, inference.design), *classes.left_out(inference.prevalence, metrics))
    evaluation = evaluate_tables(
        inputs.table,
        inputs.scores,
        positive,
        threshold=inputs.threshold,
        assumed=(*stated, *inputs.assumed, *notes, *classes.assumed, *cluster_sentences(rows.cluster)),
        metrics=metrics,
        tally=counted if isinstance(counted, Tally) else None,
        probabilities=classes.grouped(given.by),
        order=order,
        inference=replace(inference, clustered=clustered),
        mute=mute,
        columns=rows.columns.names(frequency=rows.rows.frequency, by=rows.by, cluster=rows.cluster),  # type: ignore[arg-type]  # no arrays of a frame
    )
    return with_levels(evaluation, hierarchy, replace(inference, clustered=clustered))


def evaluate_tables(
    table: Confusion | None,
    scores: ScoreTable | None,
    positive: Label,
    *,
    threshold: float | None = None,
    assumed: Iterable[str] = (),
    metrics: Iterable[SpecLike] | None = None,
    tally: Tally | None = None,
    probabilities: GroupedColumns | None = None,
    order: ClassOrder = ClassOrder(),  # noqa: B008 - frozen
    inference: Inference = Inference(),  # noqa: B008 - frozen
    mute: Iterable[str] | None = None,
    columns: dict[str, str | tuple[str, ...]] | None = None,
) -> Evaluation:
    """The evaluation of rows that are counted already, as labels, as scores or as both; `tally` holds their groups.

    `probabilities` are the scores of many classes, a column for each; `order` is who gave the classes their order.
    """
    specs, by_class = _specs(metrics, table, scores, probabilities, order), class_rows(table, inference)
    rows = with_class_ends(metric_rows(table, scores, positive, specs, inference), by_class)
    rows += column_rows(probabilities and probabilities.table, specs, inference, named=metrics is not None)
    named = [] if metrics is None else check_named(specs, rows, table, scores, positive)
    groups = evaluated_groups(tally, threshold, positive, named or _usual(specs), inference, probabilities)
    stated = (*odds_notes(named, scores, threshold), *order.sentences(specs, table), *lone_class_sentences(by_class))
    return Evaluation(
        table,
        scores,
        Rows(in_order(rows, specs)),
        by_class,
        positive,
        threshold,
        inference.level,
        beats_no_skill(table, scores, positive) if inference.clustered is None else None,
        (*assumed, *stated, *no_interval_sentences(groups)),
        _plain_prevalence(inference.prevalence),
        _row_total(table, scores),
        0 if inference.rng is None else None,
        Rows(metric_rows(table, scores, positive, _behind(named), inference)),
        metrics is not None,
        *(groups, muted_codes(mute), columns or {}),
        risk_coverage=class_risk(probabilities and probabilities.table, inference),
    )


def _plain_prevalence(prevalence: PrevalenceLike | None) -> PrevalenceLike | None:
    """The prevalence as a number, or as the numbers of the classes."""
    if prevalence is None or isinstance(prevalence, Prevalence):
        return prevalence
    given = np.asarray(prevalence, dtype=np.float64)
    return float(given) if given.ndim == 0 else tuple(given.tolist())


def _row_total(table: Confusion | None, scores: ScoreTable | None) -> int:
    if table is not None:
        return int(table.rows.sum())
    return 0 if scores is None else scores.n


def _behind(named: list[MetricSpec]) -> list[MetricSpec]:
    """The metrics that the verdict reads beside those named."""
    return [spec for spec in map(MetricSpec, metrics_with_role("verdict")) if named and spec not in named]


def _usual(specs: list[MetricSpec]) -> list[MetricSpec]:
    """The metrics of each group where none are named: the usual few."""
    return [spec for spec in specs if "headline" in spec.metric.roles]


def _specs(
    metrics: Iterable[SpecLike] | None,
    table: Confusion | None,
    scores: ScoreTable | None,
    probabilities: GroupedColumns | None,
    order: ClassOrder,
) -> list[MetricSpec]:
    """The metrics asked for, each of which the data must allow; all that they allow where none are named."""
    if metrics is None:
        # With scores a metric of both has the value of the whole curve, not that of one threshold. Those of calibration
        # are fitted and take longer than all others together; `calibration` reports them with their curve.
        others = metrics_with_role("on request")
        usual = [m for m in list_metrics() if not m.is_of_label_sets and m not in others]
        return [*map(MetricSpec, usual), *order.usual(table)]
    specs = MetricSpec.all_of(metrics)
    for spec in specs:
        if probabilities is None or not reads_columns(spec):
            spec.check_data(labels=table is not None, scores=scores is not None, columns=probabilities is not None)
    return specs
