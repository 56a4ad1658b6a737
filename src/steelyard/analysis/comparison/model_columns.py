"""Model columns: the truth and what each model predicted or scored, of arrays by name or of a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from steelyard.analysis.intervals.design import RowMass
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays
from steelyard.ingest.category_order import category_order
from steelyard.ingest.frame_columns import column_name, refuse_name
from steelyard.ingest.row_order import check_order
from steelyard.ingest.rows import ROWS_OF_SCORES, check_row_number, count_keys, fetch_rows
from steelyard.ingest.source import Source

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Labels

    ComparedModels: TypeAlias = Mapping[str, ArrayLike] | Sequence[str] | None  # columns by name, or names of columns
    Thresholds: TypeAlias = float | Mapping[str, float] | None  # of all models, or of each by its name


class ComparedColumns(NamedTuple):
    """The column of the truth, that of each model by its name, what each row counts for, and the order of the classes.

    `order` is that which an ordered categorical states; None where none does.
    """

    truth: Array
    models: dict[str, Array]
    mass: RowMass
    order: Labels | None = None

    def at(self, rows: Array) -> ComparedColumns:
        """Those of some rows."""
        models = {name: column[rows] for name, column in self.models.items()}
        return ComparedColumns(self.truth[rows], models, self.mass.at(rows), self.order)

    def of_weight(self) -> ComparedColumns:
        """Those of the rows that have any weight."""
        mass = self.mass.mass
        return self if mass is None or (mass > 0).all() else self.at(mass > 0)


class RowColumns(NamedTuple):
    """The frequency weight, the sample weight and the cluster of each row, or the names of their columns."""

    frequency: ArrayLike | str | None = None
    weight: ArrayLike | str | None = None
    cluster: ArrayLike | str | None = None

    def refuse(self, what: str) -> None:
        """Refuse all of them where rows are counted already."""
        given = [name for name, column in self._asdict().items() if column is not None]
        if given:
            raise InputError(f"{what}, which have no {' or '.join(given)} of their own; give the rows instead.")

    def names(self) -> RowNames:
        """Of a frame: the names of their columns."""
        return RowNames(*(column_name(use, name) for use, name in self._asdict().items()))


class RowNames(NamedTuple):
    """The columns of a frame that say what each row counts for."""

    frequency: str | None
    weight: str | None
    cluster: str | None


def named_models(
    models: ComparedModels, scores: bool, true: str | None, pred: ComparedModels, score: ComparedModels
) -> tuple[ComparedModels, bool]:
    """The models, and whether they are scores; the columns of a frame may be named by pred= or score= instead."""
    given = [name for name, columns in (("models", models), ("pred=", pred), ("score=", score)) if columns is not None]
    if len(given) > 1:
        raise InputTypeError(f"{' and '.join(given)} name the models twice; give one of them.")
    if true is None and (pred is not None or score is not None):
        raise InputTypeError(f"{given[0]} names columns of a frame; name that of the truth too, with true=.")
    if isinstance(pred, str) or isinstance(score, str):
        raise InputTypeError(f"{given[0]} names two or more columns, one for each model, such as ['a', 'b'].")
    return (score, True) if score is not None else (models if pred is None else pred, scores)


def of_arrays(y_true: ArrayLike, models: ComparedModels, rows: RowColumns) -> ComparedColumns:
    """The columns of two models or more, checked to be of one length; rows of no weight are left out."""
    return row_columns(y_true, checked_models(models), rows).of_weight()


def row_columns(y_true: ArrayLike, named: Mapping[str, ArrayLike], rows: RowColumns) -> ComparedColumns:
    """The columns of models by name, of one length, row by row."""
    beside = {"frequency": rows.frequency, "sample_weight": rows.weight, "cluster": rows.cluster}
    for use, column in beside.items():
        refuse_name(use, column)
    check_order(y_true=y_true, **{f"the model {name!r}": values for name, values in named.items()}, **beside)
    times = arrays.weights(rows.frequency, "frequency", whole=True)
    weights = arrays.weights(rows.weight, "sample_weight")
    true = arrays.column(y_true, "y_true")
    columns = {str(name): arrays.column(values, f"the model {name!r}") for name, values in named.items()}
    if len(columns) < len(named):
        raise InputError("Two models have one and the same name once written as text; give each its own.")
    for name, column in columns.items():
        if len(column) != len(true):
            lengths = f"The model {name!r} has {len(column):,} rows and y_true {len(true):,}"
            raise InputError(f"{lengths}; give one prediction for each row of y_true.")
    members = None if rows.cluster is None else arrays.column(rows.cluster, "cluster")
    arrays.check_lengths(y_true=true, frequency=times, sample_weight=weights, cluster=members)
    mass = RowMass.of_rows(times, weights, members, getattr(rows.cluster, "name", None))
    return ComparedColumns(true, columns, mass, category_order(y_true, true, *columns.values()))


def checked_models(models: ComparedModels, *, columns: bool = False) -> Mapping[str, ArrayLike]:
    """Two models or more, by name, each of one column, or of a column for each class."""
    if not isinstance(models, Mapping):
        given = f"not {type(models).__name__}"
        raise InputTypeError(f'compare takes the models by name, such as {{"A": ..., "B": ...}}, {given}.')
    if len(models) < 2:
        raise InputError(
            f"compare needs two or more models, not {len(models)}; evaluate() gives the confidence intervals of one."
        )
    for name, values in () if columns else models.items():
        if len(shape := np.shape(values)) == 2 and shape[1] > 1:
            given = f"The model {name!r} has {shape[1]} columns, and compare takes one of each model"
            raise InputError(f"{given}; give scores=True for a column of scores for each class, or labels.")
    return models


def of_frame(
    data: Frame | Source, true: str, models: ComparedModels, rows: RowColumns, *, scores: bool
) -> ComparedColumns:
    """The columns of a frame: labels counted where they are, scores fetched row by row."""
    pairs = models.items() if isinstance(models, Mapping) else zip(models or (), models or (), strict=True)
    columns, beside = {str(name): str(column) for name, column in pairs}, rows.names()
    of_models = list(columns.values())
    if scores:
        source = Source.of(data)
        check_row_number(source, *ROWS_OF_SCORES)
        fetched = fetch_rows(source, true=true, score=of_models, weight=beside.weight, cluster=beside.cluster)
        named = {name: fetched.scores[column] for name, column in columns.items()}
        compared = of_arrays(fetched.labels[0], named, RowColumns(None, fetched.weights, fetched.clusters))
    else:
        counted = count_keys(Source.of(data, counts=True), true=true, pred=of_models, **beside._asdict())
        labels = {name: counted.predicted[column] for name, column in columns.items()}
        compared = of_arrays(counted.labels[0], labels, RowColumns())
        mass = RowMass.of_rows(counted.rows, None, counted.clusters)
        mass = mass._replace(weights=counted.weights, squares=counted.squares)
        order = None
        if type(data).__module__.partition(".")[0] == "pandas":  # which states an order that counting loses
            order = category_order(data[true], compared.truth, *compared.models.values())  # type: ignore[index]  # of pandas
        compared = compared._replace(mass=mass, order=order)
    return compared._replace(mass=compared.mass._replace(cluster_name=beside.cluster))


def finite_values(values: Array, name: str) -> Array:
    """The values of models by a metric, each of them defined."""
    if not np.isfinite(values).all():
        raise InputError(f"{name} holds NaN or an infinity; leave out what is undefined for one of the models first.")
    return values
