"""Batch rows: the columns of a batch as arrays and frames give them: truth, prediction, group, cost and key."""

from __future__ import annotations

import hashlib
import math
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
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label

_PLAIN = {-1, 0, 1}  # labels of which 1 is positive, even where a batch has one of them alone


BY_CHANCE = math.log(1e-9)  # rows that agree with so small a probability are the same rows
_DIGITS = 32  # of a digest: 128 bits


@dataclass(frozen=True)
class RowDigest:
    """By what the rows of a batch are known again: their digest in any order and in their own.

    `telling` is 2 where other rows would have to agree by a chance below one in 10**9 even in any order, 1 where only
    in the same order, else 0: few rows, or rows that are nearly all alike, may well come again. Of n rows of which
    k_1, k_2, ... are alike, others agree in the same order with probability prod((k_i / n)**k_i) at most, whatever
    they are drawn from, and in any order with n! / prod(k_i!) times that.
    """

    rows: str
    order: str
    telling: int

    @classmethod
    def of(cls, *columns: Array | Sequence[str] | None) -> RowDigest:
        """The digest of columns: numbers, yes and no, or text; None stands for a column that is not there."""
        given = [(place, column) for place, column in enumerate(columns) if column is not None]
        codes = np.zeros(len(given[0][1]), dtype=np.uint64)
        for place, column in given:
            codes = _mixed(codes ^ _mixed(_bits(column) + np.uint64(place + 1)))
        ordered = np.sort(codes)
        ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], [True] * (len(ordered) > 0)))
        return cls(_hex(ordered), _hex(codes), _telling(np.diff(ends, prepend=-1)))

    @classmethod
    def of_cells(cls, cells: Mapping[str, Array]) -> RowDigest:
        """The digest of a table, whose rows have no order: the cells of all rows or of each group."""
        text = _hex(repr(sorted((key, np.asarray(part).tolist()) for key, part in cells.items())).encode())
        return cls(text, text, _telling(np.concatenate([*cells.values()]).astype(np.int64), ordered=False))

    def repeats(self, other: RowDigest) -> bool:
        """Whether both are of the same rows, beyond what chance would do."""
        return self.rows == other.rows and (self.telling == 2 or (self.telling == 1 and self.order == other.order))


def _telling(alike: Array, *, ordered: bool = True) -> int:
    in_order, in_any_order = log_chances(alike)
    return 2 if in_any_order < BY_CHANCE else 1 if ordered and in_order < BY_CHANCE else 0


def log_chances(alike: Array) -> tuple[float, float]:
    """The logarithms of the probabilities that other rows agree with these, in the same order and in any."""
    sizes, times = np.unique(alike[alike > 0], return_counts=True)
    total = int((sizes * times).sum())
    in_order = float((times * sizes * np.log(sizes / max(total, 1))).sum())
    alike_orders = sum(n * math.lgamma(k + 1) for k, n in zip(sizes.tolist(), times.tolist(), strict=True))
    return in_order, in_order + math.lgamma(total + 1) - alike_orders


def _bits(column: Array | Sequence[str]) -> Array:
    """A number of 64 bits for each value, the same in every batch."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        return (column.astype("<f8") + 0.0).view("<u8")
    texts = column.tolist() if isinstance(column, np.ndarray) else column
    book: label_codes.CodeBook[Any] = label_codes.CodeBook()
    codes = np.fromiter(map(book.__getitem__, texts), np.intp, len(texts))
    named = b"".join(hashlib.sha256(str(value).encode(errors="surrogatepass")).digest()[:8] for value in book)
    return np.frombuffer(named, dtype="<u8").astype(np.uint64)[codes]


def _mixed(codes: Array) -> Array:
    """Each number scattered over 64 bits (the finalizer of SplitMix64)."""
    mixed = codes >> np.uint64(30)
    mixed ^= codes
    for shift, factor in ((27, 0xBF58476D1CE4E5B9), (31, 0x94D049BB133111EB)):
        mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(shift)
    return mixed


def _hex(content: Array | bytes) -> str:
    data = content if isinstance(content, bytes) else content.astype("<u8").tobytes()
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


@dataclass(frozen=True, eq=False)
class BatchRows:
    """Rows of a batch: whether each is positive and predicted so, its group, its cost between two ends, its score."""

    truth: Array
    predicted: Array
    groups: list[str] | None = None
    costs: Array | None = None
    between: tuple[float, float] | None = None
    scores: Array | None = None

    def digest(self) -> RowDigest:
        """By what the rows are known again, their numbers in single precision, in which a copy may have been stored."""
        predicted = self.predicted if self.scores is None else None
        with np.errstate(over="ignore", under="ignore"):
            scores, costs = (None if n is None else n.astype(np.float32) for n in (self.scores, self.costs))
        return RowDigest.of(self.truth, predicted, scores, self.groups, costs)

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
    scores: Array | None = None

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
        return cls(scores >= as_read(threshold, precision), threshold, scores)


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
