"""Metric blocks: under which heading each metric stands in the table of an evaluation, on the page and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation, MetricRow

USUAL = "Usual metrics"
BY_CLASS = "Each class by its scores"
_MOST_CLASSES = 12  # whose values stand one by one among the metrics


def top_metrics(evaluation: Evaluation) -> dict[str, str]:
    """The metrics that stand above the families, each with its heading: those of the use, then the usual ones."""
    use, named = evaluation.use, evaluation.metrics_named
    if use is None:
        return {} if named else {row.name: USUAL for row in evaluation.shown()}
    rest = (use.title or "Asked for") if named else USUAL
    return {row.name: f"For {use.name}" if row.name in evaluation.leading else rest for row in evaluation.shown()}


def metric_blocks(evaluation: Evaluation) -> dict[str, list[MetricRow]]:
    """The rows of all metrics by their headings: those that stand above, the others by family, then those of a class.

    Few classes stand among the metrics of their family.
    """
    headings = getattr(evaluation, "headings", None)  # of label sets
    top = top_metrics(evaluation) if headings is None else headings
    order, apart = list(top), rows_by_class(evaluation)
    blocks: dict[str, list[MetricRow]] = {}
    for row in sorted(evaluation.metrics, key=lambda row: order.index(row.name) if row.name in top else len(order)):
        if row.name not in apart:
            blocks.setdefault(top.get(row.name, row.spec.metric.kind.title), []).append(row)
    return blocks | ({BY_CLASS: [*apart.values()]} if apart else {})


def rows_by_class(evaluation: Evaluation) -> dict[str, MetricRow]:
    """The rows of one class each that no one asked for by name, where the classes are many."""
    if evaluation.metrics_named or hasattr(evaluation, "headings"):
        return {}
    rows = {row.name: row for row in evaluation.metrics if row.spec.label is not None}
    return rows if len({row.spec.label for row in rows.values()}) > _MOST_CLASSES else {}
