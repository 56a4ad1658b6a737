"""Class columns: scores that evaluate is given a column of for each class, and the metrics that are taken of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.errors import InputError
from steelyard.evaluation.inputs import TWO_THRESHOLDS
from steelyard.evaluation.rows import SHOWN_AVERAGES, table_rows
from steelyard.ingest import arrays
from steelyard.ingest.score_matrix import probability_table
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.score_values import class_of_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.positive_class import CONVENTION, chosen_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.evaluation.inputs import RowOptions
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.statistics.probability_table import ProbabilityTable

HIGHEST_TAKEN = "The class with the highest score of a row was taken as its predicted label."


class GivenColumns(NamedTuple):
    """Predictions and scores as evaluate goes on with them, and the table of a column of scores for each class."""

    y_pred: ArrayLike | None
    y_score: ArrayLike | None
    table: ProbabilityTable | None = None
    assumed: tuple[str, ...] = ()


def given_columns(
    y_true: ArrayLike, y_pred: ArrayLike | None, y_score: ArrayLike | None, threshold: float | None, rows: RowOptions
) -> GivenColumns:
    """The scores: of one class by its column where one is meant, else of all; then the highest is the prediction."""
    if y_score is None or np.ndim(y_score) != 2 or np.shape(y_score)[1] == 1:
        return GivenColumns(y_pred, y_score)
    weights = {"sample_weight": rows.sample_weight, "frequency": rows.frequency}
    table = probability_table(y_true, y_score, labels=rows.labels, **weights)
    if rows.pos_label is not None or len(table.labels) == 2:
        return GivenColumns(y_pred, _one_column(table, rows))
    if threshold is not None:
        raise InputError(
            f"threshold= is for the scores of one positive class, and y_score has a column for each of "
            f"{len(table.labels)} classes; name one with pos_label=, or leave it out."
            if y_pred is None
            else TWO_THRESHOLDS
        )
    if y_pred is not None:
        return GivenColumns(y_pred, None, table)
    return GivenColumns(_labels_at(table, table.most_probable), None, table, (HIGHEST_TAKEN,))


def _one_column(table: ProbabilityTable, rows: RowOptions) -> Array:
    """The column of the positive class."""
    asked = CONVENTION if rows.pos_label is None else rows.pos_label
    label = chosen_label(asked, table.labels, lambda: np.bincount(table.codes, minlength=len(table.labels)))
    column: Array = table.probabilities[:, table.labels.index(class_of_columns(table, label).label)]
    return column


def _labels_at(table: ProbabilityTable, places: Array) -> Array:
    """The labels at places, as an array of their own kind."""
    return arrays.column(list(table.labels), "labels")[places]


def of_columns(spec: MetricSpec) -> bool:
    """Whether the metric as asked can be taken of a column of scores for each class."""
    return spec.reads_scores(None) and (spec.metric.columns is not None or not spec.is_native)


def column_rows(
    table: ProbabilityTable | None, specs: Sequence[MetricSpec], inference: Inference, *, named: bool
) -> list[MetricRow]:
    """The rows of the metrics of a column of scores for each class: those named, or all that many classes have."""
    if table is None or left_out_sentences(table, inference, True if named else None):
        return []
    every = [spec for spec in specs if of_columns(spec)] if named else _usual(table, specs, inference)
    rows = table_rows([spec for spec in every if spec.label is None], table, CallOptions(), inference)
    for spec in every:
        if spec.label is not None:
            rows += table_rows([spec], class_of_columns(table, spec.label), CallOptions(), inference)
    return rows


def left_out_sentences(table: ProbabilityTable | None, inference: Inference, metrics: object) -> list[str]:
    """That metrics of columns are left out at another prevalence, where they have no value, unless they are named."""
    if table is None or inference.prevalence is None or metrics is not None:
        return []
    return ["Metrics of the scores of all classes are of the sample's prevalence alone, and left out at another one."]


def _usual(table: ProbabilityTable, specs: Sequence[MetricSpec], inference: Inference) -> list[MetricSpec]:
    """The metrics that have a form of their own for many classes, and those that are averaged over the classes."""
    proper = table.first_improper is None
    fitting = [spec for spec in specs if proper or not spec.metric.of_probabilities]
    usual = [spec for spec in fitting if spec.metric.columns is not None]
    for spec in fitting:
        usual += _averages(spec, table, clustered=inference.clustered is not None)
    return usual


def _averages(spec: MetricSpec, table: ProbabilityTable, *, clustered: bool) -> Iterator[MetricSpec]:
    """The averages of a metric over the classes, over the pairs of classes, and its value for each class."""
    if "averaged over columns" not in spec.metric.roles:
        return
    yield from (replace(spec, average=average) for average in SHOWN_AVERAGES)
    if "multi_class" in spec.metric.parameters:
        title = f"{spec.metric.title} of pairs of classes"
        yield MetricSpec(spec.metric.fixed(multi_class="ovo", title=title), "macro")
    if not clustered:  # the scores of one class are of independent rows
        yield from (replace(spec, label=label, average=NATIVE) for label in table.labels)
