"""Table evaluation: the Evaluation of rows that are counted already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.confusions.confused_pairs import ClassOrder
from steelyard.analysis.intervals.inference import STRATIFIED, Inference
from steelyard.analysis.prevalence.prevalence import Prevalence
from steelyard.analysis.results.result import Rows
from steelyard.evaluation.class_columns import column_rows
from steelyard.evaluation.evaluation import (
    Evaluation,
    Group,
    beats_no_skill,
    check_named,
    class_risk,
    class_rows,
    group_rows,
    in_order,
    lone_class_sentences,
    metric_rows,
    no_interval_sentences,
    with_class_ends,
)
from steelyard.evaluation.inputs import negative_label, thresholded
from steelyard.evaluation.verdict.sentences import muted_codes
from steelyard.ingest.label_overlap import lookalike_hints, overlap_problems
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.metrics.score_values import reads_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.spec_text import parse_form, write_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steelyard._types import Label
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.evaluation.class_columns import GroupedColumns
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable
    from steelyard.statistics.tally import Tally


# ---------------------------------------------------------------- notes on a table
# Labels that look alike or hardly overlap, so many rows of each class, odds of another threshold.


_FEWEST = 20  # rows of each class, below which equal sizes may be chance


def table_notes(table: Confusion | None, design: str) -> tuple[str, ...]:
    """What a result states of its table and of how the test set was drawn.

    >>> from steelyard import confusion
    >>> table_notes(confusion([0, 1] * 30, [0, 1] * 30), "random")[0]
    'Each class has 30 rows; if so many of each were chosen, design="stratified" gives narrower intervals.'
    """
    stated = () if design == "random" else (STRATIFIED,)
    if table is None:
        return stated
    equal = _equal_classes(table) if design == "random" else ()
    return (*overlap_problems(table), *lookalike_hints(table.labels), *stated, *equal)


def _equal_classes(table: Confusion) -> tuple[str, ...]:
    sizes = table.rows.sum(1)
    if len(sizes) < 2 or sizes.min() < _FEWEST or sizes.min() < sizes.max():
        return ()
    chosen = "if so many of each were chosen"
    return (f'Each class has {sizes[0]:,} rows; {chosen}, design="stratified" gives narrower intervals.',)


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
        if "set threshold" in spec.metric.roles and odds != threshold:
            same = write_form(parse_form(spec.metric.name)[0], {"threshold": threshold})
            yield (
                f"{spec.name} counts false positives by the odds of {odds:g}, while rows are flagged at {threshold:g}; "
                f"ask for {same}, or flag them at {odds:g}."
            )


# ---------------------------------------------------------------- group metrics
# What evaluate reports of each group of rows, of its tables and of its columns of scores.


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
        beats_no_skill(table, scores, positive) if inference.has_independent_rows else None,
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
