"""Table evaluation: the Evaluation of rows that are counted already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.confusions.confused_pairs import ClassOrder
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.prevalence.prevalence import Prevalence
from steelyard.analysis.results.result import Rows
from steelyard.evaluation.class_columns import (
    column_rows,
)
from steelyard.evaluation.class_risk import class_risk
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.group_metrics import evaluated_groups
from steelyard.evaluation.groups import lone_class_sentences, no_interval_sentences
from steelyard.evaluation.rows import beats_no_skill, check_named, class_rows, in_order, metric_rows, with_class_ends
from steelyard.evaluation.table_notes import odds_notes
from steelyard.evaluation.verdict.sentences import muted_codes
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.metrics.score_values import reads_columns
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Label
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.evaluation.class_columns import GroupedColumns
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable
    from steelyard.statistics.tally import Tally


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
