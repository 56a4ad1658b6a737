"""Pairing: the truth and what two models predicted, weighed into one table. The floors below may use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, InputTypeError
from steelyard.ingest import array_tables as ingest
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.label_overlap import disjoint_problems
from steelyard.statistics.confusion import Confusion, sort_labels
from steelyard.statistics.paired import Paired, check_size
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steelyard._types import Array


def paired(
    y_true: Any,
    pred_a: Any,
    pred_b: Any,
    *,
    labels: Any = None,
    pos_label: Any = None,
    frequency: Any = None,
    sample_weight: Any = None,
) -> Paired:
    """Weigh the truth and the labels that two models predicted into one table, truth x A x B.

    `frequency` says how many rows a row stands for; weights of importance are refused.

    >>> paired([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0])
    <Paired table of 4 rows, 2 labels: A alone is right in 1, B alone in 1>
    """
    refuse_weights(sample_weight)
    times = arrays.weights(frequency, "frequency", whole=True)
    true = arrays.column(y_true, "y_true")
    models = {name: arrays.column(values, name) for name, values in (("pred_a", pred_a), ("pred_b", pred_b))}
    arrays.check_lengths(y_true=true, **models, frequency=times)
    (truth, a, b), known = encoded(true, models, labels)
    return weigh(truth, a, b, known, positive(known, pos_label), times)


def refuse_weights(sample_weight: Any) -> None:
    """Refuse weights of importance, which no draw of rows can count."""
    if sample_weight is not None:
        raise InputError(
            "sample_weight= is not taken in comparing models: their paired draws count rows. Leave it out, or say with "
            "frequency= of paired() how many rows a row stands for."
        )


def encoded(true: Array, models: Mapping[str, Array], labels: Any) -> tuple[list[Array], tuple[Any, ...]]:
    """The codes of the truth and of each model, and the labels they share."""
    declared = ingest.declared_labels(labels)
    if not len(true) and declared is None:
        raise InputError("y_true is empty; give at least one row, or declare the labels with labels=.")
    found = {name: label_codes.distinct(column, name) for name, column in {"y_true": true, **models}.items()}
    truth = found["y_true"][1]
    for name, (_, held) in found.items():
        if truth and held and isinstance(truth[0], str) != isinstance(held[0], str):
            told = f"y_true holds labels such as {truth[0]!r} and {name} such as {held[0]!r}"
            raise InputTypeError(f"{told}; give both the same labels.")
    known = sort_labels(label for _, held in found.values() for label in held) if declared is None else declared
    return [label_codes.recode(codes, held, known, name) for name, (codes, held) in found.items()], known


def positive(labels: tuple[Any, ...], pos_label: Any) -> Any:
    """The label that was named positive, as it stands among the labels; None where none was."""
    if pos_label is None:
        return None
    return labels[Confusion.of_rows(labels, np.zeros((0, 0), dtype=np.int64)).index(pos_label)]


def weigh(
    true: Array, a: Array, b: Array, labels: tuple[Any, ...], positive: Any, times: Array | None = None
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


def check_met(codes: list[Array], labels: tuple[Any, ...], models: Iterable[str]) -> None:
    """Refuse a model of which no label occurs in the truth."""
    true, *said = ([labels[place] for place in np.flatnonzero(np.bincount(code))] for code in codes)
    for name, pred in zip(models, said, strict=True):
        for sentence in disjoint_problems(true, pred, f"the model {name!r}"):
            raise InputError(sentence)
