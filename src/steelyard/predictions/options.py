"""Options of rows: what every question takes beside its own keywords, each with one meaning everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from steelyard.arguments import names_wrong_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet
    from steelyard.frames.source import Source
    from steelyard.predictions.predictions import Predictions
    from steelyard.tables.statistic import Statistic
    from steelyard.tables.tally import Tally

# Anything that `Predictions.of` takes first.
RowsLike: TypeAlias = "Predictions | Statistic | Tally | Source | Frame | ArrayLike | str | PathLike[str] | None"


class ValueOptions(TypedDict, total=False):
    """Values, one for each row."""

    y_true: ArrayLike | None
    y_pred: ArrayLike | Mapping[str, ArrayLike] | None
    y_score: ArrayLike | Mapping[str, ArrayLike] | None
    sample_weight: ArrayLike | None
    columns: Mapping[str, ArrayLike] | Frame | None


class NameOptions(TypedDict, total=False):
    """The names of columns of a frame or file, and how these are read."""

    true: str | Sequence[str] | None
    pred: str | Sequence[str] | Mapping[str, str] | None
    score: str | Sequence[str] | Mapping[str, str | Mapping[Any, str]] | None
    weight: str | None
    label_sep: str | None
    long: tuple[str, str] | None
    exact: bool | None


class ReadingOptions(TypedDict, total=False):
    """How rows are read, whatever holds them: values or names, and what they mean."""

    frequency: ArrayLike | str | None
    cluster: ArrayLike | str | None
    by: str | Sequence[str] | ArrayLike | Mapping[str, ArrayLike] | None
    bins: int | Mapping[str, int | Sequence[float]] | None
    pos_label: Label
    labels: LabelSet | None
    threshold: float | Sequence[float] | Mapping[Any, float] | None
    design: Any
    filter: str | None


class RowOptions(ValueOptions, NameOptions, ReadingOptions, total=False):
    """The options of rows, which every question takes; each may be None, which leaves it out."""


VALUES, NAMES, READING = (tuple(part.__annotations__) for part in (ValueOptions, NameOptions, ReadingOptions))
question = names_wrong_arguments(keywords=RowOptions)  # what a public question of rows wears


def stated_options(options: Any) -> dict[str, Any]:
    """The options that are given: None leaves one out."""
    return {name: value for name, value in options.items() if value is not None}
