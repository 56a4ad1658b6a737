"""Confusion: how often each true class was predicted as each class, with weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.arrays.label_codes import MOST_LABELS
from steelyard.arrays.labels import ClassRule, absent_sentence, chosen_label, label_texts, sort_labels
from steelyard.arrays.numbers import LARGEST, check_squares
from steelyard.arrays.sparse import MOST_DENSE_LABELS, SparseMatrix, cell_entries, error_entries, grown, summed_by
from steelyard.exceptions import CountOverflowError, InputError, first_ten
from steelyard.tables.counts import Counts
from steelyard.tables.saved import (
    SCHEMA,
    Saved,
    check_labels,
    is_saved_label,
    read_matrices,
    read_table,
    to_strict_json,
)
from steelyard.written_files import Saveable

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from steelyard._types import Array, Label, Labels


def one_vs_rest(matrix: Array) -> tuple[Array, Array, Array, Array]:
    """The cells tp, fn, fp, tn of each class against the rest, on the last axis."""
    if isinstance(matrix, SparseMatrix):
        return _of_cells(matrix)
    k = matrix.shape[-1]
    others, diagonal = np.array(matrix), np.arange(k)
    others[..., diagonal, diagonal] = 0  # sums, not differences: 0.3 - 0.1 - 0.2 is not 0
    tp, fn, fp = np.diagonal(matrix, axis1=-2, axis2=-1), others.sum(-1), others.sum(-2)
    if k == 2:
        return tp, fn, fp, tp[..., ::-1]
    if matrix.dtype.kind == "f" and matrix.ndim == 2 and k <= 100:
        keep = ~np.eye(k, dtype=bool)
        return tp, fn, fp, np.einsum("ki,ij,kj->k", keep, matrix, keep)
    return tp, fn, fp, np.maximum(matrix.sum((-2, -1))[..., None] - tp - fn - fp, 0)


def _of_cells(matrix: SparseMatrix) -> tuple[Array, Array, Array, Array]:
    """The same of the cells that exist."""
    true, predicted, wrong = error_entries(matrix)
    tp, fn, fp = matrix.diagonal(), *(summed_by(place, wrong, matrix.size) for place in (true, predicted))
    return tp, fn, fp, np.maximum(matrix.sum() - tp - fn - fp, 0)


# ---------------------------------------------------------------- confusion


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(Saveable):
    r"""Rows true, columns predicted: the rows of each cell, their sum of weights and of squared weights.

    Without weights the three agree. Tables of other rows, even of other labels, merge with `+`. With more than 1,000
    labels each of the three is a `SparseMatrix`, the cells that exist alone, which sums and is looked up as an array.

    >>> from steelyard import confusion
    >>> confusion(["a", "b", "b"], ["a", "b", "a"]) + confusion(["c"], ["b"])
    Confusion of 4 rows
    true \ predicted  a  b  c
    a                 1  0  0
    b                 1  1  0
    c                 0  1  0
    """

    labels: Labels
    rows: Array
    given_weights: Array | None = None
    given_squares: Array | None = None
    positive: Label = None

    @classmethod
    @names_wrong_arguments
    def of_rows(cls, labels: Sequence[Label], rows: Array, positive: Label = None) -> Confusion:
        """The table of unweighted rows."""
        return cls(tuple(labels), rows, None, None, positive)

    @property
    def weighted(self) -> bool:
        """Whether rows had weights of their own."""
        return self.given_weights is not None

    @property
    def weights(self) -> Array:
        """The sum of the weights of each cell's rows; their number where they have none."""
        return self.rows if self.given_weights is None else self.given_weights

    @property
    def squares(self) -> Array:
        """The sum of the squared weights of each cell's rows; their number where they have none."""
        if self.given_squares is None:
            return self.rows
        if self.given_weights is not None and self.given_weights.sum() > 0:
            check_squares(self.given_squares)
        return self.given_squares

    @property
    def _squares(self) -> Array:
        return self.rows if self.given_squares is None else self.given_squares

    @names_wrong_arguments
    def with_positive(self, label: Label) -> Confusion:
        """The same table with that label as the positive one; a label without rows joins the others."""
        label = chosen_label(label, self.labels, lambda: self.true_rows)
        table = self if label in self.labels else self.relabelled(sort_labels([*self.labels, label]))
        return replace(table, positive=table.labels[table.index(label)])

    @property
    def matrix(self) -> Array:
        """The weight of each pair of true and predicted class: what the metrics see."""
        return self.weights

    @names_wrong_arguments
    def index(self, label: Label) -> int:
        """The place of a label, or a sentence that lists the labels there are."""
        label = self.with_positive(label).positive if isinstance(label, ClassRule) else label
        if label in self._places:
            return self._places[label]
        raise InputError(absent_sentence(f"The label {label!r}", label, self.labels))

    @cached_property
    def _places(self) -> dict[Label, int]:
        return dict(zip(reversed(self.labels), reversed(range(len(self.labels))), strict=True))

    @property
    def is_sparse(self) -> bool:
        """Whether only the cells that exist are kept, as with more than 1,000 labels."""
        return isinstance(self.rows, SparseMatrix)

    @property
    def true_rows(self) -> Array:
        """The rows of each true class."""
        return np.asarray(self.rows.sum(1))

    @property
    def hits(self) -> Array:
        """The weight on the diagonal: of each class, what is predicted as itself."""
        return np.asarray(self.matrix.diagonal())

    @names_wrong_arguments
    def counts(self, pos_label: Label = None) -> Counts:
        """The two-class table of one label against the rest; of the unambiguous positive where none is named."""
        place = self.index(self.positive_label() if pos_label is None else pos_label)
        return self.one_vs_rest()[place]

    def positive_label(self) -> Label:
        """The label that was named positive, or that is so beyond doubt: 1 of {0, 1} or {-1, 1}, True."""
        if self.positive is not None:
            return self.positive
        return chosen_label(None, self.labels, lambda: self.true_rows, averages=True)

    def one_vs_rest(self) -> Counts:
        """One two-class table a label, that label against all others."""
        return self._against_rest

    @cached_property
    def _against_rest(self) -> Counts:
        cells = one_vs_rest(self.weights)
        for cell in cells:
            cell.flags.writeable = False
        return Counts.trusted(*cells)

    def __add__(self, other: object) -> Confusion:
        if not isinstance(other, Confusion):
            return NotImplemented
        texts = label_texts(self.labels, other.labels)
        mine, others = self.renamed(texts), other.renamed(texts)
        positive = merge_positives(mine.positive, others.positive)
        labels = merge_labels(mine.labels, others.labels)
        mine, others = mine.relabelled(labels), others.relabelled(labels)
        rows = _plus(mine.rows, others.rows)
        if not (self.weighted or other.weighted):
            return Confusion.of_rows(labels, rows, positive)
        return Confusion(labels, rows, mine.weights + others.weights, mine._squares + others._squares, positive)

    @names_wrong_arguments
    def renamed(self, names: Mapping[Label, Label]) -> Confusion:
        """The same table with other names for some labels."""
        labels = tuple(names.get(label, label) for label in self.labels)
        return replace(self, labels=labels, positive=names.get(self.positive, self.positive))

    @names_wrong_arguments
    def relabelled(self, labels: Sequence[Label]) -> Confusion:
        """The same table over more labels, in the given order."""
        if tuple(labels) == self.labels:
            return self
        place = {label: i for i, label in enumerate(labels)}
        check_holds(place, self.labels)
        places = [place[label] for label in self.labels]
        rows = grown(self.rows, places, len(labels))
        given = (self.given_weights, self.given_squares)
        weights, squares = (None if part is None else grown(part, places, len(labels)) for part in given)
        return Confusion(tuple(labels), rows, weights, squares, self.positive)

    def __radd__(self, other: object) -> Confusion:
        return self if other == 0 else NotImplemented  # so that sum(tables) works

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Confusion)
            and (self.labels, self.positive, self.weighted) == (other.labels, other.positive, other.weighted)
            and all(_same(getattr(self, k), getattr(other, k)) for k in ("rows", "weights", "_squares"))
        )

    def __hash__(self) -> int:
        return hash((self.labels, self.weights.tobytes()))

    def __repr__(self) -> str:
        weighted = ", weighted" if self.weighted else ""
        if self.is_sparse:
            shown = f"{len(self.labels):,} labels and {len(cell_entries(self.rows)[0]):,} cells with rows"
            return f"<Confusion of {int(self.rows.sum()):,} rows{weighted}: {shown}>"
        head = ["true \\ predicted", *map(str, self.labels)]
        body = [[str(label), *map(_cell, row)] for label, row in zip(self.labels, self.matrix.tolist(), strict=True)]
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        lines = [f"Confusion of {int(self.rows.sum()):,} rows{weighted}"]
        for row in [head, *body]:
            cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
            lines.append("  ".join(cells))
        return "\n".join(lines)

    def saved(self) -> dict[str, Any]:
        """The table as strict JSON values, with the number of its schema."""
        data = {"schema": SCHEMA, "kind": "confusion", "labels": check_labels(self.labels), "positive": self.positive}
        data |= {"rows": self.rows.tolist()}
        return data | ({"weights": self.weights.tolist(), "squares": self.squares.tolist()} if self.weighted else {})

    def to_json(self) -> str:
        """The table as strict JSON, with the number of its schema."""
        return to_strict_json(self.saved())

    @classmethod
    @names_wrong_arguments
    def from_json(cls, text: Saved) -> Confusion:
        """The table that `to_json` wrote, checked; anything else is refused."""
        data = read_table(text, "confusion", ("labels", "rows", "positive"), optional=("weights", "squares"))
        listed = data["labels"] if isinstance(data["labels"], list) else [None]
        labels = tuple(label for label in listed if is_saved_label(label))
        if len({*labels}) != len(listed) or len(labels) > MOST_LABELS:
            raise InputError(
                f"A saved confusion lists each label once, text or finite numbers, and at most {MOST_LABELS:,} of them."
            )
        if data["positive"] is not None and data["positive"] not in labels:
            raise InputError(f"The positive {data['positive']!r} is none of the saved labels.")
        return cls(labels, *read_matrices(data, len(labels)), data["positive"])


