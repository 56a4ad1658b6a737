"""Metric blocks: under which heading each metric stands in the table of an evaluation, on the page and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow

TOP_METRICS = ("Read first", "Usual metrics")


def top_metrics(evaluation: Evaluation) -> dict[str, str]:
    """The metrics that stand above the families, each with its heading: what to read first, then the usual ones."""
    if evaluation.metrics_named:
        return {}
    read_first, usual = TOP_METRICS
    first = evaluation.read_first
    return {row.name: read_first if row.name in first else usual for row in evaluation.shown()}


def metric_blocks(evaluation: Evaluation) -> dict[str, list[MetricRow]]:
    """The rows of all metrics by their headings: those that stand above, then the others by family."""
    headings = getattr(evaluation, "headings", None)  # of label sets
    top = top_metrics(evaluation) if headings is None else headings
    order = list(top)
    blocks: dict[str, list[MetricRow]] = {}
    for row in sorted(evaluation.metrics, key=lambda row: order.index(row.name) if row.name in top else len(order)):
        blocks.setdefault(top.get(row.name, row.spec.metric.kind.title), []).append(row)
    return blocks
