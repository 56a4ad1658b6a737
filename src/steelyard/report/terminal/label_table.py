"""Label table: the labels of label sets on a terminal, of many the weakest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import three_digits
from steelyard.report.terminal.layout import clean_label, clean_labels, print_table
from steelyard.report.terminal.matrix import MOST_SHOWN_LABELS

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation, LabelRow

_MOST_PAIRS = 5


def labels_text(evaluation: Evaluation, everything: bool) -> str:
    """Each label with its metrics, or of many those where the last of these is lowest; then the confused pairs."""
    labels: list[LabelRow] = list(getattr(evaluation, "per_label", ()))
    if not labels:
        return ""
    names, more = list(labels[0].metrics), ""
    if len(labels) > MOST_SHOWN_LABELS and not everything:
        more = f"\nThe {MOST_SHOWN_LABELS} labels of lowest {names[-1]}; --all shows all {len(labels):,}."
        labels = sorted(labels, key=lambda row: _last_if_undefined(row, names[-1]))[:MOST_SHOWN_LABELS]
    rows = [
        [name, f"{row.rows:,}", *(row.metrics[each].text() for each in names), three_digits(row.imbalance)]
        for name, row in zip(clean_labels([row.label for row in labels]), labels, strict=True)
    ]
    head = ["label", "rows", *names, "imbalance"]
    table = print_table(head, rows, wrap=(), optional=[len(head) - 1, *range(len(names), 2, -1)])
    return "\n\n".join([f"{table}{more}", *_pairs(evaluation)])


def _last_if_undefined(row: LabelRow, name: str) -> float:
    value = row.metrics[name].value
    return math.inf if math.isnan(value) else value


def _pairs(evaluation: Evaluation) -> list[str]:
    pairs = list(getattr(evaluation, "pairs", ()))[:_MOST_PAIRS]
    rows = [
        [clean_label(pair.missed), clean_label(pair.predicted), f"{pair.rows:,}", three_digits(pair.expected)]
        for pair in pairs
    ]
    return [print_table(["missed", "predicted in its place", "rows", "by chance"], rows, wrap=())] if rows else []
