"""Error rows: the false negatives and false positives of a classifier, worst first, found where the rows live."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping  # noqa: TC003 - saved fields are read back by their types
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from steelyard._types import Label
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import clipped_text, number_of, three_digits
from steelyard.analysis.results.result import Result
from steelyard.arrays.backend import as_read
from steelyard.arrays.labels import ClassRule, choice_sentences, chosen_label, conventional_label, sort_labels
from steelyard.exceptions import InputError
from steelyard.frames.conditions import as_conjunction, check_features, empty_slice_sentence
from steelyard.frames.decoding import match_label
from steelyard.frames.queries import NO_ROWS, column_precision
from steelyard.frames.rows import count_keys
from steelyard.frames.scores import score_range
from steelyard.frames.source import ColumnNames, Source, check_choices, check_columns, named_columns
from steelyard.frames.wrong_rows import DISTANCE, KIND, KINDS, OTHER, ROW_NUMBER, WrongRows
from steelyard.predictions import Predictions, check_rows, question, refuse_unused
from steelyard.tables.thresholding import ASSUMED_HALF, HALF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Labels
    from steelyard.frames.rows import CountedKeys
    from steelyard.predictions import Given, RowOptions, RowsLike


# ---------------------------------------------------------------- ErrorRows
# The rows that a classifier has wrong, each with its number, labels, score and keys.


_MOST_PRINTED = 20
_WIDEST = 60  # of a cell of words


@dataclass(frozen=True)
class ErrorRow:
    """One row that is wrong: its number counted from 1, the kind of error, both labels, and its key columns.

    `distance` is how far the score lies beyond the threshold. `row` is None where rows have no order, as in a database.
    """

    row_number: int | None = field(metadata={"key": "row"})
    kind: str
    true: Label
    pred: Label
    score: float | None = None
    distance: float | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The row as a row of a table, its keys last; a key that is called as a column of the table is marked."""
        row = {"row": self.row_number, "error": self.kind, "true": self.true, "predicted": self.pred}
        row |= {"score": self.score, "distance": self.distance}
        return row | {f"{name} (key)" if name in row else name: value for name, value in self.keys.items()}


@dataclass(frozen=True, eq=False, repr=False)
class ErrorRows(Result[ErrorRow]):
    """The wrong rows in their order, and how many there are of each kind, of which some are listed."""

    each: tuple[ErrorRow, ...]
    rows: int
    false_negatives: int
    false_positives: int
    errors: int
    kind_listed: str = "both"
    positive: Label = None
    threshold: float | None = None
    where: str | None = None
    near: bool = False
    assumed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[ErrorRow]:
        return iter(self.each)

    @property
    def headline(self) -> str:
        """How many rows are wrong, and which are listed."""
        within = "" if self.where is None else f" with {self.where}"
        verb = "is" if self.errors == 1 else "are"
        if self.kind_listed != "both":
            wrong = f"a {self.kind_listed}" if self.errors == 1 else f"{self.kind_listed}s"
        elif self.positive is None:
            wrong = "wrong"
        else:
            misses = number_of(self.false_negatives, "false negative")
            wrong = f"wrong: {misses} and {number_of(self.false_positives, 'false positive')}"
        if not self.each or self.errors == 1:
            listed = ""
        elif len(self.each) == 1:
            listed = f"; the first is listed, {self._order()}"
        elif len(self.each) < self.errors:
            listed = f"; the {len(self.each):,} listed are {self._order()}"
        else:
            listed = f"; they are listed {self._order()}"
        return f"{self.errors:,} of {self.rows:,} rows{within} {verb} {wrong}{listed}."

    def _order(self) -> str:
        """In which order the wrong rows are listed."""
        if all(row.score is None for row in self.each):
            return "in their order"
        if self.positive is None:
            return "the least certain first" if self.near else "the most certain first"
        at = "" if self.threshold is None else f" {three_digits(self.threshold)}"
        return f"nearest to the threshold{at} first" if self.near else f"farthest beyond the threshold{at} first"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, and that rows without an order have no number."""
        unordered = self.each and self.each[0].row_number is None
        number = ("The rows of this frame have no order, and so no number; name columns that identify them by key=.",)
        return (*self.assumed, *(number if unordered else ()))

    def shown_rows(self) -> list[dict[str, Any]]:
        """The rows, long words shortened."""
        return [
            {name: clipped_text(cell, _WIDEST) if isinstance(cell, str) else cell for name, cell in row.items()}
            for row in self.to_dicts()
        ]

    def shown_tables(self) -> list[Table]:
        """The rows; of many the first are printed."""
        return [Table.of(self, most=_MOST_PRINTED)]


# ---------------------------------------------------------------- error rows


@question
def errors(
    data: RowsLike = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    kind: str = "both",
    first: int | None = 100,
    near: bool = False,
    key: str | Sequence[str] | None = None,
    **rows: Unpack[RowOptions],
) -> ErrorRows:
    """The false negatives and false positives of a classifier, those farthest beyond the threshold first.

    `kind` is "fn", "fp" or "both"; `first` limits how many are brought here, None brings all; `near` lists those
    nearest to the threshold first. `filter` keeps the rows of a slice, such as "age >= 60 and site = B". `key` names
    one or several columns that identify a row; beside arrays `columns` gives them: {"patient": ids}. A row's
    number counts from 1. Of a frame the rows are found, sorted and limited where it lives. Of several classes give
    predictions; the score is then that of the predicted class, and the most certain errors come first.

    >>> errors([0, 1, 1, 0], y_score=[0.9, 0.4, 0.1, 0.2], columns={"id": ["a", "b", "c", "d"]}, key="id")
    3 of 4 rows are wrong: 2 false negatives and 1 false positive; they are listed farthest beyond the
    threshold 0.500 first.
    <BLANKLINE>
    row  error           true  predicted  score  distance  id
      1  false positive     0          1  0.900     0.400  a
      3  false negative     1          0  0.100     0.400  c
      2  false negative     1          0  0.400     0.100  b
    <BLANKLINE>
    Scores were thresholded at 0.5; operating_points compares it with others.
    """
    p = Predictions.of(data, predicted, **rows)
    check_rows(p, "errors")
    refuse_unused(p, "errors", "weights", "frequency", "cluster", "design", "by")
    if kind not in ("both", *KINDS):
        raise InputError(argument="kind", expected="'fn', 'fp' or 'both'", given=kind)
    if first is not None and (not isinstance(first, (int, np.integer)) or isinstance(first, bool) or first < 1):
        raise InputError(argument="first", expected="how many rows to list, 1 or more, or None for all", given=first)
    keys = named_columns("key", key)
    slice_ = None if p.given.filter is None else as_conjunction(p.given.filter)
    # A row keeps the number that it has before the filter, which the query for wrong rows applies itself.
    framed, stated = p.with_options(filter=None).framed(*dict.fromkeys((*keys, *(slice_.features if slice_ else ()))))
    with framed.frame() as given:
        source = Source.of(given)  # which refuses the lines of a counting query
        query, assumed = _query(source, framed.given)
        check_columns(source, ColumnNames(query.true, by=keys))
        if slice_ is not None:
            check_features(source, slice_.features)
        kinds = tuple(KINDS) if kind == "both" else (kind,)
        query = replace(query, keys=keys, kinds=kinds, where=slice_, near=near)
        if query.positive is None and kind != "both":
            raise InputError("kind is of two classes; of several name the positive one with pos_label=.")
        totals = query.counted(source)
        if slice_ is not None and not totals["rows"]:
            raise InputError(empty_slice_sentence(source, slice_))
        found = query.first(source, first)
    return ErrorRows(
        tuple(_error_row(row, query) for row in found),
        totals["rows"],
        0 if query.positive is None else totals["fn"],
        totals["fp"],
        sum(totals[kind] for kind in query.kinds),
        KINDS[query.kinds[0]] if len(query.kinds) == 1 else "both",
        query.positive,
        query.threshold,
        None if query.where is None else repr(query.where),
        query.near,
        (*stated, *assumed),
    )


def _error_row(row: Mapping[str, Any], query: WrongRows) -> ErrorRow:
    kind = OTHER if query.positive is None else KINDS[row[KIND]]
    true = query.true_of[row[query.true]]
    pred = query.pred_of[row[query.pred]] if query.pred is not None else query.pred_of[row[KIND] == "fp"]
    scored = query.score is not None
    far = float(row[DISTANCE]) if scored and query.positive is not None else None
    score = float(row[str(query.score)]) if scored else None
    return ErrorRow(row.get(ROW_NUMBER), kind, true, pred, score, far, {key: _plain(row[key]) for key in query.keys})


def _plain(value: object) -> object:
    """A key as JSON holds it."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, (dt.date, dt.datetime)):
        return value.isoformat()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


