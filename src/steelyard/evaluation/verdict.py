"""The verdict: what a table says, in a few plain sentences, each made from its numbers. No grades."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.formatting import interval_text, percent_text, three_digits
from steelyard.analysis.prevalence import at_prevalence
from steelyard.evaluation.groups import weakest_group
from steelyard.evaluation.sentences import against_guessing, named, sure
from steelyard.evaluation.two_class_verdict import two_classes
from steelyard.metrics.registry import default_metric

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.statistics.confusion import Confusion


def verdict(evaluation: Evaluation) -> list[str]:
    """Three to six sentences: how unequal the classes are, what accuracy hides, what is found, how sure that is."""
    if evaluation.counts is not None:
        parts = two_classes(evaluation, evaluation.counts)
    elif evaluation.confusion is not None:
        parts = _many_classes(evaluation, evaluation.confusion)
    else:
        parts = []
    sentences = [_elsewhere(evaluation), *parts, *_ranking(evaluation), _weakest_group(evaluation)]
    return [sentence for sentence in sentences if sentence]


# ---------------------------------------------------------------- many classes


def _many_classes(evaluation: Evaluation, table: Confusion) -> list[str]:
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


# ---------------------------------------------------------------- scores, prevalence


def _ranking(evaluation: Evaluation) -> list[str]:
    if "roc_auc" not in evaluation:
        return []
    auc = evaluation["roc_auc"]
    sentence = f"By its scores a positive outranks a negative {sure(auc)} of the time, guessing {percent_text(0.5)}"
    if "average_precision" not in evaluation:
        return [f"{sentence}."]
    ap = evaluation["average_precision"]
    return [
        f"{sentence}; average precision {interval_text(ap.value, ap.low, ap.high)}, guessing {three_digits(ap.chance)}."
    ]


def _weakest_group(evaluation: Evaluation) -> str:
    weakest = weakest_group(evaluation.groups)
    if weakest is None:
        return ""
    group, row = weakest
    sentence = f"The weakest of {len(evaluation.groups)} groups is {_short(group.label)} ({group.rows:,} rows)"
    return f"{sentence}: {named(row.name)} {interval_text(row.value, row.low, row.high)}."


def _short(name: str) -> str:
    """A name from the data, cut where it would drown the sentence."""
    return name if len(name) <= 60 else f"{name[:57]}..."


def _elsewhere(evaluation: Evaluation) -> str:
    if evaluation.prevalence is None:
        return ""
    if not isinstance(evaluation.prevalence, (int, float)):
        return "All values are read at the class shares that were given, not the sample's."
    return f"All values are read at a prevalence of {percent_text(evaluation.prevalence)}, not the sample's."
