"""Many classes: the verdict on a table of several classes, a sentence each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.formatting import interval_text, percent_text, three_digits
from steelyard.analysis.prevalence import at_prevalence
from steelyard.evaluation.sentences import against_guessing, sure
from steelyard.metrics.registry import default_metric

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.statistics.confusion import Confusion


def many_classes(evaluation: Evaluation, table: Confusion) -> list[str]:
    """How many classes and how unequal, what accuracy hides, the balanced metrics, and the weakest class."""
    if not table.rows.sum():
        return []
    balanced = evaluation["balanced_accuracy"]
    sentences = [_sizes(table), _accuracy(evaluation, table)]
    if math.isnan(balanced.value):
        return [*sentences, f"Metrics over all classes are undefined: {balanced.undefined}."]
    return [*sentences, _alike(balanced, evaluation[default_metric().name]), _weakest_class(evaluation)]


def _sizes(table: Confusion) -> str:
    """How many classes, and how unequal they are in rows."""
    rows = dict(zip(table.labels, table.rows.sum(1).tolist(), strict=True))
    few, many = min(rows, key=rows.__getitem__), max(rows, key=rows.__getitem__)
    spread = f"from {rows[few]:,} rows ({few!r}) to {rows[many]:,} ({many!r})"
    even = f"{rows[few]:,} rows each"
    return f"{len(rows)} classes, {spread if rows[few] < rows[many] else even}, of {sum(rows.values()):,}."


def _accuracy(evaluation: Evaluation, table: Confusion) -> str:
    """The accuracy, and what always saying the commonest class would score where the evaluation is read."""
    at = table if evaluation.prevalence is None else at_prevalence(table, evaluation.prevalence)
    sizes = dict(zip(table.labels, at.matrix.sum(1), strict=True))
    large = max(sizes, key=sizes.__getitem__)
    row, always = evaluation["accuracy"], sizes[large] / sum(sizes.values())
    sentence = f"Accuracy is {sure(row)}{against_guessing(evaluation)}"
    sentence = f"{sentence}; saying {large!r} every time scores {percent_text(always)}"
    if row.high < always:
        return f"{sentence}: more than this classifier."
    return f"{sentence}: accuracy cannot tell this classifier from that." if row.value < always else f"{sentence}."


def _alike(balanced: MetricRow, default: MetricRow) -> str:
    return (
        f"Read first what weighs the classes alike: balanced accuracy "
        f"{interval_text(balanced.value, balanced.low, balanced.high)}, chance {three_digits(balanced.chance)}; "
        f"{default.spec.title} {interval_text(default.value, default.low, default.high)}, "
        f"chance {three_digits(default.chance)}."
    )


def _weakest_class(evaluation: Evaluation) -> str:
    defined = (row for row in evaluation.per_class if not math.isnan(row.recall.value))
    weakest = min(defined, key=lambda row: row.recall.value)
    weakest_row = weakest.recall
    if weakest_row.value == 1:
        return ""
    return (
        f"The weakest class is {weakest.label!r}: {percent_text(weakest_row.value)} of its {weakest.rows:,} rows are "
        f"found ({percent_text(weakest_row.low)} to {percent_text(weakest_row.high)})."
    )