# ---------------------------------------------------------------- labels and the threshold


def _query(source: Source, given: Given) -> tuple[WrongRows, tuple[str, ...]]:
    """The query for all errors of these rows, and what was assumed."""
    pred, score = given.model
    check_columns(source, ColumnNames(given.true, () if pred is None else (pred,), score))
    counted = count_keys(source, true=given.true, pred=() if pred is None else (pred,))
    if not len(counted.rows):
        raise InputError(NO_ROWS)
    spelled = zip(counted.given.values(), counted.labels, strict=True)
    label_of = [dict(zip(given.tolist(), labels.tolist(), strict=True)) for given, labels in spelled]
    labels = sort_labels(label for each in label_of for label in each.values())
    positive = _positive(given.pos_label, labels, counted)
    if positive is None and pred is None:
        raise InputError("Scores are of a positive class; name it with pos_label=, or give predictions.")
    if pred is None:
        others = [label for label in labels if label != positive]
        label_of.append({True: positive, False: others[0] if len(others) == 1 else f"not {positive}"})
    at, assumed = _threshold(source, given) if positive is not None else (None, ())
    query = WrongRows(given.true, pred, score, positive, at, label_of[0], label_of[1])
    return query, (*choice_sentences(given.pos_label, positive, labels), *assumed) if positive is not None else ()


def _positive(pos_label: Label, labels: Labels, counted: CountedKeys) -> Label:
    """The positive class: the one that is named, or taken by convention of two; None of several."""
    if pos_label is None:
        return conventional_label(labels) if len(labels) == 2 else None
    if isinstance(pos_label, ClassRule):
        rows = dict.fromkeys(labels, 0)
        for label, count in zip(counted.labels[0].tolist(), counted.rows.tolist(), strict=True):
            rows[label] += count
        return chosen_label(pos_label, labels, lambda: np.array(list(rows.values())))
    return match_label(pos_label, labels)


def _threshold(source: Source, given: Given) -> tuple[float | None, tuple[str, ...]]:
    """What distances are from: the threshold, 0.5 of probabilities; None without scores."""
    pred, score = given.model
    if score is None:
        return None, ()
    check_choices(given.threshold, None)
    summary = score_range(source, score)
    if given.threshold is None and not (summary.low >= 0 and summary.high <= 1):
        raise InputError("The scores are not probabilities; give threshold=, from which a row is predicted positive.")
    stated = (ASSUMED_HALF,) if given.threshold is None and pred is None else ()
    return as_read(HALF if given.threshold is None else float(given.threshold), column_precision(source, score)), stated
