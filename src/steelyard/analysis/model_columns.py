"""Model columns: the truth and what each model predicted or scored, of arrays by name or of a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from steelyard.errors import InputError, InputTypeError
from steelyard.ingest import arrays, frame_tally
from steelyard.ingest.row_order import check_order

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Weights
    from steelyard.ingest.source import Source

    ComparedModels: TypeAlias = Mapping[str, ArrayLike] | Sequence[str] | None  # columns by name, or names of columns
    Thresholds: TypeAlias = float | Mapping[str, float] | None  # of all models, or of each by its name


class ComparedColumns(NamedTuple):
    """The column of the truth, that of each model by its name, and the frequency weight of each row."""

    truth: Array
    models: dict[str, Array]
    frequency: Array | None


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


def of_arrays(y_true: ArrayLike, models: ComparedModels, frequency: Weights) -> ComparedColumns:
    """The columns of arrays, checked to be of one length."""
    if not isinstance(models, Mapping):
        given = f"not {type(models).__name__}"
        raise InputTypeError(f'compare takes the models by name, such as {{"A": ..., "B": ...}}, {given}.')
    if len(models) < 2:
        raise InputError(
            f"compare needs two or more models, not {len(models)}; `interval` gives the confidence interval of one."
        )
    check_order(
        y_true=y_true, **{f"the model {name!r}": values for name, values in models.items()}, frequency=frequency
    )
    times = arrays.weights(frequency, "frequency", whole=True)
    true = arrays.column(y_true, "y_true")
    columns = {str(name): arrays.column(values, f"the model {name!r}") for name, values in models.items()}
    if len(columns) < len(models):
        raise InputError("Two models have one and the same name once written as text; give each its own.")
    for name, column in columns.items():
        if len(column) != len(true):
            lengths = f"The model {name!r} has {len(column):,} rows and y_true {len(true):,}"
            raise InputError(f"{lengths}; give one prediction for each row of y_true.")
    arrays.check_lengths(y_true=true, frequency=times)
    return ComparedColumns(true, columns, times)


def of_frame(
    data: Frame | Source, true: str, models: ComparedModels, frequency: str | None, *, scores: bool
) -> ComparedColumns:
    """The columns of a frame: labels counted where they are, scores brought row by row."""
    pairs = models.items() if isinstance(models, Mapping) else zip(models or (), models or (), strict=True)
    columns = {str(name): str(column) for name, column in pairs}
    if scores:
        truth, values = frame_tally.score_columns(data, true, list(columns.values()))
        return of_arrays(truth, {name: values[column] for name, column in columns.items()}, frequency)
    (truth, *predictions), times = frame_tally.label_columns(data, true, list(columns.values()), frequency)
    return of_arrays(truth, dict(zip(columns, predictions, strict=True)), times)


def finite_values(values: Array, name: str) -> Array:
    """The values of models by a metric, each of them defined."""
    if not np.isfinite(values).all():
        raise InputError(f"{name} holds NaN or an infinity; leave out what is undefined for one of the models first.")
    return values
