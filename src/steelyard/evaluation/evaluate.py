"""Evaluate: predictions, scores or a table in, an Evaluation out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.confusions.confused_pairs import ClassOrder
from steelyard.analysis.confusions.hierarchy import level_errors
from steelyard.analysis.intervals.inference import STRATIFIED, Inference
from steelyard.analysis.intervals.plan_draws import GivenLabels, labelled_by, refuse_beside_plan
from steelyard.analysis.prevalence.prevalence import Prevalence
from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.evaluation.class_columns import column_rows, given_columns
from steelyard.evaluation.evaluation import (
    Evaluation,
    Group,
    beats_no_skill,
    check_named,
    class_risk,
    class_rows,
    group_rows,
    in_order,
    metric_rows,
    no_interval_sentences,
    single_cluster_sentences,
    with_class_bounds,
)
from steelyard.evaluation.given_rows import GivenRows, cluster_sentences, predicted_at_threshold
from steelyard.evaluation.inputs import RowOptions, counted_inputs, negative_label, thresholded
from steelyard.evaluation.verdict.sentences import muted_codes
from steelyard.exceptions import InputError
from steelyard.ingest import arrays
from steelyard.ingest.category_order import category_order, is_ordered
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.group_bins import binned_groups
from steelyard.ingest.label_overlap import check_label_overlap, lookalike_hints, overlap_problems
from steelyard.ingest.label_set_input import LabelSetInput, refuse_of_one_label
from steelyard.metrics.registry import get_metrics, list_metrics
from steelyard.metrics.score_values import reads_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.spec_text import parse_form, write_form
from steelyard.metrics.usual import HEADLINE, ON_REQUEST, VERDICT
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.positive_class import choice_sentences
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, Labels, LabelSet, Rng
    from steelyard.analysis.confusions.hierarchy import HierarchyLike
    from steelyard.analysis.intervals.plan_draws import SamplingDesign
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.evaluation.class_columns import GroupedColumns
    from steelyard.ingest.array_groups import By
    from steelyard.ingest.group_bins import Bins
    from steelyard.ingest.source import Source
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.score_table import ScoreTable
    from steelyard.statistics.statistic import Statistic


# ---------------------------------------------------------------- the order of the classes


def in_stated_order(given: GivenRows) -> tuple[GivenRows, ClassOrder]:
    """The rows with the order of the classes that their truth states, if any, and who gave that order.

    A frame whose scores are a column for each class comes back as arrays.
    """
    if given.options.labels is not None:
        return given.of_class_columns(), ClassOrder(declared=True)
    order = _stated_order(given)
    if order is not None and given.columns.true is not None:  # counting the frame would lose it
        given = given._replace(options=given.options._replace(labels=order))
    return given.of_class_columns(), ClassOrder(stated=order is not None)


def _stated_order(given: GivenRows) -> Labels | None:
    """The classes that occur, in the order that an ordered categorical of pandas or an Enum of Polars states."""
    data: Any = given.data
    truth, others = data, (given.y_pred,)
    if given.columns.true is not None:
        in_memory = type(data).__name__ == "DataFrame" and type(data).__module__.startswith(("pandas", "polars"))
        names = data.columns if in_memory else ()  # the columns of a lazy frame cost a query
        if given.columns.true not in names:
            return None
        truth = data[given.columns.true]
        others = (data[given.columns.pred] if given.columns.pred in names else None,)
    if not is_ordered(truth):
        return None
    columns = (arrays.column(column, "y_true") for column in (truth, *others) if column is not None)
    return category_order(truth, *columns)


# ---------------------------------------------------------------- notes on a table
# Labels that look alike or hardly overlap, so many rows of each class, odds of another threshold.


_FEWEST = 20  # rows of each class, below which equal sizes may be chance


def table_notes(table: Confusion | None, design: str) -> tuple[str, ...]:
    """What a result states of its table and of how the test set was drawn.

    >>> from steelyard import confusion
    >>> table_notes(confusion([0, 1] * 30, [0, 1] * 30), "random")[0]
    'Each class has 30 rows; if so many of each were chosen, design="stratified" gives narrower intervals.'
    """
    if table is None:
        return () if design == "random" else (STRATIFIED,)
    notes = [*overlap_problems(table), *lookalike_hints(table.labels)]
    sizes = table.rows.sum(1)
    if design != "random":
        notes.append(STRATIFIED)
    elif len(sizes) >= 2 and _FEWEST <= sizes.min() == sizes.max():
        chosen = "if so many of each were chosen"
        notes.append(f'Each class has {sizes[0]:,} rows; {chosen}, design="stratified" gives narrower intervals.')
    return tuple(notes)


def odds_notes(specs: Iterable[MetricSpec], scores: ScoreTable | None, threshold: float | None) -> Iterator[str]:
    """Which metrics count false positives by the odds of another threshold than that at which rows are flagged.

    >>> from steelyard import score_table
    >>> from steelyard.metrics.spec import MetricSpec
    >>> next(odds_notes([MetricSpec.of("net_benefit")], score_table([0, 1], [0.1, 0.9]), 0.2)).partition(";")[0]
    'net_benefit counts false positives by the odds of 0.5, while rows are flagged at 0.2'
    """
    if scores is None or not scores.has_probabilities or threshold is None or not 0 < threshold < 1:
        return
    for spec in specs:
        odds = spec.metric.parameters.get("threshold")
        if odds not in (None, threshold):
            same = write_form(parse_form(spec.metric.name)[0], {"threshold": threshold})
            yield (
                f"{spec.name} counts false positives by the odds of {odds:g}, while rows are flagged at {threshold:g}; "
                f"ask for {same}, or flag them at {odds:g}."
            )


# ---------------------------------------------------------------- group metrics


def evaluated_groups(
    data: Tally | None,
    threshold: float | None,
    positive: Label,
    specs: list[MetricSpec],
    inference: Inference,
    columns: GroupedColumns | None = None,
) -> Rows[Group]:
    """The metrics of each group that was counted; those of a column of scores for each class follow."""
    groups = Rows[Group]()
    if data is None:
        return groups
    for key, part in data.groups.items():
        table = part.confusion
        if table is None and threshold is not None and part.scores is not None:
            table = thresholded(part.scores, threshold, negative_label(data.labels, part.scores)).table
        rows = group_rows(table, part.scores, positive, specs, inference.of_group(key))
        if columns is not None:
            rows += columns.group_rows(key, specs, inference.of_group(key))
        groups.append(Group(data.by, key, part.rows, Rows(rows), table, part.scores))
    return groups


# ---------------------------------------------------------------- table evaluation


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
    specs = _specs(metrics, table, scores, probabilities, order)
    by_class = class_rows(table, inference)
    rows = with_class_bounds(metric_rows(table, scores, positive, specs, inference), by_class)
    rows += column_rows(probabilities and probabilities.table, specs, inference, named=metrics is not None)
    named = [] if metrics is None else check_named(specs, rows, table, scores, positive)
    in_groups = named or [spec for spec in specs if spec.metric.name in HEADLINE]  # unless named, the usual few
    groups = evaluated_groups(tally, threshold, positive, in_groups, inference, probabilities)
    notes = (*odds_notes(named, scores, threshold), *order.sentences(specs, table))
    prevalence = inference.prevalence
    if prevalence is not None and not isinstance(prevalence, Prevalence):
        shares = np.asarray(prevalence, dtype=np.float64)
        prevalence = float(shares) if shares.ndim == 0 else tuple(shares.tolist())
    row_total = 0
    if table is not None:
        row_total = int(table.rows.sum())
    elif scores is not None:
        row_total = scores.n
    return Evaluation(
        confusion=table,
        scores=scores,
        metrics=Rows(in_order(rows, specs)),
        per_class=by_class,
        positive=positive,
        threshold=threshold,
        level=inference.level,
        beats=beats_no_skill(table, scores, positive) if inference.has_independent_rows else None,
        assumed=(*assumed, *notes, *single_cluster_sentences(by_class), *no_interval_sentences(groups)),
        prevalence=prevalence,
        rows=row_total,
        seed=0 if inference.rng is None else None,
        behind=Rows(metric_rows(table, scores, positive, _behind(named), inference)),
        metrics_named=metrics is not None,
        groups=groups,
        muted=muted_codes(mute),
        columns=columns or {},
        risk_coverage=class_risk(probabilities and probabilities.table, inference),
    )


def _behind(named: list[MetricSpec]) -> list[MetricSpec]:
    """The metrics that the verdict reads beside those named."""
    return [spec for spec in map(MetricSpec, get_metrics(VERDICT)) if named and spec not in named]


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
        usual = [m for m in list_metrics() if not m.is_of_label_sets and m.name not in ON_REQUEST]
        return [*map(MetricSpec, usual), *order.usual(table)]
    specs = MetricSpec.all_of(metrics)
    for spec in specs:
        if probabilities is None or not reads_columns(spec):
            spec.check_data(labels=table is not None, scores=scores is not None, columns=probabilities is not None)
    return specs


# ---------------------------------------------------------------- evaluate


@names_wrong_arguments
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
    requested: dict[str, Any] = {"metrics": metrics, "mute": mute}
    options = RowOptions(pos_label, labels, sample_weight, frequency)
    if not isinstance(design, str):
        refuse_beside_plan(
            labels=labels,
            sample_weight=sample_weight,
            weight=weight,
            frequency=frequency,
            by=by,
            cluster=cluster,
            prevalence=prevalence,
            exact=exact,
            hierarchy=hierarchy,
            bins=bins,
        )
        given = GivenRows(y_true, y_pred, y_score, options, columns, by, cluster)
        return _evaluated_plan(design, given, threshold, Inference(level, "auto", draws, rng), requested)
    uses = {**columns._asdict(), "frequency": frequency, "cluster": cluster}
    y_true, by = binned_groups(y_true, by, bins, frame=true is not None, **uses)
    inference = Inference(level, "auto", draws, rng, prevalence, None, design)
    sets = LabelSetInput(y_true, y_pred, y_score, columns, labels, sample_weight, frequency, by, cluster)
    if sets.are_sets:
        from steelyard.evaluation.evaluate_label_sets import evaluate_label_sets

        refuse_of_one_label(pos_label=pos_label, exact=exact, hierarchy=hierarchy)
        return evaluate_label_sets(sets, threshold=threshold, inference=inference, **requested)  # type: ignore[return-value]  # of the same faces
    given = GivenRows(y_true, y_pred, y_score, options, columns, by, cluster)
    return evaluated_rows(given, threshold, inference, exact=exact, hierarchy=hierarchy, **requested)[0]


def _evaluated_plan(
    design: SamplingDesign, given: GivenRows, threshold: Any, inference: Inference, requested: dict[str, Any]
) -> Evaluation:
    """The evaluation of the tables of all rows that the labels of a plan show."""
    pos_label = given.options.pos_label
    labels = GivenLabels(given.data, given.y_pred, given.y_score, given.columns, pos_label, threshold)  # type: ignore[arg-type]  # no table
    rows = labelled_by(design, labels)
    has_threshold = given.y_pred is None and given.columns.pred is None and rows.threshold is not None
    at = (f"Scores were thresholded at {rows.threshold:g}.",) if has_threshold else ()
    return evaluate_tables(
        None if rows.flagged is None else rows.confusion(),
        rows.score_table(),
        rows.labels[1],
        threshold=rows.threshold if has_threshold else None,
        assumed=(*choice_sentences(pos_label, rows.labels[1], rows.labels), *at, *rows.stated),
        inference=replace(inference, planned=rows),
        columns=given.columns.names(),
        **requested,
    )


def evaluated_rows(
    given: GivenRows,
    threshold: Any,
    inference: Inference,
    *,
    metrics: Iterable[SpecLike] | None,
    exact: bool | None = None,
    mute: Iterable[str] | None = None,
    hierarchy: HierarchyLike | None = None,
) -> tuple[Evaluation, Inference, GroupedColumns | None]:
    """The evaluation of rows with one label each, or of a table; how its intervals were made; scores of every class."""
    ordered, order = in_stated_order(given)
    classes = given_columns(
        ordered.data,  # type: ignore[arg-type]  # beside scores: rows
        ordered.y_pred,
        ordered.y_score,
        threshold,
        ordered.options,
        to_host=ordered.are_grouped,
    )
    one_column = ordered._replace(y_pred=classes.y_pred, y_score=classes.y_score).as_arrays()
    counted = one_column.counted(threshold=threshold, exact=exact)
    inputs = counted_inputs(counted, one_column.y_pred, one_column.y_score, threshold, one_column.options)
    clustered = predicted_at_threshold(one_column.clustered(), inputs, ordered.y_score)
    is_table = isinstance(given.data, (Confusion, Tally))  # which may be a part of a larger one
    if inputs.table is not None and given.options.labels is None and not is_table:
        check_label_overlap(inputs.table)
    positive, stated = inputs.positive_class(given.options.pos_label, given.data)
    notes = (*table_notes(inputs.table, inference.design), *classes.left_out(inference.prevalence, metrics))
    inference, probabilities = replace(inference, clustered=clustered), classes.grouped(one_column.by)
    evaluation = evaluate_tables(
        inputs.table,
        inputs.scores,
        positive,
        threshold=inputs.threshold,
        metrics=metrics,
        assumed=(*stated, *inputs.assumed, *notes, *classes.assumed, *cluster_sentences(given.cluster)),
        tally=counted if isinstance(counted, Tally) else None,
        probabilities=probabilities,
        order=order,
        inference=inference,
        mute=mute,
        columns=given.columns.names(frequency=given.options.frequency, by=given.by, cluster=given.cluster),  # type: ignore[arg-type]  # no arrays of a frame
    )
    if hierarchy is not None:
        if evaluation.confusion is None:
            raise InputError("hierarchy= is of predicted labels, and there are scores alone; give y_pred as well.")
        evaluation = replace(evaluation, hierarchy=level_errors(evaluation.confusion, hierarchy, inference))
    return evaluation, inference, probabilities
