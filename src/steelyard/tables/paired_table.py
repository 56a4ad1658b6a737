"""Paired: how often two models predicted each pair of classes for each true class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.arrays.labels import label_texts, sort_labels
from steelyard.arrays.numbers import LARGEST
from steelyard.exceptions import CountOverflowError, InputError
from steelyard.tables.confusion import Confusion, check_holds, merge_positives
from steelyard.tables.saved import SCHEMA, Saved, check_labels, is_saved_label, read_table, to_strict_json
from steelyard.written_files import Saveable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels


MOST_PAIRED_LABELS = 100  # a million cells; with more classes compare one against the rest
_MODELS = {"A": 0, "B": 1, 0: 0, 1: 1}


@dataclass(frozen=True, eq=False, repr=False)
class Paired(Saveable):
    """The rows of each true class that model A predicted as one class and model B as another: truth x A x B.

    Tables of other rows of the same two models, even of other labels, merge with `+`.

    >>> from steelyard.tables import paired
    >>> table = paired([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0])
    >>> table + table
    <Paired table of 8 rows, 2 labels: A alone is right in 2, B alone in 2>
    >>> table.confusion("B").counts()
    Counts(tp=1, fn=1, fp=0, tn=2)
    """

    labels: Labels
    rows: Array
    positive: Label = None

    @property
    def n(self) -> int:
        """The rows counted."""
        return int(self.rows.sum())

    @property
    def discordant(self) -> tuple[int, int]:
        """The rows in which A alone is right, and those in which B alone is."""
        both = np.einsum("iii->i", self.rows).sum()
        return int(np.einsum("iij->", self.rows) - both), int(np.einsum("iji->", self.rows) - both)

    @names_wrong_arguments
    def confusion(self, model: str | int) -> Confusion:
        """The table of one model: "A" or 0, "B" or 1."""
        if model not in _MODELS:
            raise InputError(f"A paired table holds the models 'A' (or 0) and 'B' (or 1), not {model!r}.")
        return Confusion.of_rows(self.labels, self.rows.sum(2 - _MODELS[model]), self.positive)

    @names_wrong_arguments
    def collapsed(self, pos_label: Label = None) -> Paired:
        """One label against the rest, the rest first: 2 x 2 x 2."""
        table = self.confusion(0)
        place = table.index(table.positive_label() if pos_label is None else pos_label)
        label = self.labels[place]
        if len(self.labels) == 2:
            return Paired(self.labels, self.rows, label) if place else self.swapped(label)
        rows = self.rows
        for axis in range(3):
            of_label = rows.take([place], axis)
            rows = np.concatenate([rows.sum(axis, keepdims=True) - of_label, of_label], axis)
        return Paired((f"not {label}", label), rows, label)

    @names_wrong_arguments
    def swapped(self, positive: Label) -> Paired:
        """The same table with its labels in the opposite order."""
        return Paired(self.labels[::-1], self.rows[::-1, ::-1, ::-1], positive)

    @names_wrong_arguments
    def renamed(self, names: Mapping[Label, Label]) -> Paired:
        """The same table with other names for some labels."""
        labels = tuple(names.get(label, label) for label in self.labels)
        return Paired(labels, self.rows, names.get(self.positive, self.positive))

    @names_wrong_arguments
    def relabelled(self, labels: Sequence[Label]) -> Paired:
        """The same table over more labels, in the given order."""
        labels = tuple(labels)
        check_holds(labels, self.labels)
        places = [labels.index(label) for label in self.labels]
        wide = np.zeros((len(labels),) * 3, dtype=np.int64)
        wide[np.ix_(places, places, places)] = self.rows
        return Paired(labels, wide, self.positive)

    def __add__(self, other: object) -> Paired:
        if not isinstance(other, Paired):
            return NotImplemented
        if self.n + other.n > LARGEST:
            raise CountOverflowError(f"The merged table holds more than {LARGEST} rows, the largest whole count.")
        texts = label_texts(self.labels, other.labels)
        mine, others = self.renamed(texts), other.renamed(texts)
        positive = merge_positives(mine.positive, others.positive)
        labels = sort_labels([*mine.labels, *others.labels])
        check_size(labels)
        return Paired(labels, mine.relabelled(labels).rows + others.relabelled(labels).rows, positive)

    def __radd__(self, other: object) -> Paired:
        return self if other == 0 else NotImplemented  # so that sum(tables) works

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Paired)
            and (self.labels, self.positive) == (other.labels, other.positive)
            and np.array_equal(self.rows, other.rows)
        )

    def __hash__(self) -> int:
        return hash((self.labels, self.rows.tobytes()))

    def __repr__(self) -> str:
        a, b = self.discordant
        size = f"{self.n:,} rows, {len(self.labels)} labels"
        return f"<Paired table of {size}: A alone is right in {a:,}, B alone in {b:,}>"

    def saved(self) -> dict[str, Any]:
        """The table as strict JSON values, with the number of its schema."""
        data = {"schema": SCHEMA, "kind": "paired", "labels": check_labels(self.labels), "positive": self.positive}
        return data | {"rows": self.rows.tolist()}

    def to_json(self) -> str:
        """The table as strict JSON, with the number of its schema."""
        return to_strict_json(self.saved())

    @classmethod
    @names_wrong_arguments
    def from_json(cls, text: Saved) -> Paired:
        """The table that `to_json` wrote, checked; anything else is refused."""
        data = read_table(text, "paired", ("labels", "rows", "positive"))
        labels = _saved_labels(data["labels"])
        if data["positive"] is not None and data["positive"] not in labels:
            raise InputError(f"The positive {data['positive']!r} is none of the saved labels.")
        return cls(labels, _saved_cube(data["rows"], len(labels)), data["positive"])


def check_size(labels: Sequence[Label]) -> None:
    """Refuse more labels than a table of three axes should have."""
    if len(labels) > MOST_PAIRED_LABELS:
        raise InputError(
            f"There are {len(labels):,} different labels; two models are compared on at most {MOST_PAIRED_LABELS}. "
            "Name one with pos_label= to compare it against the rest."
        )


def _saved_labels(labels: object) -> Labels:
    listed = labels if isinstance(labels, list) else [None]
    if not all(map(is_saved_label, listed)) or len(set(listed)) != len(listed):
        raise InputError("A saved paired table lists each label once, as text or a finite number.")
    check_size(listed)
    return tuple(listed)


def _saved_cube(cells: ArrayLike, size: int) -> Array:
    try:
        rows = np.asarray(cells)
    except ValueError:
        rows = np.zeros(0)
    if size and (rows.shape != (size,) * 3 or rows.dtype.kind != "i" or (rows < 0).any()):
        raise InputError(
            f"The rows of this saved paired table are {size} x {size} x {size} whole numbers, none below 0."
        )
    if size and sum(map(int, rows.flat)) > LARGEST:
        raise CountOverflowError(f"The saved table holds more than {LARGEST} rows, the largest whole count.")
    return rows.reshape((size,) * 3).astype(np.int64)
