"""Batches: the counts of one look, of all rows and of each group, and what a batch is recognised by."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.metric_sequence import counted_cells
from steelyard.analysis.sequential.anytime import NODES, CostTable
from steelyard.arrays import checks, label_codes
from steelyard.arrays.backend import as_read
from steelyard.arrays.labels import absent_sentence, conventional_label, parse_value, unclear_sentence
from steelyard.exceptions import InputError, first_ten
from steelyard.frames.decoding import match_label
from steelyard.frames.groups import group_columns
from steelyard.predictions import Predictions
from steelyard.tables.array_tables import lookalike_hints
from steelyard.tables.confusion import Confusion
from steelyard.tables.score_table import ScoreTable
from steelyard.tables.tally import Tally
from steelyard.tables.thresholding import HALF

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label
    from steelyard.tables.counts import Counts


# ---------------------------------------------------------------- batch rows
# The columns of a batch as arrays and frames give them: truth, prediction, group, cost and key.


_PLAIN = {-1, 0, 1}  # 1 is positive among these, even where a batch has only one of them


BY_CHANCE = math.log(1e-9)  # rows that agree with so small a probability are the same rows
_DIGITS = 32  # of a digest: 128 bits


@dataclass(frozen=True)
class RowDigest:
    """What the rows of a batch are recognised by: their digest in any order, and in the order they have.

    `telling` is 2 where other rows would have to agree by a chance below one in 10**9 even in any order, 1 where only
    in the same order, else 0: few rows, or rows that are nearly all alike, may well come again. If k_1, k_2, ... of n
    rows are alike, others agree with them in the same order with probability prod((k_i / n)**k_i) at most, whatever
    they are drawn from, and in any order with n! / prod(k_i!) times that.
    """

    rows: str
    order: str
    telling: int

    @classmethod
    def of(cls, *columns: Array | Sequence[str] | None) -> RowDigest:
        """The digest of columns: numbers, yes and no, or text; None stands for a column that is not there."""
        numbered = [(number, column) for number, column in enumerate(columns, 1) if column is not None]
        codes = np.zeros(len(numbered[0][1]), dtype=np.uint64)
        for number, column in numbered:
            codes = _mixed(codes ^ _mixed(_bits(column) + np.uint64(number)))
        return cls(_hex(np.sort(codes)), _hex(codes), _telling(np.unique(codes, return_counts=True)[1]))

    @classmethod
    def of_cells(cls, cells: Mapping[str, Array]) -> RowDigest:
        """The digest of a table, whose rows have no order: the cells of all rows or of each group."""
        text = _hex(repr(sorted((key, np.asarray(part).tolist()) for key, part in cells.items())).encode())
        return cls(text, text, _telling(np.concatenate([*cells.values()]).astype(np.int64), ordered=False))

    def repeats(self, other: RowDigest) -> bool:
        """Whether both are of the same rows, beyond what chance would do."""
        return self.rows == other.rows and (self.telling == 2 or (self.telling == 1 and self.order == other.order))


def _telling(alike: Array, *, ordered: bool = True) -> int:
    """2 where rows of which so many are alike are recognised in any order, 1 only in the order they have, else 0."""
    in_order, in_any_order = log_chances(alike)
    if in_any_order < BY_CHANCE:
        return 2
    return 1 if ordered and in_order < BY_CHANCE else 0


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
    """Rows of a batch: whether each is positive and predicted so, its group, its cost between two bounds, its score."""

    truth: Array
    predicted: Array
    groups: list[str] | None = None
    costs: Array | None = None
    between: tuple[float, float] | None = None
    scores: Array | None = None

    def digest(self) -> RowDigest:
        """What the rows are recognised by; numbers in single precision, in which a copy may have been stored."""
        predicted = self.predicted if self.scores is None else None
        with np.errstate(over="ignore", under="ignore"):
            scores, costs = (None if n is None else n.astype(np.float32) for n in (self.scores, self.costs))
        return RowDigest.of(self.truth, predicted, scores, self.groups, costs)

    def cells(self, selected: Array | None = None) -> Array:
        """The four cells of all rows, or of the selected ones."""
        code = np.where(self.truth, np.where(self.predicted, 0, 1), np.where(self.predicted, 2, 3))
        return np.bincount(code if selected is None else code[selected], minlength=4)

    def cost_weights(self, selected: Array | None = None) -> Array | None:
        """The weights of the nodes of the costs; None where there are none."""
        if self.costs is None or self.between is None:
            return None
        return CostTable.of(self.costs if selected is None else self.costs[selected], *self.between).weights


@dataclass(frozen=True, eq=False)
class PositiveRows:
    """Labels as whether each row is positive, and the label that is."""

    columns: tuple[Array, ...]
    label: Label
    present: tuple[Label, ...]

    @classmethod
    def of(cls, columns: dict[str, ArrayLike], pos_label: Label) -> PositiveRows:
        """Columns of labels by name; without a named class it is 1, True or what a convention takes, as "yes"."""
        coded = [label_codes.distinct(checks.column(values, name), name) for name, values in columns.items()]
        present = list(dict.fromkeys(label for _, labels in coded for label in labels))
        label = _positive_label(present, pos_label)
        rows = tuple(np.array([each == label for each in labels] or [False])[codes] for codes, labels in coded)
        return cls(rows, label, tuple(present))


def _positive_label(present: Sequence[Label], pos_label: Label) -> Label:
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
        scores, precision = checks.finite_scores(y_score), checks.precision_of(checks.column(y_score, "y_score"))
        outside = scores[(scores < 0) | (scores > 1)]
        if given is None and len(outside):
            raise InputError(
                f"Scores such as {outside[0]:g} are no probabilities and need a threshold to be predictions; give "
                "threshold=."
            )
        threshold = HALF if given is None else given
        return cls(scores >= as_read(threshold, precision), threshold, scores)


def group_names(by: Any) -> list[str] | None:
    """The group of each row as text."""
    if by is None:
        return None
    columns = [column.tolist() for column in group_columns(by).values()]
    return [" / ".join(map(str, key)) for key in zip(*columns, strict=True)]


# ---------------------------------------------------------------- batch


_DIGEST = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, eq=False)
class Batch:
    """The four cells of a batch, of its groups, and the weights of the nodes of its costs."""

    name: str
    cells: Array
    groups: Mapping[str, Array] = field(default_factory=dict)
    costs: Array | None = None
    group_costs: Mapping[str, Array] = field(default_factory=dict)
    digests: tuple[RowDigest, ...] = ()  # of the rows that it is made of, one for each batch that was added

    @classmethod
    def of(cls, name: str, rows: BatchRows) -> Batch:
        """The rows counted."""
        cells, costs = rows.cells(), rows.cost_weights()
        groups: dict[str, Array] = {}
        group_costs: dict[str, Array] = {}
        for key in sorted(set(rows.groups or ())):
            in_group = np.array([group == key for group in rows.groups or ()], dtype=bool)
            groups[key] = rows.cells(in_group)
            if (weights := rows.cost_weights(in_group)) is not None:
                group_costs[key] = weights
        return cls(name, cells, groups, costs, group_costs, (rows.digest(),))

    @property
    def rows(self) -> int:
        """The rows counted."""
        return int(self.cells.sum())

    def __add__(self, other: object) -> Batch:
        if not isinstance(other, Batch):
            return NotImplemented
        costs = [part.costs for part in (self, other) if part.costs is not None]
        return Batch(
            self.name,
            self.cells + other.cells,
            _added(self.groups, other.groups),
            sum(costs[1:], costs[0]) if costs else None,
            _added(self.group_costs, other.group_costs),
            self.digests + other.digests,
        )

    def repeats(self, other: Batch) -> bool:
        """Whether some of the rows are the other's, beyond what chance would do."""
        return any(mine.repeats(theirs) for mine in self.digests for theirs in other.digests)

    def is_alike(self, other: Batch) -> bool:
        """Whether both have one name, and some rows in the same order, which few rows may have by chance."""
        orders = {digest.order for digest in self.digests}
        return self.name == other.name and any(digest.order in orders for digest in other.digests)

    @property
    def log_chance(self) -> float:
        """The logarithm of the probability, at most, with which other rows look like these."""
        in_order, in_any_order = log_chances(self.cells)
        return in_any_order if all(digest.rows == digest.order for digest in self.digests) else in_order

    def saved(self) -> dict[str, Any]:
        """The batch as JSON holds it: of costs the nodes that have weight."""
        parts: dict[str, Any] = {"name": self.name, "cells": self.cells.tolist()}
        if self.groups:
            parts["groups"] = {key: cells.tolist() for key, cells in self.groups.items()}
        if self.costs is not None:
            parts["costs"] = _sparse(self.costs)
            parts["group_costs"] = {key: _sparse(costs) for key, costs in self.group_costs.items()}
        if self.digests:
            parts["digests"] = [[digest.rows, digest.order, digest.telling] for digest in self.digests]
        return parts

    @classmethod
    def from_saved(cls, data: object) -> Batch:
        """The batch that was saved, every count checked."""
        if not isinstance(data, dict) or not isinstance(data.get("name"), str):
            raise InputError("A saved batch has a name and four counts; this one does not.")
        groups, costs = data.get("groups", {}), data.get("costs")
        if not isinstance(groups, dict) or not isinstance(data.get("group_costs", {}), dict):
            raise InputError("The groups of a saved batch are counts by name; these are not.")
        batch = cls(
            data["name"],
            _saved_cells(data.get("cells")),
            {str(key): _saved_cells(cells) for key, cells in groups.items()},
            None if costs is None else _dense(costs),
            {str(key): _dense(part) for key, part in data.get("group_costs", {}).items()},
            _digests(data.get("digests", [])),
        )
        if not batch.rows:
            raise InputError(f"The saved batch {batch.name!r} has no rows; it was changed.")
        if batch.groups and not np.array_equal(np.sum([*batch.groups.values()], axis=0), batch.cells):
            raise InputError(f"The groups of the saved batch {batch.name!r} do not add up to its rows; it was changed.")
        _check_costs(batch)
        return batch