def check_holds(labels: Container[Label], needed: Iterable[Label]) -> None:
    """Refuse labels that leave out some that a table has rows of."""
    if missing := [label for label in needed if label not in labels]:
        raise InputError(f"The labels leave out {first_ten(missing)}, which the table holds; give them too.")


def merge_positives(positive: Label, other: Label) -> Label:
    """The positive class of two tables, of which one at least names it alone; two different ones are refused."""
    if positive != other and None not in (positive, other):
        raise InputError(f"The tables name different positives, {positive!r} and {other!r}.")
    return positive if other is None else other


def merge_labels(labels: Labels, others: Labels) -> Labels:
    """The labels of two tables: in the order of the larger set where the smaller one fits it, else in their own."""
    large, small = (labels, others) if len(labels) >= len(others) else (others, labels)
    smaller = {*small}
    shared = tuple(label for label in large if label in smaller)
    return large if shared == tuple(small) else sort_labels([*labels, *others])


def _same(matrix: Array, other: Array) -> bool:
    return matrix == other if isinstance(matrix, SparseMatrix) else np.array_equal(matrix, other)


def _cell(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _plus(a: Array, b: Array) -> Array:
    if int(a.max(initial=0)) + int(b.max(initial=0)) > LARGEST:
        raise CountOverflowError(f"A merged cell exceeds {LARGEST}, the largest whole count.")
    total = a + b
    return total if isinstance(total, SparseMatrix) else np.asarray(total)


# ---------------------------------------------------------------- joined classes


def joined_classes(table: Confusion, names: Mapping[Label, Label]) -> Confusion:
    r"""The table with the classes of one name as one; a class without a name keeps its own.

    >>> from steelyard import confusion
    >>> joined_classes(confusion(["cat", "dog", "car"], ["dog", "dog", "car"]), {"cat": "animal", "dog": "animal"})
    Confusion of 3 rows
    true \ predicted  animal  car
    animal                 2    0
    car                    0    1
    """
    new = [names.get(label, label) for label in table.labels]
    labels = sort_labels(new)
    place = {label: i for i, label in enumerate(labels)}
    codes = np.array([place[label] for label in new], dtype=np.int64)
    parts: tuple[Any, ...] = (table.rows, table.given_weights, table.given_squares)
    rows, weights, squares = (None if part is None else _joined(part, codes, len(labels)) for part in parts)
    return Confusion(labels, rows, weights, squares)  # type: ignore[arg-type]  # there are always rows


def _joined(matrix: Array, codes: Array, size: int) -> Array:
    true, predicted, values = cell_entries(matrix)
    cells: Any = SparseMatrix.of(codes[true], codes[predicted], values, size)
    if size > MOST_DENSE_LABELS:
        joined: Array = cells
        return joined
    dense = np.zeros((size, size), dtype=values.dtype)
    dense[cells.true, cells.predicted] = cells.values
    return dense
