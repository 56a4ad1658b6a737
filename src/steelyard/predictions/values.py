"""Rows that are values: arrays, tensors, lists and label sets, with the columns beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import backend
from steelyard.arrays.backend import PRECISIONS
from steelyard.arrays.labels import CONVENTION, absent_sentence, chosen_label
from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten
from steelyard.frames.groups import binned_groups, group_columns
from steelyard.predictions.given import Given, Model
from steelyard.tables.array_tables import counted_where_they_are
from steelyard.tables.label_sets import are_label_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array

_COLUMNS = ("data", "sample_weight", "frequency", "cluster", "by", "columns")  # those that hold a value for each row

_NEEDS_FRAME = {
    "weight": "weight= names a column of a frame; name that of the truth too, with true=; beside arrays give "
    "sample_weight=.",
    "label_sep": "label_sep= divides a column of a frame; name that of the truth too, with true=.",
    "exact": "exact= is about the scores of a frame; name its columns with true= and score=.",
}


class GivenValues(Given):
    """Rows that are values."""

    def refuse_options(self, stated: Mapping[str, Any]) -> None:
        """Refuse the options of frames."""
        for name, told in _NEEDS_FRAME.items():
            if name in stated:
                raise InputTypeError(told, argument=name)

    @property
    def _first(self) -> Any:
        """The first column that is there."""
        return next((v for v in (self.data, *(v for m in self.models.values() for v in m)) if v is not None), None)

    @property
    def rows(self) -> int:
        """How many rows there are, of the filter alone."""
        if self.filter is not None:
            return int(self.keep("rows", lambda: self.values(()).rows))
        first = self._first
        if first is None:
            raise InputTypeError("There are no rows: give y_true, y_pred or y_score=.")
        return int(np.shape(first)[0]) if hasattr(first, "shape") else len(first)

    @property
    def source(self) -> str:
        """Arrays, whatever they are of."""
        return "arrays"

    @property
    def engine(self) -> str:
        """The library of the arrays, and their device."""
        library, device = type(self._first).__module__.partition(".")[0], str(getattr(self._first, "device", ""))
        return f"{library} {device}" if library in ("torch", "jax", "cupy") else "numpy"

    @property
    def has_truth(self) -> bool:
        """Whether y_true was given."""
        return self.data is not None

    @property
    def are_sets(self) -> bool:
        """Whether the truth is a matrix, or lists of labels."""
        there = bool(self.models) and self.data is not None
        return there and bool(self.keep("are_sets", lambda: are_label_sets(self.data)))

    @property
    def column_names(self) -> tuple[str, ...]:
        """Those of `columns=`."""
        return () if self.columns is None else tuple(map(str, _names_of(self.columns)))

    @property
    def group_names(self) -> tuple[str, ...]:
        """The columns by which rows are grouped."""
        return () if self.by is None else tuple(group_columns(self.by))

    def has_classes(self, model: Model) -> bool:
        """Whether the scores are a matrix of two columns or more."""
        return np.ndim(model.score) == 2 and np.shape(model.score)[1] > 1

    def values(self, columns: tuple[str, ...]) -> GivenValues:  # noqa: ARG002 - all columns are there
        """The names of `columns=` replaced by their values, groups in bins, and the rows of the filter alone."""
        named = by_name(self.columns)
        beside = {"cluster": self.cluster, "frequency": self.frequency}
        changed: dict[str, Any] = {
            use: column_of(named, name) for use, name in beside.items() if isinstance(name, str) and named
        }
        if self.by is not None:
            by = self.by
            if isinstance(by, str) and named:
                by = {by: column_of(named, by)}
            elif isinstance(by, (list, tuple)) and all(isinstance(name, str) and name in named for name in by):
                by = {name: named[name] for name in by}
            changed["by"] = binned_groups(None, by, self.bins, frame=False)[1]
        elif self.bins is not None:
            binned_groups(None, None, self.bins, frame=False)
        plain = self.other(**changed, bins=None) if changed or self.bins is not None else self
        if self.filter is None:
            return plain
        from steelyard.frames.rows import kept_rows

        return plain.other(filter=None).at(kept_rows(named, self.filter))

    def of_one_class(self) -> Given:
        """The scores of the class that is named, or of the positive one of two, where there are those of all."""
        if self.data is None or self.are_sets or not any(map(self.has_classes, self.models.values())):
            return self
        models = {}
        for name, model in self.models.items():
            try:
                models[name] = self._one_class(model) if self.has_classes(model) else model
            except InputError as problem:
                raise InputError(f"The model {name!r}: {problem}") if name else problem from None
        return self.other(models=models)

    def _one_class(self, model: Model) -> Model:
        table = counted_where_they_are(self.data, model.score, labels=self.labels, **self.weights)
        if self.pos_label is None and len(table.labels) != 2:
            return model
        named = CONVENTION if self.pos_label is None else self.pos_label
        labels = list(table.labels)
        label = chosen_label(named, labels, lambda: np.bincount(table.codes, minlength=len(labels)))
        if label not in labels:
            raise InputError(absent_sentence(f"The positive class {label!r}", label, labels))
        column: Array = table.probabilities[:, labels.index(label)]
        name = str(getattr(model.score, "dtype", "")).rpartition(".")[2]
        return model._replace(score=column.astype(name if name in PRECISIONS else np.float64, copy=False))

    def at(self, rows: Array) -> GivenValues:
        """The rows of a mask, of every column."""
        models = {name: Model(*(_chosen(column, rows) for column in model)) for name, model in self.models.items()}
        return self.other(models=models, **{name: _chosen(getattr(self, name), rows) for name in _COLUMNS})


def _chosen(values: Any, rows: Array) -> Any:
    """The rows of a mask, of a column of any kind or of several by name."""
    if values is None or isinstance(values, str):
        return values
    if isinstance(values, Mapping):
        return {name: _chosen(each, rows) for name, each in values.items()}
    if hasattr(values, "iloc"):
        return values.iloc[np.flatnonzero(rows)]
    if isinstance(values, (list, tuple)):
        return [value for value, keep in zip(values, rows.tolist(), strict=True) if keep]
    if backend.library_name(values) is not None and not backend.is_on_host(values):
        return values[backend.Backend.of(values).native(rows)]
    return values.filter(rows) if hasattr(values, "filter") else values[rows]


def _names_of(columns: Any) -> Sequence[str]:
    names = getattr(columns, "column_names", None)  # of PyArrow, whose `columns` are values
    return [*columns] if isinstance(columns, Mapping) else [*(columns.columns if names is None else names)]


def by_name(columns: Any) -> Mapping[str, Any]:
    """The columns beside arrays by their names: of a mapping, or of a frame."""
    if columns is None or isinstance(columns, Mapping):
        return columns or {}
    return {str(name): columns[name] for name in _names_of(columns)}


def column_of(named: Mapping[str, Any], name: str) -> Any:
    """The values of a column that is named, of those beside arrays."""
    if name not in named:
        gives = f"there are {first_ten([*named])}" if named else "columns={...} gives columns beside arrays"
        raise InputError(f"There is no column {name!r}; {gives}.{did_you_mean(name, named)}")
    return named[name]


def value_models(y_pred: Any, y_score: Any) -> dict[str, Model]:
    """The models of values: those of a mapping by name, or a single one, called ""."""
    for name, values in (("y_pred", y_pred), ("y_score", y_score)):
        if isinstance(values, Mapping) and not values:
            raise InputError(f"{name}={{}} names no model; give those of one or more, {{'model': {name}}}.")
    preds, scores = map(_by_model, (y_pred, y_score))
    if preds and scores and {*preds} != {*scores}:
        raise InputError("y_pred= and y_score= name other models; name the same ones in both.")
    names = {str(name): name for name in (*preds, *scores)}
    if len(names) < len({*preds, *scores}):
        raise InputError("Two models have one and the same name once written as text; give each its own.")
    return {text: Model(preds.get(name), scores.get(name)) for text, name in names.items()}


def _by_model(values: Any) -> Mapping[Any, Any]:
    if values is None:
        return {}
    return values if isinstance(values, Mapping) else {"": values}
