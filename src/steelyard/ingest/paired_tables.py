"""Paired tables: the truth and the labels that two models predicted, counted into one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.array_tables import declared_labels
from steelyard.ingest.category_order import category_order
from steelyard.ingest.label_overlap import disjoint_problems
from steelyard.ingest.row_order import check_order
from steelyard.statistics.confusion import sort_labels
from steelyard.statistics.paired import Paired, check_size
from steelyard.statistics.positive_class import absent_sentence, chosen_label
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, LabelSet, Weights


def paired(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    labels: LabelSet | None = None,
    pos_label: Label = None,
    frequency: Weights = None,
    sample_weight: Weights = None,
) -> Paired:
    """Count the truth and the labels that two models predicted into one table, truth x A x B.

    `frequency` is the frequency weight, how many rows a row counts for; sample weights are refused.

    >>> paired([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0])
    <Paired table of 4 rows, 2 labels: A alone is right in 1, B alone in 1>
    """
    if sample_weight is not None:
        raise InputError(
            "sample_weight= is not taken by paired(), whose table counts rows; give compare() the rows and their "
            "weights, or paired() frequency weights by frequency=."
        )
    check_order(y_true=y_true, pred_a=pred_a, pred_b=pred_b, frequency=frequency)
    times = arrays.weights(frequency, "frequency", whole=True)
    true = arrays.column(y_true, "y_true")
    models = {name: arrays.column(values, name) for name, values in (("pred_a", pred_a), ("pred_b", pred_b))}
    arrays.check_lengths(y_true=true, **models, frequency=times)
    declared = category_order(y_true, true, *models.values()) if labels is None else labels
    (truth, a, b), shared = encoded(true, models, declared)
    return counted_pair(truth, a, b, shared, positive(shared, pos_label, truth, times), times)


def encoded(true: Array, models: Mapping[str, Array], labels: LabelSet | None) -> tuple[list[Array], Labels]:
    """The codes of the truth and of each model, and the labels they share."""
    declared = declared_labels(labels)
    if not len(true) and declared is None:
        raise InputError("y_true is empty; give at least one row, or declare the labels with labels=.")
    columns = {name: label_codes.distinct(column, name) for name, column in {"y_true": true, **models}.items()}
    truth = columns["y_true"][1]
    for name, (_, present) in columns.items():
        if truth and present and isinstance(truth[0], str) != isinstance(present[0], str):
            examples = f"y_true holds labels such as {truth[0]!r} and {name} such as {present[0]!r}"
            raise InputTypeError(f"{examples}; give both the same labels.")
    shared = declared
    if shared is None:
        shared = sort_labels(label for _, present in columns.values() for label in present)
    return [label_codes.recode(codes, present, shared, name) for name, (codes, present) in columns.items()], shared


def positive(labels: Labels, pos_label: Label, true: Array | None = None, times: Array | None = None) -> Label:
    """The label that was named positive, as it stands among the labels, or the rarer one; None where none was named.

    `true` are the codes of the true labels, each of which stands for `times` rows.
    """
    if pos_label is None:
        return None
    codes = np.zeros(0) if true is None else true
    label = chosen_label(pos_label, labels, lambda: label_codes.counts(codes, len(labels), times))
    if label not in labels:
        raise InputError(absent_sentence(f"The label {label!r}", label, labels))
    return label


def counted_pair(
    true: Array, a: Array, b: Array, labels: Labels, positive: Label, times: Array | None = None
) -> Paired:
    """The table of the codes of the truth and of two models, each row as often as `times` says."""
    check_size(labels)
    k = len(labels)
    rows = np.zeros(k**3, dtype=np.int64)
    for part in chunks(len(true)):
        code = true[part].astype(np.intp)
        for model in (a, b):
            code *= k
            code += model[part].astype(np.intp, copy=False)
        if times is None:
            rows += np.bincount(code, minlength=k**3)
        else:
            np.add.at(rows, code, times[part])
    return Paired(labels, rows.reshape(k, k, k), positive)


def check_met(codes: list[Array], labels: Labels, models: Iterable[str]) -> None:
    """Refuse a model none of whose labels occurs in the truth."""
    true, *predicted = ([labels[place] for place in np.flatnonzero(np.bincount(code))] for code in codes)
    for name, pred in zip(models, predicted, strict=True):
        for sentence in disjoint_problems(true, pred, f"the model {name!r}"):
            raise InputError(sentence)
