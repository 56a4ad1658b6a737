"""The weakest part: the group or the class in which a metric is lowest, named only where a test shows a difference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.comparison.groups import (
    can_permute,
    class_value,
    exact_p_values,
    groups_to_test,
    interval_p_values,
    moves_with_shares,
    recall_value,
    two_class_value,
)
from steelyard.analysis.results.formatting import interval_text, percent_text
from steelyard.evaluation.verdict.label_words import quoted_label
from steelyard.evaluation.verdict.sentences import Sentence
from steelyard.metrics.registry import default_metric, metrics_with_role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.comparison.groups import RightRowsValue
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.groups import Group
    from steelyard.evaluation.metric_row import MetricRow

_WIDEST = 60  # characters of a group's name in a sentence


class RightRows(NamedTuple):
    """The rows of each part that are right, and all of them, by true class; and the metric of those."""

    hits: Array
    sizes: Array
    value: RightRowsValue


def group_sentence(evaluation: Evaluation) -> Sentence | None:
    """The group in which the leading metric is lowest, or that the groups are not distinguishable by it."""
    for metric in dict.fromkeys([default_metric(), *metrics_with_role("headline")]):
        groups = [g for g in evaluation.groups if metric.name in g and math.isfinite(g[metric.name].value)]
        if len(groups) < 2:
            continue
        rows = [group[metric.name] for group in groups]
        right = _right_rows(groups, rows, evaluation)
        tested, place = _weakest(rows, [group.rows for group in groups], right, evaluation)
        shares = right is not None and moves_with_shares(right.value, right.hits.sum(0), right.sizes.sum(0))
        named = f"{len(groups):,}" if tested == len(groups) else f"the {tested:,} largest of {len(groups):,}"
        if place is not None:
            others = "its class shares explain" if shares else "in the others together"
            return _lowest_group(groups[place], rows, place, f"Of {named} groups {metric.phrase}", others)
        smallest = _rows_text(min(group.rows for group in groups))
        text = f"{named[0].upper()}{named[1:]} groups are not distinguishable by {metric.phrase}"
        text += " beyond what their class shares explain" if shares else ""
        return Sentence(f"{text}; the smallest has {smallest}.", "groups-not-distinguishable")
    return None


def _lowest_group(group: Group, rows: Sequence[MetricRow], place: int, start: str, others: str) -> Sentence:
    row, name = rows[place], group.label if len(group.label) <= _WIDEST else f"{group.label[: _WIDEST - 1]}…"
    is_lowest = row.value <= min(other.value for other in rows)
    where = f"is lowest in {name} ({_rows_text(group.rows)})"
    if not is_lowest:
        where = f"is lower in {name} ({_rows_text(group.rows)}) than {others}"
    return Sentence(
        f"{start} {where}: {interval_text(row.value, row.low, row.high, share=row.spec.is_share)}.", "weakest-group"
    )


def class_sentence(evaluation: Evaluation) -> Sentence | None:
    """The class whose rows are found least often, or that the classes' recalls are not distinguishable."""
    classes = [row for row in evaluation.per_class if not math.isnan(row.recall.value)]
    recalls = [row.recall for row in classes]
    if len(classes) < 2 or all(recall.value == 1 for recall in recalls):
        return None
    right = None
    if (table := evaluation.confusion) is not None and not table.weighted and recalls[0].method != "cluster":
        sizes = table.rows.sum(1)
        present = sizes > 0
        if can_permute(sizes[present, None]):
            right = RightRows(table.rows.diagonal()[present, None], sizes[present, None], recall_value)
    _, place = _weakest(recalls, [row.rows for row in classes], right, evaluation)
    if place is None:
        smallest = _rows_text(min(row.rows for row in classes))
        text = (
            f"The recalls of the {len(classes):,} classes are not distinguishable; the smallest class has {smallest}."
        )
        return Sentence(text, "classes-not-distinguishable")
    weakest, recall = classes[place], recalls[place]
    ends = " to ".join(percent_text(end).removesuffix(" %") for end in (recall.low, recall.high))
    is_lowest = recall.value <= min(other.value for other in recalls)
    where = f"is lowest for class {quoted_label(weakest.label)}"
    if not is_lowest:
        where = f"is lower for class {quoted_label(weakest.label)} than for the others together"
    text = f"Recall {where}: {percent_text(recall.value)} ({ends}) of its {_rows_text(weakest.rows)}."
    return Sentence(text, "weakest-class")


def _rows_text(rows: int) -> str:
    return "one row" if rows == 1 else f"{rows:,} rows"


def _weakest(
    rows: Sequence[MetricRow | Interval], sizes: Sequence[int], right: RightRows | None, evaluation: Evaluation
) -> tuple[int, int | None]:
    """How many parts were tested, and the place of the weakest of those that are shown to be below the others."""
    classes = 1 if right is None else right.hits.shape[-1]
    tested = groups_to_test(np.array(sizes), classes, evaluation.level)
    if right is None:
        ends = np.array([(rows[place].value, rows[place].low, rows[place].high) for place in tested])
        p_values = interval_p_values(ends, np.array(sizes)[tested], evaluation.level)
    else:
        rng = np.random.default_rng(0)
        p_values = exact_p_values(right.hits[tested], right.sizes[tested], right.value, evaluation.level, rng)
    shown = tested[p_values <= 1 - evaluation.level]
    return len(tested), min(shown.tolist(), key=lambda place: rows[place].value, default=None)


def _right_rows(groups: Sequence[Group], rows: Sequence[MetricRow], evaluation: Evaluation) -> RightRows | None:
    """The right rows of the groups; None where rows cannot change groups: weights, clusters, ranks, a prevalence."""
    tables, metric = [group.confusion for group in groups], rows[0].spec.metric
    if evaluation.prevalence is not None or metric.function is None or any(row.method == "cluster" for row in rows):
        return None
    unweighted = [table.rows for table in tables if table is not None and not table.weighted]
    if len(unweighted) < len(groups):
        return None
    matrices = np.stack(unweighted)
    if not can_permute(matrices.sum(2)):
        return None
    if evaluation.positive is None:
        value = class_value(metric, matrices.sum(0))
        return None if value is None else RightRows(np.diagonal(matrices, axis1=1, axis2=2), matrices.sum(2), value)
    place = evaluation.labels.index(evaluation.positive)
    positives, flagged, tp = matrices[:, place].sum(1), matrices[:, :, place].sum(1), matrices[:, place, place]
    total = matrices.sum((1, 2))
    sizes = np.stack([positives, total - positives], -1)
    hits = np.stack([tp, total - positives - flagged + tp], -1)
    return RightRows(hits, sizes, two_class_value(metric))
