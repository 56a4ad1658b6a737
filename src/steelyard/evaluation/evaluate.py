"""Evaluate: predictions, scores or a table in, an Evaluation out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from steelyard.analysis.confusions.confused_pairs import ClassOrder
from steelyard.analysis.confusions.hierarchy import level_errors
from steelyard.analysis.intervals.inference import (
    STRATIFIED,
    Inference,
    cluster_sentences,
    clustered_rows,
    predicted_at_threshold,
)
from steelyard.analysis.intervals.plan_draws import labelled_by, refuse_beside_plan
from steelyard.analysis.prevalence.prevalence import Prevalence
from steelyard.analysis.results.result import Rows
from steelyard.analysis.thresholds.limits import read_capacity
from steelyard.arrays import checks
from steelyard.arrays.checks import category_order, is_ordered
from steelyard.arrays.labels import choice_sentences
from steelyard.auditing.use_numbers import Judged, check_use
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
from steelyard.evaluation.verdict.sentences import muted_codes
from steelyard.evaluation.verdict.use_sentences import read_by_uses
from steelyard.exceptions import InputError
from steelyard.metrics.binned_bounds import binned_bounds
from steelyard.metrics.registry import list_metrics
from steelyard.metrics.score_values import reads_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.spec_text import parse_form, write_form
from steelyard.metrics.uses import read_use
from steelyard.metrics.usual import HEADLINE, ON_REQUEST, VERDICT
from steelyard.predictions import Predictions, question
from steelyard.tables.array_tables import check_label_overlap, lookalike_hints, overlap_problems
from steelyard.tables.confusion import Confusion
from steelyard.tables.label_sets import refuse_of_one_label
from steelyard.tables.tally import Tally
from steelyard.tables.thresholding import negative_label, thresholded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from steelyard._types import Label, Labels, Rng
    from steelyard.analysis.confusions.hierarchy import HierarchyLike
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.limits import CapacityLike
    from steelyard.evaluation.class_columns import GroupedColumns
    from steelyard.evaluation.evaluation import MetricRow
    from steelyard.metrics.spec import SpecLike
    from steelyard.metrics.uses import Use, UseLike
    from steelyard.predictions import Given, RowOptions, RowsLike
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- the order of the classes


def in_stated_order(p: Predictions) -> tuple[Predictions, ClassOrder]:
    """The rows with the order of the classes that their truth states, if any, and who gave that order.

    Rows of a frame that cannot be counted where they live come back as values.
    """
    if p.given.labels is not None:
        return p.countable(), ClassOrder(declared=True)
    order = _stated_order(p.given)
    if order is not None and p.given.is_frame:  # counting the frame would lose it
        p = p.with_options(labels=order)
    return p.countable(), ClassOrder(stated=order is not None)


def _stated_order(given: Given) -> Labels | None:
    """The classes that occur, in the order that an ordered categorical of pandas or an Enum of Polars states."""
    data: Any = given.data
    truth, others = data, (given.y_pred,)
    if given.is_frame:
        in_memory = type(data).__name__ == "DataFrame" and type(data).__module__.startswith(("pandas", "polars"))
        names = data.columns if in_memory else ()  # the columns of a lazy frame cost a query
        if given.true not in names:
            return None
        truth, pred = data[given.true], given.model.pred
        others = (data[pred] if isinstance(pred, str) and pred in names else None,)
    if not is_ordered(truth):
        return None
    columns = (checks.column(column, "y_true") for column in (truth, *others) if column is not None)
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
    use: Use | None = None,
    capacity: CapacityLike | None = None,
) -> Evaluation:
    """The evaluation of rows that are counted already, as labels, as scores or as both; `tally` holds their groups.

    `probabilities` are the scores of many classes, a column for each; `order` is who gave the classes their order.
    """
    judged = Judged(table, scores, probabilities and probabilities.table, positive, threshold)
    alerts = read_capacity(capacity, judged.rows)
    check_use(use, alerts, judged)
    if use is not None and use.metrics:
        metrics = use.metrics_at(threshold) if metrics is None else metrics
    specs = _specs(metrics, table, scores, probabilities, order)

    def computed(wanted: list[MetricSpec], *, named: bool = True) -> list[MetricRow]:
        found = metric_rows(table, scores, positive, wanted, inference)
        return found + column_rows(probabilities and probabilities.table, wanted, inference, named=named)

    by_class = class_rows(table, inference)
    rows = with_class_bounds(computed(specs, named=metrics is not None), by_class)
    named = [] if metrics is None else check_named(specs, rows, table, scores, positive)
    in_groups = named or [spec for spec in specs if spec.metric.name in HEADLINE]  # unless named, the usual few
    groups = evaluated_groups(tally, threshold, positive, in_groups, inference, probabilities)
    notes = (*odds_notes(named, scores, threshold), *order.sentences(specs, table))
    prevalence = inference.prevalence
    if prevalence is not None and not isinstance(prevalence, Prevalence):
        shares = np.asarray(prevalence, dtype=np.float64)
        prevalence = float(shares) if shares.ndim == 0 else tuple(shares.tolist())
    by_uses = read_by_uses(use, alerts, judged, named=bool(named))
    if use is not None and not use.metrics:  # whose numbers are shown; a profile shows those that it names
        rows += computed(_unread(by_uses, rows))
        specs, by_uses = list(dict.fromkeys([*map(MetricSpec.of, by_uses), *specs])), []
    behind = computed(_unread([*(VERDICT if named else ()), *by_uses], rows))
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
        rows=judged.rows,
        seed=0 if inference.rng is None else None,
        behind=Rows(behind),
        metrics_named=metrics is not None,
        groups=groups,
        muted=muted_codes(mute),
        columns=columns or {},
        risk_coverage=class_risk(probabilities and probabilities.table, inference),
        use=use,
        capacity=alerts,
    )


def _unread(names: Iterable[str], rows: Iterable[MetricRow]) -> list[MetricSpec]:
    """The metrics of these written forms that have no row yet."""
    shown = {row.spec for row in rows}
    return [spec for spec in map(MetricSpec.of, dict.fromkeys(names)) if spec not in shown]


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


@question
def evaluate(
    data: RowsLike = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    use: UseLike | None = None,
    metrics: Iterable[SpecLike] | None = None,
    prevalence: PrevalenceLike | None = None,
    capacity: CapacityLike | None = None,
    hierarchy: HierarchyLike | None = None,
    mute: Iterable[str] | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Evaluation:
    """Evaluate predictions, scores or a table: every metric with its interval and no-skill baseline, and a verdict.

    Scores alone are thresholded at 0.5 where they lie between 0 and 1, and the result states it; others are ranked
    only, until a threshold is given. `use` is what the predictions are for: "alerts", "balance", "ranking",
    "probabilities", a profile ("clinical", "fraud", "retrieval") or a TOML file of your own; its one number leads.
    Without it the verdict has one number for each. `capacity` is how many alerts can be looked at, 200 of the rows at
    hand or "200 of 10000". `metrics` names those that are shown; metrics of calibration are reported where
    they are named. `prevalence` reads everything where that share of the rows is positive; where that share was itself
    estimated, a Prevalence carries that into the intervals. Rows in groups (`by`) are reported separately too, and rows
    of one `cluster`, such as the patient, are not independent, and the intervals allow for it. `hierarchy` shows errors
    by level: the text between the parts of labels that are paths, such as "/", or the parent of each label. `mute`
    lists codes of sentences that the verdict leaves out; without it those of the environment variable STEELYARD_MUTE
    are left out. `Predictions` explains how rows are given, as arrays, a frame, a file or a table. Where rows may
    have several labels each, `per_label` of the result has each label.

    >>> from steelyard import Counts
    >>> report = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> report["ac_score"].value
    0.7021746453568889
    >>> print(report.verdict[0])
    Of 1,000 rows like these, 18 are positive. The classifier flags 36, finds 10 and misses 8; 26 are false alarms.
    """
    p = Predictions.of(data, predicted, **rows)
    stated = read_use(use)
    refuse_beside_profile(stated, metrics=metrics, by=p.given.by)
    requested: dict[str, Any] = {"metrics": metrics, "mute": mute}
    of_uses: dict[str, Any] = {"use": stated, "capacity": capacity}
    if not isinstance(p.design, str):
        refuse_beside_plan(p, prevalence=prevalence, hierarchy=hierarchy)
        return _evaluated_plan(p, Inference(level, "auto", draws, rng), requested | of_uses)
    inference = Inference(level, "auto", draws, rng, prevalence, None, p.design)
    if p.are_sets:
        from steelyard.evaluation.evaluate_label_sets import evaluate_label_sets

        refuse_of_one_label(pos_label=p.given.pos_label, exact=p.given.exact, hierarchy=hierarchy, **of_uses)
        return evaluate_label_sets(p, inference=inference, **requested)
    return evaluated_rows(p, inference, hierarchy=hierarchy, **requested, **of_uses)[0]


def refuse_beside_profile(use: Use | None, *, metrics: object, by: object) -> None:
    """Refuse metrics beside a profile, which names its own, and groups, which its one table has no place for."""
    if use is None or not use.metrics:
        return
    if metrics is not None:
        raise InputError(f"The profile {use.given!r} names its metrics; leave metrics= out, or give use={use.name!r}.")
    if by is not None:
        raise InputError(f"A profile is one table of all rows; leave by= out, or give use={use.name!r}.")


def _evaluated_plan(p: Predictions, inference: Inference, requested: dict[str, Any]) -> Evaluation:
    """The evaluation of the tables of all rows that the labels of a plan show."""
    rows = labelled_by(p)
    has_threshold = p.given.model.pred is None and rows.threshold is not None
    at = (f"Scores were thresholded at {rows.threshold:g}.",) if has_threshold else ()
    return evaluate_tables(
        None if rows.flagged is None else rows.confusion(),
        rows.score_table(),
        rows.labels[1],
        threshold=rows.threshold if has_threshold else None,
        assumed=(*choice_sentences(p.given.pos_label, rows.labels[1], rows.labels), *at, *rows.stated),
        inference=replace(inference, planned=rows),
        columns=p.given.uses(),
        **requested,
    )


def evaluated_rows(
    p: Predictions,
    inference: Inference,
    *,
    metrics: Iterable[SpecLike] | None,
    mute: Iterable[str] | None = None,
    hierarchy: HierarchyLike | None = None,
    use: Use | None = None,
    capacity: CapacityLike | None = None,
) -> tuple[Evaluation, Inference, GroupedColumns | None]:
    """The evaluation of rows with one label each, or of a table; how its intervals were made; scores of every class."""
    ordered, order = in_stated_order(p)
    classes = given_columns(ordered)
    one_column = classes.rows
    counted = one_column.counted()
    clustered = predicted_at_threshold(clustered_rows(one_column), counted, ordered.given.y_score)
    is_table = isinstance(p.given.data, (Confusion, Tally))  # which may be a part of a larger one
    if counted.table is not None and p.given.labels is None and not is_table:
        check_label_overlap(counted.table)
    positive, stated = counted.positive_class(p.given.pos_label, is_stated=p.given.is_stated)
    notes = (*table_notes(counted.table, inference.design), *classes.left_out(inference.prevalence, metrics))
    inference, probabilities = replace(inference, clustered=clustered), classes.grouped(one_column.given.by)
    has_tally = one_column.given.is_frame or one_column.given.by is not None or isinstance(p.given.data, Tally)
    evaluation = evaluate_tables(
        counted.table,
        counted.scores,
        positive,
        threshold=counted.threshold,
        metrics=metrics,
        assumed=(
            *stated,
            *counted.assumed,
            *binned_sentences(counted.scores),
            *notes,
            *classes.assumed,
            *cluster_sentences(p),
        ),
        tally=one_column.tally() if has_tally else None,
        probabilities=probabilities,
        order=order,
        inference=inference,
        mute=mute,
        columns=p.given.uses(),
        use=use,
        capacity=capacity,
    )
    if hierarchy is not None:
        if evaluation.confusion is None:
            raise InputError("hierarchy= is of predicted labels, and there are scores alone; give y_pred as well.")
        evaluation = replace(evaluation, hierarchy=level_errors(evaluation.confusion, hierarchy, inference))
    return evaluation, inference, probabilities


def binned_sentences(scores: ScoreTable | None) -> tuple[str, ...]:
    """Between what the metrics of scores lie that were counted in bins."""
    if scores is None or not len(scores.bins):
        return ()
    bounds = {name: " and ".join(f"{bound:.6f}" for bound in pair) for name, pair in binned_bounds(scores).items()}
    ranges = ", ".join(f"{name} lies between {pair}" for name, pair in bounds.items())
    return (f"Scores were counted in bins: {ranges}, whatever their order inside a bin.",)
