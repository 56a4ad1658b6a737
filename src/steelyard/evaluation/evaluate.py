"""Evaluate: predictions, scores or a table in, an Evaluation out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.analysis.confusions.hierarchy import level_errors
from steelyard.analysis.intervals.inference import Inference
from steelyard.evaluation.class_columns import given_columns
from steelyard.evaluation.given_rows import GivenRows, cluster_sentences, predicted_at_threshold
from steelyard.evaluation.inputs import RowOptions, counted_inputs
from steelyard.evaluation.ordered_classes import in_stated_order
from steelyard.evaluation.planned_inputs import PlannedInputs
from steelyard.evaluation.table_evaluation import evaluate_tables, table_notes
from steelyard.exceptions import InputError
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.group_bins import binned_groups
from steelyard.ingest.label_overlap import check_label_overlap
from steelyard.ingest.label_set_input import LabelSetInput, refuse_of_one_label
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet, Rng
    from steelyard.analysis.confusions.hierarchy import HierarchyLike
    from steelyard.analysis.intervals.plan_draws import SamplingDesign
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.evaluation.class_columns import GroupedColumns
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.ingest.array_groups import By
    from steelyard.ingest.group_bins import Bins
    from steelyard.ingest.source import Source
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.statistic import Statistic


# ---------------------------------------------------------------- hierarchy levels
# An evaluation with its errors by the levels of a hierarchy of its labels.


def with_levels(evaluation: Evaluation, hierarchy: HierarchyLike | None, inference: Inference) -> Evaluation:
    """The evaluation with its errors by level, where its labels have a hierarchy."""
    if hierarchy is None:
        return evaluation
    if evaluation.confusion is None:
        raise InputError("hierarchy= is of predicted labels, and there are scores alone; give y_pred as well.")
    return replace(evaluation, hierarchy=level_errors(evaluation.confusion, hierarchy, inference))


# ---------------------------------------------------------------- evaluate


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
    bins: Bins | None = None,
    cluster: ArrayLike | str | None = None,
    design: str | SamplingDesign = "random",
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
    reports groups of rows separately, columns of numbers in `bins` (4 by their quantiles, or {"age": [40, 60]});
    rows of one `cluster`, such as the patient, are not independent, and the intervals allow for it: columns of the
    frame, or beside arrays one value per row. Of yes/no and the like the positive class
    is taken by convention and stated in `assumed`; `pos_label=steelyard.RARER` takes the rarer one.
    `design="stratified"` states that so many rows of each class were chosen: their shares are then no matter of
    chance, and intervals are narrower; a plan of `label_plan` states which rows were labelled, whose labels are given
    in its order or, of a frame, by its key. `exact` keeps every score of a frame, or asks for bins. A Tally is taken as
    well. `mute` lists codes of sentences that the verdict leaves out; without it those of the environment variable
    STEELYARD_MUTE are left out. Metrics of calibration are reported by `calibration`, and here where `metrics` names
    them. `hierarchy` shows errors by level: the text between the parts of labels that are paths, such as "/", or
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
    asked: dict[str, Any] = {"metrics": metrics, "mute": mute}
    rows = RowOptions(pos_label, labels, sample_weight, frequency)
    if not isinstance(design, str):
        given = GivenRows(y_true, y_pred, y_score, rows, columns, by, cluster)
        others = {"prevalence": prevalence, "exact": exact, "hierarchy": hierarchy, "bins": bins}
        planned = PlannedInputs.of(design, given, threshold, **others)
        return planned.evaluated(Inference(level, "auto", draws, rng), asked)
    y_true, by = binned_groups(y_true, by, bins, frame=true is not None)
    inference = Inference(level, "auto", draws, rng, prevalence, None, design)
    sets = LabelSetInput(y_true, y_pred, y_score, columns, labels, sample_weight, frequency, by, cluster)
    if sets.are_sets:
        from steelyard.evaluation.evaluate_label_sets import evaluate_label_sets

        refuse_of_one_label(pos_label=pos_label, exact=exact, hierarchy=hierarchy)
        return evaluate_label_sets(sets, threshold=threshold, inference=inference, **asked)  # type: ignore[return-value]  # of the same faces
    given = GivenRows(y_true, y_pred, y_score, rows, columns, by, cluster)
    return evaluated_rows(given, threshold, inference, exact=exact, hierarchy=hierarchy, **asked).evaluation


class EvaluatedRows(NamedTuple):
    """An evaluation, how its intervals were made, and the scores of every class where there are such."""

    evaluation: Evaluation
    inference: Inference
    probabilities: GroupedColumns | None


def evaluated_rows(
    rows: GivenRows,
    threshold: Any,
    inference: Inference,
    *,
    metrics: Iterable[SpecLike] | None,
    exact: bool | None = None,
    mute: Iterable[str] | None = None,
    hierarchy: HierarchyLike | None = None,
) -> EvaluatedRows:
    """The evaluation of rows that have one label each, or of a table of them."""
    asked, order = in_stated_order(rows)
    classes = given_columns(asked.data, asked.y_pred, asked.y_score, threshold, asked.rows, brought=asked.are_parted)  # type: ignore[arg-type]  # beside scores: rows
    given = asked._replace(y_pred=classes.y_pred, y_score=classes.y_score).brought()
    counted = given.counted(threshold=threshold, exact=exact)
    inputs = counted_inputs(counted, given.y_pred, given.y_score, threshold, given.rows)
    clustered = predicted_at_threshold(given.clustered(), inputs, asked.y_score)
    _check_overlap(inputs.table, rows)
    positive, stated = inputs.positive_class(rows.rows.pos_label, rows.data)
    notes = (*table_notes(inputs.table, inference.design), *classes.left_out(inference.prevalence, metrics))
    inference, probabilities = replace(inference, clustered=clustered), classes.grouped(given.by)
    evaluation = evaluate_tables(
        inputs.table,
        inputs.scores,
        positive,
        threshold=inputs.threshold,
        metrics=metrics,
        assumed=(*stated, *inputs.assumed, *notes, *classes.assumed, *cluster_sentences(rows.cluster)),
        tally=counted if isinstance(counted, Tally) else None,
        probabilities=probabilities,
        order=order,
        inference=inference,
        mute=mute,
        columns=rows.columns.names(frequency=rows.rows.frequency, by=rows.by, cluster=rows.cluster),  # type: ignore[arg-type]  # no arrays of a frame
    )
    return EvaluatedRows(with_levels(evaluation, hierarchy, inference), inference, probabilities)


def _check_overlap(table: Confusion | None, rows: GivenRows) -> None:
    """Refuse rows whose labels of truth and prediction have little in common; tables may be parts of such."""
    if table is not None and rows.rows.labels is None and not isinstance(rows.data, (Confusion, Tally)):
        check_label_overlap(table)