def _check_costs(batch: Batch) -> None:
    """Refuse costs that are not those of the rows, each of weight 1."""
    parts = [] if batch.costs is None else [(batch.cells, batch.costs)]
    parts += [(batch.groups[key], costs) for key, costs in batch.group_costs.items() if key in batch.groups]
    missing = {*batch.group_costs} != ({*batch.groups} if batch.costs is not None else set())
    if missing or not all(np.isclose(costs.sum(), cells.sum(), rtol=1e-9) for cells, costs in parts):
        raise InputError(f"The costs of the saved batch {batch.name!r} are not those of its rows; it was changed.")


def _digests(saved: object) -> tuple[RowDigest, ...]:
    digests: list[Any] = saved if isinstance(saved, list) else [saved]
    for each in digests:
        if not (
            isinstance(each, list)
            and len(each) == 3
            and all(isinstance(part, str) and _DIGEST.fullmatch(part) for part in each[:2])
            and type(each[2]) is int
            and each[2] in (0, 1, 2)
        ):
            raise InputError("The digests of a saved batch cannot be read; it was changed. Go on from an older copy.")
    return tuple(RowDigest(*each) for each in digests)


def _added(first: Mapping[str, Array], second: Mapping[str, Array]) -> dict[str, Array]:
    return {key: np.asarray(first.get(key, 0) + second.get(key, 0)) for key in dict.fromkeys([*first, *second])}


