"""Class columns: scores that evaluate is given a column of for each class, and the metrics that are taken of them."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, NamedTuple

from steelyard.analysis.intervals.cluster_tables import has_several_clusters
from steelyard.analysis.prevalence.prevalence import Prevalence, columns_at
from steelyard.arrays.checks import is_ordered
from steelyard.arrays.labels import sort_labels
from steelyard.evaluation.evaluation import SHOWN_AVERAGES, table_rows
from steelyard.exceptions import InputError, first_ten
from steelyard.frames.groups import group_columns, group_places
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.score_values import class_of_columns, reads_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.spec_text import parse_form
from steelyard.metrics.usual import PER_CLASS_OF_SCORES
from steelyard.tables.array_tables import HIGHEST_TAKEN, improper_row
from steelyard.tables.thresholding import TWO_THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard._types import Array, Labels
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.evaluation.evaluation import MetricRow
    from steelyard.frames.groups import By
    from steelyard.predictions import Predictions
    from steelyard.tables.probability_table import ProbabilityTable


class GivenColumns(NamedTuple):
    """The rows as evaluate goes on with them, and the table of a column of scores for each class."""

    rows: Predictions
    table: ProbabilityTable | None = None
    assumed: tuple[str, ...] = ()

    def left_out(self, prevalence: PrevalenceLike | None, metrics: object) -> list[str]:
        """That metrics of columns are left out where scores are no probabilities or a prevalence is estimated."""
        if self.table is None or metrics is not None:
            return []
        if not isinstance(prevalence, Prevalence):
            why = improper_row(self.table)
            return [] if why is None else [f"Metrics of probabilities such as log_loss are left out: {why}."]
        return ["Metrics of the scores of all classes have no interval at an estimated prevalence, and are left out."]

    def grouped(self, by: By | None) -> GroupedColumns | None:
        """The table of all classes, and the rows of its groups."""
        if self.table is None:
            return None
        return GroupedColumns(self.table, {} if by is None else group_places(group_columns(by)))


class GroupedColumns(NamedTuple):
    """The table of a column of scores for each class, and the indices of the rows of each group."""

    table: ProbabilityTable
    indices: Mapping[Labels, Array]

    def group_rows(self, key: Labels, specs: Sequence[MetricSpec], inference: Inference) -> list[MetricRow]:
        """The metrics of one group; without an interval where its rows are of one cluster."""
        single = inference.clustered is not None and not has_several_clusters(inference.clustered)
        inference = inference.of_independent_rows() if single else inference
        averaged = [replace(spec, average="macro") if _is_averaged(spec) else spec for spec in specs]
        rows = column_rows(self.table.at(self.indices[key]), averaged, inference, named=True)
        return [replace(row, low=nan, high=nan, method="cluster") for row in rows] if single else rows


def _is_averaged(spec: MetricSpec) -> bool:
    return spec.is_native and parse_form(spec.metric.name)[0] in PER_CLASS_OF_SCORES


def given_columns(p: Predictions) -> GivenColumns:
    """The scores of all classes, whose highest is then the prediction; of one class they are what they are.

    Scores on a device stay there unless the rows are in groups or clusters.
    """
    values = p.countable()
    if values.kind != "class scores":
        return GivenColumns(p)
    given = values.given
    table = values.probability_table(to_host=given.by is not None or given.cluster is not None)
    if given.threshold is not None:
        raise InputError(
            f"threshold= is for the scores of one positive class, and y_score has a column for each of "
            f"{len(table.labels)} classes; name one with pos_label=, or leave it out."
            if given.y_pred is None
            else TWO_THRESHOLDS
        )
    assumed: tuple[str, ...] = ()
    order = sort_labels(table.labels)
    unnamed = given.labels is None and not hasattr(given.y_score, "columns")
    if unnamed and is_ordered(given.data) and order != table.labels:  # the classes state another order
        assumed = (f"The columns of y_score were taken in the order of scikit-learn's classes_, {first_ten(order)}.",)
    taken = (HIGHEST_TAKEN,) if given.y_pred is None else ()
    return GivenColumns(values.by_highest(), table, (*taken, *assumed))


def column_rows(
    table: ProbabilityTable | None, specs: Sequence[MetricSpec], inference: Inference, *, named: bool
) -> list[MetricRow]:
    """The rows of the metrics of a column of scores for each class: those named, or all that many classes have."""
    if table is None or (isinstance(inference.prevalence, Prevalence) and not named):
        return []
    every = [spec for spec in specs if reads_columns(spec)] if named else _usual(table, specs, inference)
    rows = table_rows([spec for spec in every if spec.label is None], table, CallOptions(), inference)
    if inference.prevalence is not None:  # a class against rest of their shares, which are fixed
        table = columns_at(table, inference.prevalence)
        inference = replace(inference, prevalence=None, design="stratified")
    for spec in every:
        if spec.label is not None:
            rows += table_rows([spec], class_of_columns(table, spec.label), CallOptions(), inference)
    return rows


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
    if spec.metric.name not in PER_CLASS_OF_SCORES:
        return
    yield from (replace(spec, average=average) for average in SHOWN_AVERAGES)
    if "multi_class" in spec.metric.parameters:
        yield MetricSpec(spec.metric.fixed(multi_class="ovo"), "macro")
    if not clustered:  # the scores of one class are of independent rows
        yield from (replace(spec, label=label, average=NATIVE) for label in table.labels)
