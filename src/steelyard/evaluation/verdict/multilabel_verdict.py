"""The verdict on label sets: labels found, missed and false, whole rows, the weakest label, imbalance, groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.comparison.groups import groups_to_test, interval_p_values
from steelyard.analysis.results.denominator import whole_rows
from steelyard.analysis.results.formatting import interval_text, three_digits
from steelyard.evaluation.verdict.sentences import (
    Sentence,
    quoted_label,
    rows_text,
    unmuted,
    whole_share,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import MetricRow
    from steelyard.evaluation.multilabel_evaluation import MultilabelEvaluation, RowOutcomes

_FEW_ROWS, _EXPECTED = 100, 10  # rows that are spoken of one by one, and labels that so many should have
_FEW = 30  # rows of a label below which little is known of it
_IMBALANCED = 2.0  # times as many rows, from which imbalance is worth a sentence


def multilabel_verdict(evaluation: MultilabelEvaluation) -> list[Sentence]:
    """The labels of so many rows, how many rows are right as a whole, and the first three of what else there is."""
    first = [] if evaluation.outcomes is None else _row_sentences(evaluation, evaluation.outcomes)
    others = [_weakest_label(evaluation), _weakest_group(evaluation)]
    others += [_imbalance_sentence(evaluation), _pair_sentence(evaluation)]
    return unmuted(first, others, evaluation.muted)


def _row_sentences(evaluation: MultilabelEvaluation, outcomes: RowOutcomes) -> list[Sentence]:
    """The labels of so many rows that are found, missed and false, and the rows right as a whole, beside no labels."""
    base, are_these = _base(evaluation, outcomes)
    rows = f"These {base:,} rows" if are_these else f"{base:,} rows like these"
    rows = f"{rows}, by sample weight," if evaluation.weighted else rows
    labels = whole_rows(outcomes.labels_true * base)
    found = min(whole_rows(outcomes.labels_found * base), labels)
    missing = outcomes.labels_true - outcomes.labels_found > 0
    false = outcomes.labels_predicted - outcomes.labels_found
    parts = [
        f"finds {_number(found, is_some=outcomes.labels_found > 0)}",
        f"misses {_number(labels - found, is_some=missing)}",
    ]
    many = _number(whole_rows(false * base), is_some=false > 1e-12, none="no")
    added = f"adds {many} false {'one' if many in ('no', '1', 'fewer than 1') else 'ones'}"
    have = _number(labels, is_some=outcomes.labels_true > 0, none="no")
    nothing = f"; predicting nothing misses all {labels:,}" if labels > 1 else ""
    text = f"{rows} have {have} label{'s' * (have != '1')}. The classifier {', '.join(parts)} and {added}{nothing}."
    right, bare = (whole_share(share, base) for share in (outcomes.all_right, outcomes.without_labels))
    beside = f"{right:,} of {base:,} rows have all labels right; predicting nothing gets {bare:,} right."
    return [Sentence(text, "label-sets"), Sentence(beside, "whole-rows")]


def _base(evaluation: MultilabelEvaluation, outcomes: RowOutcomes) -> tuple[int, bool]:
    """All rows where they are few, else a hundred, or the power of ten at which ten labels are expected."""
    if evaluation.rows <= _FEW_ROWS and not evaluation.weighted:
        return evaluation.rows, True
    base = _FEW_ROWS
    while 0 < outcomes.labels_true * base < _EXPECTED and base < 10**9:
        base *= 10
    return base, False


def _number(count: int, *, is_some: bool, none: str = "none") -> str:
    return f"{count:,}" if count else "fewer than 1" if is_some else none


def _weakest_label(evaluation: MultilabelEvaluation) -> Sentence | None:
    """The label whose leading metric is lowest, if the intervals can separate it from the others together."""
    names = [row.spec.metric.name for row in evaluation.metrics if row.spec.average == "macro"]
    every = list(evaluation.per_label[0].metrics) if evaluation.per_label else []
    name = next((name for name in ("f1", *every) if name in every and (name in names or not names)), None)
    labels = [row for row in evaluation.per_label if name and math.isfinite(row.metrics[name].value)]
    if name is None or len(labels) < 2:
        return None
    intervals, phrase = [row.metrics[name] for row in labels], labels[0].metrics[name].spec.metric.phrase
    index = _lowest(intervals, [row.rows for row in labels], evaluation.level)
    if index is None:
        fewest = min(row.rows for row in labels)
        text = f"The {len(labels):,} labels are not distinguishable by {phrase}; the rarest has {rows_text(fewest)}"
        text += ": collect more of it to compare them." if fewest < _FEW else "."
        return Sentence(text, "labels-not-distinguishable")
    row, interval = labels[index], intervals[index]
    is_lowest = interval.value <= min(other.value for other in intervals)
    where = "is lowest for" if is_lowest else "is below that of the others together for"
    value = interval_text(interval.value, interval.low, interval.high, share=interval.spec.is_share)
    text = f"{phrase[:1].upper()}{phrase[1:]} {where} {quoted_label(row.label)}, which {rows_text(row.rows)} have"
    return Sentence(f"{text}: {value}.", "weakest-label")


def _lowest(parts: Sequence[Interval | MetricRow], sizes: Sequence[int], level: float) -> int | None:
    """The index of the lowest of those that are shown to be below the others together."""
    known = [i for i, part in enumerate(parts) if math.isfinite(part.low) and math.isfinite(part.high)]
    if len(known) < 2:
        return None
    tested = np.asarray(known)[groups_to_test(np.array(sizes)[known], 1, level)]
    bounds = np.array([(parts[i].value, parts[i].low, parts[i].high) for i in tested])
    p_values = interval_p_values(bounds, np.array(sizes)[tested], level)
    shown = tested[p_values <= 1 - level]
    return min(shown.tolist(), key=lambda i: parts[i].value, default=None)


def _weakest_group(evaluation: MultilabelEvaluation) -> Sentence | None:
    if len(evaluation.groups) < 2:
        return None
    name = next((row.name for row in evaluation.groups[0].metrics if row.spec.sign > 0), None)
    groups = [group for group in evaluation.groups if name and name in group and math.isfinite(group[name].value)]
    if name is None or len(groups) < 2:
        return None
    rows = [group[name] for group in groups]
    index = _lowest(rows, [group.rows for group in groups], evaluation.level)
    title = rows[0].spec.title
    if index is None:
        fewest = min(group.rows for group in groups)
        text = f"{len(groups):,} groups are not distinguishable by {title}; the smallest has {rows_text(fewest)}."
        return Sentence(text, "groups-not-distinguishable")
    group, row = groups[index], rows[index]
    value = interval_text(row.value, row.low, row.high, share=row.spec.is_share)
    where = f"{group.label[:60]} ({rows_text(group.rows)}), of {len(groups):,} groups"
    return Sentence(f"{title} is lowest in {where}: {value}.", "weakest-group")


def _imbalance_sentence(evaluation: MultilabelEvaluation) -> Sentence | None:
    labels = [row for row in evaluation.per_label if row.rows]
    if len(labels) < 2:
        return None
    most, least = max(labels, key=lambda row: row.share), min(labels, key=lambda row: row.share)
    if least.imbalance < _IMBALANCED:
        return None
    times = three_digits(least.imbalance)
    text = (
        f"The commonest label, {quoted_label(most.label)}, has {times} times as many rows as the rarest, "
        f"{quoted_label(least.label)} ({most.rows:,} and {least.rows:,}); the mean imbalance ratio of the labels is "
        f"{three_digits(evaluation.mean_imbalance)}."
    )
    return Sentence(text, "label-imbalance")


def _pair_sentence(evaluation: MultilabelEvaluation) -> Sentence | None:
    if not evaluation.pairs:
        return None
    pair = evaluation.pairs[0]
    expected = three_digits(pair.expected)
    text = (
        f"{quoted_label(pair.predicted)} is often predicted in place of {quoted_label(pair.missed)}: in "
        f"{rows_text(pair.rows)}, where chance would have {expected}."
    )
    return Sentence(text, "label-pair")