def _saved_cells(saved: object) -> Array:
    if not isinstance(saved, list) or len(saved) != 4 or not all(type(n) is int and 0 <= n < 2**53 for n in saved):
        raise InputError(f"A saved batch has four whole counts, none below 0, not {saved!r}.")
    return np.array(saved, dtype=np.int64)


def _sparse(weights: Array) -> dict[str, float]:
    return {str(i): float(weights[i]) for i in np.flatnonzero(weights)}


def _dense(saved: Any) -> Array:
    weights = np.zeros(NODES)
    try:
        for index, weight in dict(saved).items():  # what is no dictionary raises
            is_valid = str(int(index)) == index and int(index) >= 0 and type(weight) in (int, float)
            weights[int(index)] = weight if is_valid else np.nan
    except (TypeError, ValueError, IndexError, OverflowError):
        raise InputError("The costs of a saved batch are weights by their place; these are not.") from None
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("The costs of a saved batch have weights of at least 0; some of these are not.")
    return weights


# ---------------------------------------------------------------- batches of tables
# Counts, confusion matrices and tallies, which were counted elsewhere.


def table_batch(
    name: str, table: Counts | Confusion | Tally, pos_label: Label, by: str | None
) -> tuple[Batch, Sequence[Label]]:
    """The table as a batch, of a tally its groups as well; and the labels it has."""
    if not isinstance(table, Tally):
        if by is not None:
            raise InputError("A table has no groups; give a tally counted by them, or the rows.")
        cells = _table_cells(table, pos_label)
        return Batch(name, cells, digests=(RowDigest.of_cells({"": cells}),)), getattr(table, "labels", ())
    if table.confusion is None:
        raise InputError("A monitor follows predicted labels; tally them with pred=, or scores with a threshold.")
    groups = {" / ".join(map(str, key)): group.confusion for key, group in table.groups.items()} if by else {}
    if by is not None and not groups:
        raise InputError(f"This tally has no groups; tally the rows with by={by!r}.")
    parts = {key: _table_cells(part, pos_label) for key, part in groups.items() if part is not None}
    cells = _table_cells(table.confusion, pos_label)
    return Batch(name, cells, parts, digests=(RowDigest.of_cells(parts or {"": cells}),)), table.confusion.labels


