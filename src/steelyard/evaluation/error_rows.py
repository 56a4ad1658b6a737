"""Error rows: the false negatives and false positives of a classifier, worst first, found where the rows live."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping  # noqa: TC003 - saved fields are read back by their types
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._types import Label
from steelyard.analysis.results.formatting import filled, number_of, three_digits
from steelyard.analysis.results.result import Result, table_text
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays
from steelyard.ingest.condition_rows import as_conjunction, check_features, empty_slice_sentence
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.label_tables import match_label
from steelyard.ingest.queries import NO_ROWS, column_precision
from steelyard.ingest.rows import count_keys
from steelyard.ingest.score_queries import score_range
from steelyard.ingest.source import ColumnNames, Source, check_columns, named_columns
from steelyard.ingest.threshold_sentences import ASSUMED_HALF, HALF
from steelyard.ingest.wrong_rows import DISTANCE, KIND, KINDS, OTHER, ROW_NUMBER, WrongRows
from steelyard.statistics.confusion import sort_labels
from steelyard.statistics.positive_class import ClassRule, choice_sentences, chosen_label, conventional_label
from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Labels
    from steelyard.ingest.rows import CountedKeys


# ---------------------------------------------------------------- ErrorRows
# The rows that a classifier has wrong, each with its number, labels, score and keys.


_MOST_PRINTED = 20


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
        number = ("The rows of this frame have no order, and so no number; name columns that identify them by keys=.",)
        return (*self.assumed, *(number if unordered else ()))

    def __repr__(self) -> str:
        table = table_text([row.row() for row in self.each[:_MOST_PRINTED]])
        left = len(self.each) - _MOST_PRINTED
        more = f"and {left:,} more; to_frame() has them all" if left > 0 else ""
        parts = [filled(self.headline), table, more, "\n".join(map(filled, self.notes))]
        return "\n\n".join(filter(None, parts))


# ---------------------------------------------------------------- error rows


_TRUE, _PRED, _SCORE = "true label", "predicted label", "score of the row"  # columns of arrays


@names_wrong_arguments
def errors(
    y_true: Source | Frame | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    threshold: float | None = None,
    kind: str = "both",
    first: int | None = 100,
    near: bool = False,
    where: str | None = None,
    keys: Mapping[str, ArrayLike] | Sequence[str] | str | None = None,
    pos_label: Label = None,
    true: str | None = None,
    pred: str | None = None,
    score: str | None = None,
) -> ErrorRows:
    """The false negatives and false positives of a classifier, those farthest beyond the threshold first.

    `kind` is "fn", "fp" or "both"; `first` limits how many are brought here, None brings all; `near` lists those
    nearest to the threshold first. `where` keeps the rows of a slice, such as "age >= 60 and site = B". `keys` names
    columns that identify a row, or beside arrays gives them: {"patient": ids}; `where` reads these there. A row's
    number counts from 1. Of a frame the rows are found, sorted and limited where it lives. Of several classes give
    predictions; the score is then that of the predicted class, and the most certain errors come first.

    >>> errors([0, 1, 1, 0], y_score=[0.9, 0.4, 0.1, 0.2], keys={"id": ["a", "b", "c", "d"]})
    3 of 4 rows are wrong: 2 false negatives and 1 false positive; they are listed farthest beyond the
    threshold 0.500 first.
    <BLANKLINE>
    row  error           true  predicted  score  distance  id
      1  false positive     0          1  0.900     0.400  a
      3  false negative     1          0  0.100     0.400  c
      2  false negative     1          0  0.400     0.100  b
    <BLANKLINE>
    Scores were thresholded at 0.5; best_threshold finds a better one.
    """
    if kind not in ("both", *KINDS):
        raise InputError(argument="kind", expected="'fn', 'fp' or 'both'", given=kind)
    if first is not None and (not isinstance(first, (int, np.integer)) or isinstance(first, bool) or first < 1):
        raise InputError(argument="first", expected="how many rows to list, 1 or more, or None for all", given=first)
    names = FrameColumns(true, pred, score)
    if names.are_named(y_pred=y_pred, y_score=y_score):
        source, columns, key_names = _of_frame(y_true, names, keys)  # type: ignore[arg-type]  # a frame
    else:
        source, columns, key_names = _of_arrays(y_true, y_pred, y_score, keys)  # type: ignore[arg-type]  # rows
    query, assumed = _query(source, columns, threshold, pos_label)
    kinds = tuple(KINDS) if kind == "both" else (kind,)
    slice_ = None if where is None else as_conjunction(where)
    if slice_ is not None:
        check_features(source, slice_.features)
    query = replace(query, keys=key_names, kinds=kinds, where=slice_, near=near)
    if query.positive is None and kind != "both":
        raise InputError("kind is of two classes; of several name the positive one with pos_label=.")
    totals = query.counted(source)
    if query.where is not None and not totals["rows"]:
        raise InputError(empty_slice_sentence(source, query.where))
    return ErrorRows(
        tuple(_error_row(row, query) for row in query.first(source, first)),
        totals["rows"],
        0 if query.positive is None else totals["fn"],
        totals["fp"],
        sum(totals[kind] for kind in query.kinds),
        KINDS[query.kinds[0]] if len(query.kinds) == 1 else "both",
        query.positive,
        query.threshold,
        None if query.where is None else repr(query.where),
        query.near,
        assumed,
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


# ---------------------------------------------------------------- rows


def _of_frame(data: Frame | Source, names: FrameColumns, keys: object) -> tuple[Source, ColumnNames, tuple[str, ...]]:
    """The frame, the names of its columns, and those of its keys."""
    if names.pred is None and names.score is None:
        raise InputTypeError("There is nothing to judge: name a column of labels (pred=) or of scores (score=).")
    listed = named_columns("keys", keys)  # type: ignore[arg-type]  # refused there where it is no name
    source, preds = Source.of(data), () if names.pred is None else (names.pred,)
    columns = ColumnNames(str(names.true), preds, names.score)
    check_columns(source, replace(columns, by=listed))
    return source, columns, listed


def _of_arrays(
    y_true: ArrayLike, y_pred: ArrayLike | None, y_score: ArrayLike | None, keys: object
) -> tuple[Source, ColumnNames, tuple[str, ...]]:
    """Arrays as a frame, the names of its columns, and those of its keys."""
    import polars as pl

    if y_pred is None and y_score is None:
        raise InputTypeError("There is nothing to judge: give y_pred (labels) or y_score= (scores) beside y_true.")
    keys = {} if keys is None else keys
    if not hasattr(keys, "items"):
        raise InputTypeError('keys= beside arrays gives the columns by name: keys={"patient": ids}.')
    key_columns = {str(name): arrays.column(values, f"keys[{name!r}]") for name, values in keys.items()}
    columns = {_TRUE: arrays.column(y_true, "y_true")}
    if y_pred is not None:
        columns[_PRED] = arrays.column(y_pred, "y_pred")
    if y_score is not None and np.ndim(y_score) == 2 and np.shape(y_score)[1] > 2:  # the score of the predicted class
        columns[_SCORE] = np.asarray(np.asarray(y_score, dtype=np.float64).max(1))
    elif y_score is not None:
        arrays.check_one_column(y_score)
        columns[_SCORE] = arrays.finite_scores(y_score)
    arrays.check_lengths(**columns, **key_columns)
    series = {
        name: values.tolist() if values.dtype.kind in "OUS" else values
        for name, values in (columns | key_columns).items()
    }
    names = ColumnNames(_TRUE, () if y_pred is None else (_PRED,), None if y_score is None else _SCORE)
    return Source.of(pl.DataFrame(series, strict=False)), names, tuple(key_columns)


# ---------------------------------------------------------------- labels and the threshold


def _query(
    source: Source, columns: ColumnNames, threshold: float | None, pos_label: Label
) -> tuple[WrongRows, tuple[str, ...]]:
    """The query for all errors of these rows, and what was assumed."""
    counted = count_keys(source, true=columns.true, pred=columns.pred)
    if not len(counted.rows):
        raise InputError(NO_ROWS)
    spelled = zip(counted.given.values(), counted.labels, strict=True)
    label_of = [dict(zip(given.tolist(), labels.tolist(), strict=True)) for given, labels in spelled]
    labels = sort_labels(label for each in label_of for label in each.values())
    positive = _positive(pos_label, labels, counted)
    if positive is None and not columns.pred:
        raise InputError("Scores are of a positive class; name it with pos_label=, or give predictions.")
    if not columns.pred:
        others = [label for label in labels if label != positive]
        label_of.append({True: positive, False: others[0] if len(others) == 1 else f"not {positive}"})
    at, assumed = _threshold(source, columns, threshold) if positive is not None else (None, ())
    pred = columns.pred[0] if columns.pred else None
    query = WrongRows(columns.true, pred, columns.score, positive, at, label_of[0], label_of[1])
    return query, (*choice_sentences(pos_label, positive, labels), *assumed) if positive is not None else ()


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


def _threshold(source: Source, columns: ColumnNames, threshold: float | None) -> tuple[float | None, tuple[str, ...]]:
    """What distances are from: the threshold, 0.5 of probabilities; None without scores."""
    if columns.score is None:
        if threshold is not None:
            raise InputError("A threshold= needs scores; name their column with score=, or give y_score=.")
        return None, ()
    summary = score_range(source, columns.score)
    if threshold is None and not (summary.low >= 0 and summary.high <= 1):
        raise InputError("The scores are not probabilities; give threshold=, from which a row is predicted positive.")
    stated = (ASSUMED_HALF,) if threshold is None and not columns.pred else ()
    return as_read(HALF if threshold is None else float(threshold), column_precision(source, columns.score)), stated
