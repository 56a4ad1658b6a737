"""Own table: rows of a user's own to run a paper's experiment on: features, labels, and models or their predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import number_of
from steelyard.arrays import label_codes
from steelyard.arrays.checks import numbers
from steelyard.arrays.labels import choice_sentences, unclear_sentence
from steelyard.exceptions import InputError, InputTypeError
from steelyard.frames.decoding import cell_sentence, check_numeric_text, first_other_text, match_label
from steelyard.protocol.cross_evaluate import read_data
from steelyard.protocol.named_models import (
    check_column,
    feature_sentence,
    features,
    is_a_name,
    left_out_sentences,
    missing_sentences,
    prepared,
    read_columns,
    target_column,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Estimator, Frame, Label, Labels
    from steelyard.studies.study import Picture, Table

LEAST_ROWS = 20


@dataclass(frozen=True, eq=False)
class OwnTable:
    """The rows: `X` are the features as numbers, of which `words` marks codes of text, and `y` the labels.

    `models` are those that were named, ready to be fitted on X; `preds` and `scores` the columns of predictions by
    name. `notes` are sentences on how the table was read.
    """

    target: str
    X: Array
    words: Array
    y: Array
    codes: Array
    labels: Labels
    chosen: Label
    models: dict[str, Estimator]
    preds: dict[str, Array]
    scores: dict[str, Array]
    notes: tuple[str, ...]

    @property
    def positive(self) -> Label:
        """The positive class: as named, or by a convention; refused where it is not clear."""
        if self.chosen is None:
            raise InputError(unclear_sentence(self.labels, np.bincount(self.codes)))
        return self.chosen

    @property
    def two_class_y(self) -> Array:
        """1 for a row of the positive class, 0 for any other; refused for more classes than two."""
        self.check_two_classes()
        return np.asarray(self.y == self.positive, dtype=np.int64)

    def check_two_classes(self) -> None:
        """Refuse a target of more classes than two."""
        if len(self.labels) > 2:
            raise InputError(
                f"The column {self.target!r} holds {len(self.labels):,} classes and this study needs two; keep the "
                "rows of two of them, or give a column that says whether a row is of one."
            )

    def prepared(self, estimator: str | Estimator) -> Estimator:
        """A model that takes X as it stands: numbers are imputed and scaled, text one-hot coded, on training rows."""
        if not self.X.shape[1]:
            raise InputError("There is no column to predict from; give at least one beside the target.")
        return prepared(estimator, self.words)

    def choices(self) -> dict[str, Any]:
        """What the page states of the table."""
        rows = np.bincount(self.codes, minlength=len(self.labels)).tolist()
        classes = ", ".join(f"{label!r} {n:,}" for label, n in zip(self.labels, rows, strict=True))
        words = int(self.words.sum())
        numbers, kinds = self.X.shape[1] - words, []
        if numbers:
            kinds.append(f"{numbers} of numbers (imputed by the median, standardised)")
        if words:
            kinds.append(f"{words} of text (one column for each word)")
        choices = {"rows": f"{len(self.y):,}: {classes}", "features": ", ".join(kinds)}
        if self.chosen is not None:
            choices["positive class"] = repr(self.chosen)
        return choices


@dataclass(frozen=True, eq=False)
class OwnFindings:
    """What a study finds on a table of one's own: its sentences, tables and figures, and what was chosen."""

    summary: list[str]
    tables: list[Table]
    pictures: list[Picture] = field(default_factory=list)
    choices: dict[str, Any] = field(default_factory=dict)
    title: str = ""  # of the page, where that of the study does not fit


def own_table(
    table: Mapping[str, Any] | Frame,
    target: str,
    *,
    model: Sequence[str] = (),
    pred: Sequence[str] = (),
    score: Sequence[str] = (),
    pos_label: Label = None,
) -> OwnTable:
    """Read a table: `target` are the labels, `pred` and `score` columns of predictions, all others features.

    >>> rows = {"size": [1.0, 2, 3, 4] * 10, "colour": ["red", "blue"] * 20, "kind": ["a", "a", "b", "b"] * 10}
    >>> table = own_table(rows, "kind", model=["tree"], pos_label="b")
    >>> table.X.shape, table.words.tolist(), int(table.two_class_y.sum()), list(table.models)
    ((40, 2), [False, True], 20, ['tree'])
    """
    columns, left_out = read_columns(table, [target, *pred, *score])
    y, given = _taken(columns, target, (*pred, *score))
    check_numeric_text(columns)
    kept = {name: column for name, column in columns.items() if not is_a_name(column)}
    X, words = features(kept) if kept else (np.empty((len(y), 0)), np.empty(0, dtype=bool))
    _, labels = label_codes.encode(y, None, f"The column {target!r} to predict")
    named = match_label(pos_label, labels)
    data = read_data(X, y, None, named)
    notes = [*left_out, *left_out_sentences(columns), *missing_sentences(kept)]
    notes += [*choice_sentences(pos_label, data.positive, data.labels), feature_sentence(kept)]
    own = OwnTable(
        target,
        X,
        words,
        data.y,
        data.codes,
        data.labels,
        data.positive,
        {},
        {name: given[name] for name in pred},
        {name: _scores(given[name], name) for name in score},
        tuple(notes),
    )
    own.models.update({name: own.prepared(name) for name in model})
    return own


def _taken(columns: dict[str, Array], target: str, predictions: Sequence[str]) -> tuple[Array, dict[str, Array]]:
    """The labels and the columns of predictions, which are no features."""
    y = target_column(columns, target)
    for name in predictions:
        check_column(columns, name, " of predictions")
    if len(y) < LEAST_ROWS:
        raise InputError(f"The table has {number_of(len(y), 'row')}; an experiment needs {LEAST_ROWS} or more.")
    return y, {name: columns.pop(name) for name in dict.fromkeys(predictions)}


def _scores(column: Array, name: str) -> Array:
    """A column of scores; a cell that is no finite number is refused by its row."""
    if (other := first_other_text(column)) is not None:
        raise InputTypeError(cell_sentence(name, *other, "Mend the cell, drop the row, or name a column of scores."))
    scores = numbers(column, f"The column {name!r}")
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        value = "nothing" if np.isnan(scores[row]) else f"{scores[row]:g}"
        raise InputError(
            f"The column {name!r} holds {value} in row {row + 1:,}; a score is a finite number. Drop such rows first."
        )
    return scores