def labelled_table(p: Predictions) -> Counts | Confusion | Tally:
    """The table of labels of counted rows, of scores at the threshold that they carry."""
    data = p.given.data
    if isinstance(data, Tally) and data.confusion is None and data.scores is not None and p.threshold is not None:
        at = p.threshold
        groups = {key: Tally(Predictions.of(part, threshold=at).confusion()) for key, part in data.groups.items()}
        return Tally(p.confusion(), by=data.by, groups=groups)
    return p.confusion() if isinstance(data, ScoreTable) else data


def _table_cells(table: Counts | Confusion, pos_label: Label) -> Array:
    if isinstance(table, Confusion) and pos_label is not None:
        table = table.counts(match_label(pos_label, table.labels))
    return counted_cells(table).astype(int)


# ---------------------------------------------------------------- SeenLabels
# The labels of all batches so far: whether the positive one is among them, and which others there are.


@dataclass(eq=False)
class SeenLabels:
    """Labels in the order in which they came, and the batches in which some came after the first batch.

    >>> seen = SeenLabels()
    >>> seen.add(["fraud", "ok"], "May")
    >>> seen.add(["ok", "pending"], "June")
    >>> print(*seen.sentences("fraud"))
    All labels but 'fraud' count as negative: 'ok', 'pending'. The label 'pending' is new in June; check its rows.
    """

    labels: list[Any] = field(default_factory=list)
    late: list[tuple[Any, str]] = field(default_factory=list)
    started: bool = False

    def check(self, label: Label, present: Sequence[Label]) -> None:
        """Refuse a positive class that none of two or more labels so far is; of one alone the other may yet come."""
        labels = list(dict.fromkeys([*self.labels, *map(_plain, present)]))
        if _plain(label) not in labels and len(labels) > 1:
            raise InputError(absent_sentence(f"The positive class {label!r}", label, labels))

    def add(self, present: Iterable[Label], batch: str) -> None:
        """The labels of one batch more."""
        new = [label for label in map(_plain, present) if label not in self.labels]
        self.late += [(label, batch) for label in new if self.started]
        self.labels += new
        self.started = True

    def add_reference(self, table: Counts | Confusion | ScoreTable | Tally, label: Label) -> None:
        """A positive class that occurs in the reference need not occur in the first batches."""
        counted = table.confusion if isinstance(table, Tally) else table
        labels = counted.labels if isinstance(counted, Confusion) else getattr(table, "labels", ())
        if label is not None and label in labels:
            self.labels.append(_plain(label))

    def sentences(self, positive: Label) -> list[str]:
        """Which labels count as negative, where they are more than one, and which of them came late."""
        others = [label for label in self.labels if label != _plain(positive)]
        if positive is None or len(others) < 2:
            return []
        late = [(label, batch) for label, batch in self.late if label in others and label != others[0]]
        named = f"{first_ten(sorted(others, key=str))}"
        return [
            f"All labels but {_plain(positive)!r} count as negative: {named}.",
            *(f"The label {label!r} is new in {batch}; check its rows." for label, batch in late),
            *lookalike_hints(self.labels),
        ]

    def __add__(self, other: SeenLabels) -> SeenLabels:
        merged = [*self.labels, *(label for label in other.labels if label not in self.labels)]
        late = [*self.late, *(pair for pair in other.late if pair[0] not in self.labels)]
        return SeenLabels(merged, late, self.started or other.started)

    def saved(self) -> dict[str, Any]:
        """The labels as JSON holds them."""
        return {"labels": self.labels, "late": [list(pair) for pair in self.late], "started": self.started}


def _plain(label: Any) -> Any:
    """The label as JSON can hold it."""
    plain = label.item() if isinstance(label, np.generic) else label
    return plain if isinstance(plain, (str, int, float)) else str(plain)
