"""Column models: the scores of several models, a column for each class, of arrays by name or of a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.comparison.model_columns import ComparedColumns, RowColumns, checked_models
from steelyard.analysis.intervals.design import RowMass
from steelyard.exceptions import InputError
from steelyard.ingest import arrays
from steelyard.ingest.frame_columns import refuse_name
from steelyard.ingest.probability_columns import ClassColumnRows
from steelyard.ingest.row_order import check_order
from steelyard.ingest.score_matrix import probability_table
from steelyard.ingest.source import Source, names_class_columns
from steelyard.metrics.score_values import class_of_columns
from steelyard.statistics.positive_class import CONVENTION, chosen_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet
    from steelyard.analysis.comparison.model_columns import ComparedModels
    from steelyard.statistics.probability_table import ProbabilityTable


class ColumnModels(NamedTuple):
    """The table of each model by its name, and what each row counts for."""

    tables: dict[str, ProbabilityTable]
    mass: RowMass

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes."""
        return next(iter(self.tables.values())).labels

    def of_one_class(self, pos_label: Label) -> ComparedColumns | None:
        """The scores of one class: that named, or the positive one of two; None where all classes are compared."""
        first = next(iter(self.tables.values()))
        if pos_label is None and len(first.labels) > 2:
            return None
        requested = CONVENTION if pos_label is None else pos_label
        label = chosen_label(requested, first.labels, lambda: np.bincount(first.codes, minlength=len(first.labels)))
        index = first.labels.index(class_of_columns(first, label).label)
        truth = arrays.column(list(first.labels), "labels")[first.codes]
        models = {name: table.probabilities[:, index] for name, table in self.tables.items()}
        return ComparedColumns(truth, models, self.mass)


def are_columns(models: ComparedModels, *, scores: bool, frame: bool) -> bool:
    """Whether the models are columns of scores for each class: of a frame patterns or lists, else arrays n x K."""
    if models is None:
        return False
    values = list(models.values()) if isinstance(models, Mapping) else list(models)
    if frame:
        return scores and any(names_class_columns(value) for value in values)
    return any(len(np.shape(value)) == 2 and np.shape(value)[1] > 1 for value in values) and (
        scores or any(np.asarray(value).dtype.kind == "f" for value in values)
    )


def columns_of_arrays(
    y_true: ArrayLike, models: ComparedModels, rows: RowColumns, labels: LabelSet | None
) -> ColumnModels:
    """The columns of two models or more, row by row; rows of no weight are left out."""
    named = checked_models(models, columns=True)
    beside = {"sample_weight": rows.weight, "cluster": rows.cluster}
    for use, column in beside.items():
        refuse_name(use, column)
    check_order(y_true=y_true, **{f"the model {name!r}": values for name, values in named.items()}, **beside)
    narrow = [name for name, values in named.items() if len(np.shape(values)) != 2]
    if narrow:
        raise InputError(
            f"The model {narrow[0]!r} has one column, and others a column for each class; give all of them alike, or "
            "the scores of one class, named by pos_label=."
        )
    weight = arrays.weights(rows.weight, "sample_weight")
    tables = {}
    for name, values in named.items():
        try:
            tables[str(name)] = probability_table(y_true, values, labels=labels, sample_weight=weight)
        except InputError as problem:
            raise InputError(f"The model {name!r}: {problem}") from None
    members = None if rows.cluster is None else arrays.column(rows.cluster, "cluster")
    arrays.check_lengths(y_true=next(iter(tables.values())).codes, cluster=members)
    mass = RowMass.of_rows(None, weight, members, getattr(rows.cluster, "name", None))
    if mass.mass is None or (mass.mass > 0).all():
        return ColumnModels(tables, mass)
    counted = np.flatnonzero(mass.mass > 0)
    return ColumnModels({name: table.at(counted) for name, table in tables.items()}, mass.at(counted))


def columns_of_frame(
    data: Frame | Source, true: str, models: ComparedModels, rows: RowColumns, labels: LabelSet | None
) -> ColumnModels:
    """The columns of each model of a frame, which a pattern or a list names, matched to the classes by name."""
    named: Mapping[str, str | Sequence[str]] = (
        models if isinstance(models, Mapping) else {str(name): name for name in models or ()}  # type: ignore[assignment]  # names of columns
    )
    checked_models(dict.fromkeys(named, ()), columns=True)
    source, beside = Source.of(data), rows.names()
    fetched = {
        name: ClassColumnRows.of(
            source, columns, true=true, weight=beside.weight, cluster=beside.cluster, labels=labels
        )
        for name, columns in named.items()
    }
    first = next(iter(fetched.values()))
    weights = RowColumns(None, first.weight, first.cluster)
    columns = columns_of_arrays(first.true, {name: each.scores for name, each in fetched.items()}, weights, labels)
    return columns._replace(mass=columns.mass._replace(cluster_name=beside.cluster))
