"""Batch rows: the columns of a batch as arrays and frames give them: truth, prediction, group, cost and key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.sequential.cost_table import CostTable
from steelyard.exceptions import InputError
from steelyard.ingest import arrays, csv_values, label_codes, queries
from steelyard.ingest.label_tables import match_label
from steelyard.ingest.score_tables import finite_summary, number_column
from steelyard.ingest.source import ColumnNames, Source, check_columns
from steelyard.ingest.threshold_sentences import HALF
from steelyard.statistics.label_kinds import parse_value
from steelyard.statistics.positive_class import absent_sentence, conventional_label, unclear_sentence
from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label

_PLAIN = {-1, 0, 1}  # labels of which 1 is positive, even where a batch has one of them alone


@dataclass(frozen=True, eq=False)
class BatchRows:
    """Rows of a batch: whether each is positive and predicted so, its group, and its cost between two ends."""

    truth: Array
    predicted: Array
    groups: list[str] | None = None
    costs: Array | None = None
    between: tuple[float, float] | None = None

    def cells(self, place: Array | None = None) -> Array:
        """The four cells of all rows, or of some."""
        code = np.where(self.truth, np.where(self.predicted, 0, 1), np.where(self.predicted, 2, 3))
        return np.bincount(code if place is None else code[place], minlength=4)

    def cost_weights(self, place: Array | None = None) -> Array | None:
        """The weights of the nodes of the costs; None where there are none."""
        if self.costs is None or self.between is None:
            return None
        return CostTable.of(self.costs if place is None else self.costs[place], *self.between).weights


@dataclass(frozen=True, eq=False)
class PositiveRows:
    """Labels as whether each row is positive, and the label that is."""

    columns: tuple[Array, ...]
    label: Label
    present: tuple[Label, ...]

    @classmethod
    def of(cls, columns: dict[str, ArrayLike], pos_label: Label) -> PositiveRows:
        """Columns of labels by name; without a named class it is 1, True or what a convention takes, as "yes"."""
        coded = [label_codes.distinct(arrays.column(values, name), name) for name, values in columns.items()]
        present = list(dict.fromkeys(label for _, labels in coded for label in labels))
        label = _positive(present, pos_label)
        rows = tuple(np.array([each == label for each in labels] or [False])[codes] for codes, labels in coded)
        return cls(rows, label, tuple(present))


def _positive(present: Sequence[Label], pos_label: Label) -> Label:
    if pos_label is None:
        label = 1 if {*present} <= _PLAIN else conventional_label(present)
        if label is None:
            raise InputError(unclear_sentence(present, np.zeros(0)))
        return label
    try:
        return match_label(pos_label, present)
    except InputError:
        read = parse_value(str(pos_label)) if present and not isinstance(present[0], str) else None
        label = pos_label if read is None else read
        if present and isinstance(label, str) != isinstance(present[0], str):
            raise InputError(absent_sentence(f"The positive class {pos_label!r}", pos_label, present)) from None
        return label  # a batch need not have a row of it


@dataclass(frozen=True, eq=False)
class FlaggedRows:
    """Scores as whether each is at least the threshold, and the threshold."""

    predicted: Array
    threshold: float

    @classmethod
    def of(cls, y_score: ArrayLike, given: float | None) -> FlaggedRows:
        """The threshold is read in the precision of the scores; where none is given it is 0.5 of probabilities."""
        scores, precision = arrays.finite_scores(y_score), arrays.precision_of(arrays.column(y_score, "y_score"))
        outside = scores[(scores < 0) | (scores > 1)]
        if given is None and len(outside):
            raise InputError(
                f"Scores such as {outside[0]:g} are no probabilities and need a threshold to be predictions; give "
                "threshold=."
            )
        threshold = HALF if given is None else given
        return cls(scores >= as_read(threshold, precision), threshold)


def group_names(groups: ArrayLike | None, name: str = "by") -> list[str] | None:
    """The group of each row as text."""
    return None if groups is None else [str(group) for group in arrays.column(groups, name).tolist()]


def frame_columns(
    data: Frame | Source, labels: Sequence[str], numbers: Sequence[str], others: Sequence[str]
) -> dict[str, Any]:
    """The named columns of a frame: labels as they are or read from text, numbers, and all others as they are."""
    source = Source.of(data)
    named = ColumnNames((*labels, *numbers, *others)[0], by=(*labels, *others), cost=tuple(numbers))
    check_columns(source, named)
    fetched = queries.fetch_columns(source, [*labels, *numbers, *others])
    columns: dict[str, Any] = {name: number_column(fetched[name], name) for name in numbers}
    for name in (*labels, *others):
        columns[name] = arrays.column(fetched[name].to_native(), f"The column {name!r}")
    if source.textual and labels and len(columns[labels[0]]):
        read = csv_values.labels([columns[name] for name in labels], list(labels))
        columns |= dict(zip(labels, read, strict=True))
    return columns


def check_scores(source: Source, name: str, scores: Array) -> None:
    """Refuse scores of a column that are missing or infinite."""
    if not np.isfinite(scores).all():
        finite_summary(source, name)


def labelled_columns(
    data: Frame | Source, true: str, pred: str | None, score: str | None, by: str | None, cost: str | None
) -> tuple[Any, ...]:
    """The columns of a frame: truth, prediction, score where there is none, group and cost; None where not named."""
    score = score if pred is None else None
    source = Source.of(data)
    labels, numbers = ([name for name in names if name is not None] for names in ((true, pred), (score, cost)))
    columns = frame_columns(source, labels, numbers, [] if by is None else [by])
    if score is not None:
        check_scores(source, score, columns[score])
    return tuple(None if name is None else columns[name] for name in (true, pred, score, by, cost))
