"""Hierarchy: labels as paths or with their parents, and the node that each label belongs to at every level."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.analysis.confusions.confused_pairs import ConfusedPair, confused_pairs
from steelyard.analysis.intervals.draw_ends import quantiles, recentred
from steelyard.analysis.intervals.draws import HALF_ROW
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.intervals.rate_intervals import jeffreys
from steelyard.arrays import checks
from steelyard.arrays.numbers import weight_per_row
from steelyard.arrays.sparse import cell_entries
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.spec import MetricSpec
from steelyard.tables.confusion import joined_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Label, Labels
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.tables.confusion import Confusion

    HierarchyLike: TypeAlias = str | Mapping[Label, Label] | Iterable[tuple[Label, Label]]

_TOP = (None, "")  # what may stand for no parent


@dataclass(frozen=True)
class Hierarchy:
    """The path of each label, from the top to the label itself.

    >>> paths = Hierarchy.of(["animal/dog", "animal/cat", "car"], "/")
    >>> paths.depth, paths.names(1)
    (2, {'animal/dog': 'animal', 'animal/cat': 'animal', 'car': 'car'})
    """

    paths: Mapping[Label, Labels]

    @classmethod
    def of(cls, labels: Sequence[Label], given: HierarchyLike) -> Hierarchy:
        """The hierarchy of labels: paths that a separator divides, or the parent of each child."""
        if isinstance(given, str):
            return cls(_divided(labels, given))
        parents = _parents(given)
        known = {*parents, *parents.values()} - {None}
        texts = {label: label if label in known else str(label) for label in labels}  # a file's children are text
        for label, text in texts.items():
            if text not in known:
                near = did_you_mean(str(label), map(str, known))
                raise InputError(
                    f"The label {label!r} has no parent in hierarchy=; give each label one, None for those at the top."
                    f"{near}"
                )
        return cls({label: (*_path(text, parents)[:-1], label) for label, text in texts.items()})

    @property
    def depth(self) -> int:
        """The number of levels."""
        return max(map(len, self.paths.values()), default=0)

    def names(self, level: int) -> dict[Label, Label]:
        """The node of each label at a level, 1 being the top; a shorter path ends in the label itself."""
        return {label: path[: min(level, len(path))][-1] for label, path in self.paths.items()}

    def codes(self, labels: Labels) -> Array:
        """The nodes of each label's path as numbers, a row for each label, -1 beyond its end."""
        book: dict[Label, int] = {}
        codes = np.full((len(labels), self.depth), -1, dtype=np.int64)
        for row, label in enumerate(labels):
            path = self.paths[label]
            codes[row, : len(path)] = [book.setdefault(node, len(book)) for node in path]
        return codes


def _divided(labels: Sequence[Label], separator: str) -> dict[Label, Labels]:
    """The paths of labels that a separator divides, each node named by the path to it."""
    if not separator:
        raise InputError("hierarchy= is the text between the parts of a path, such as '/'; an empty one divides none.")
    if not any(isinstance(label, str) and separator in label for label in labels):
        raise InputError(
            f"No label holds {separator!r}, by which hierarchy= divides paths such as {f'animal{separator}dog'!r}; "
            "name the text between the parts, or give the parent of each label."
        )
    paths = {}
    for label in labels:
        parts = str(label).split(separator)
        if not all(part.strip() for part in parts):
            raise InputError(
                f"The label {label!r} has an empty part between {separator!r}; write each part of the path."
            )
        above = [separator.join(parts[:length]) for length in range(1, len(parts))]
        paths[label] = (*above, label)
    return paths


def _parents(given: Mapping[Label, Label] | Iterable[tuple[Label, Label]]) -> dict[Label, Label]:
    if not isinstance(given, (Mapping, Iterable)):
        raise InputTypeError(f"hierarchy= is a separator or the parent of each label, not {type(given).__name__}.")
    parents: dict[Label, Label] = {}
    for pair in given.items() if isinstance(given, Mapping) else given:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError("hierarchy= lists pairs, a child and its parent.")
        child, parent = pair[0], None if pair[1] in _TOP else pair[1]
        if child in parents and parents[child] != parent:
            raise InputError(
                f"hierarchy= gives {child!r} two parents, {parents[child]!r} and {parent!r}; give each child one."
            )
        parents[child] = parent
    return parents


def _path(label: Label, parents: Mapping[Label, Label]) -> Labels:
    path, node = [label], parents.get(label)
    while node is not None:
        if node in path:
            around = " > ".join(map(repr, [*path[path.index(node) :], node]))
            raise InputError(f"hierarchy= goes in a circle: {around}; the parents of a label must end at the top.")
        path.append(node)
        node = parents.get(node)
    return tuple(reversed(path))


# ---------------------------------------------------------------- errors by level
# How often a classifier is right at each level of a hierarchy, and how far its errors go.
#
# Hierarchical precision, recall and F by Kiritchenko, Matwin and Famili (2005), as Silla and Freitas (2011, Data Mining
# and Knowledge Discovery 22, 31-72) recommend them: of the nodes on the path of each prediction, the share that is on
# that of the truth, and the other way round; sums over rows, the top of all paths left out.


PATH_METRICS = ("hierarchical precision", "hierarchical recall", "hierarchical F")
_DRAWS, _PAIRS = 10_000, 5


@dataclass(frozen=True)
class BoundedValue:
    """A value with the bounds of its interval; NaN where it has none."""

    value: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class Level:
    """One level: its classes, the accuracy there, the errors, which share of them keeps the parent, and the pairs."""

    level: int
    classes: int
    accuracy: BoundedValue
    errors: float
    inside: BoundedValue
    pairs: tuple[ConfusedPair, ...] = ()


@dataclass(frozen=True)
class LevelErrors:
    """The errors of a table by the levels of a hierarchy, the top first, and the metrics over all levels by name."""

    levels: tuple[Level, ...]
    metrics: Mapping[str, BoundedValue]


def level_errors(table: Confusion, given: HierarchyLike, inference: Inference) -> LevelErrors:
    """The errors of a table by the levels of a hierarchy.

    >>> from steelyard import confusion
    >>> from steelyard.analysis.intervals.inference import Inference
    >>> table = confusion(["a/x", "a/y", "b/z"], ["a/y", "a/y", "a/x"])
    >>> [round(level.accuracy.value, 2) for level in level_errors(table, "/", Inference()).levels]
    [0.67, 0.33]
    """
    if inference.prevalence is not None:
        raise InputError("hierarchy= is read at the prevalence of the rows; leave prevalence= out, or weight the rows.")
    tree = Hierarchy.of(table.labels, given)
    levels: list[Level] = []
    for depth in range(1, tree.depth + 1):
        names = tree.names(depth)
        joined = joined_classes(table, names)
        of_level = _renamed_rows(inference, names)
        accuracy = table_intervals([MetricSpec.of("accuracy")], joined, CallOptions(), of_level)[0]
        errors = float(joined.matrix.sum() - joined.hits.sum())
        clustered = inference.clustered is not None
        level = Level(
            depth,
            classes=len(joined.labels),
            accuracy=BoundedValue(float(accuracy.value), float(accuracy.low), float(accuracy.high)),
            errors=errors,
            inside=_inside(table, errors - levels[-1].errors, errors, inference) if levels else BoundedValue(math.nan),
            pairs=tuple(confused_pairs(joined, inference.level, most=_PAIRS, clustered=clustered)),
        )
        levels.append(level)
    return LevelErrors(tuple(levels), _path_metrics(table, tree, inference))


def _renamed_rows(inference: Inference, names: Mapping[Label, Label]) -> Inference:
    """The same inference, of rows in clusters with the labels of a level."""
    rows = inference.clustered
    if rows is None or rows.y_pred is None:
        return inference
    true, pred = (_renamed(checks.column(part, "y_true"), names) for part in (rows.y_true, rows.y_pred))
    return replace(inference, clustered=rows._replace(y_true=true, y_pred=pred))


def _renamed(column: Array, names: Mapping[Label, Label]) -> Array:
    distinct, codes = np.unique(column, return_inverse=True)
    return checks.column([names[label] for label in distinct.tolist()], "labels")[codes]


def _inside(table: Confusion, hits: float, errors: float, inference: Inference) -> BoundedValue:
    """The share of the errors of a level whose parent is right, with Jeffreys' interval of their effective rows."""
    if not errors > 0:
        return BoundedValue(math.nan)
    hits = min(max(hits, 0.0), errors)
    if inference.clustered is not None:
        return BoundedValue(hits / errors)
    per_row = _row_weight(table)
    low, high = jeffreys(np.array(hits / per_row), np.array(errors / per_row), inference.level)
    return BoundedValue(hits / errors, float(low), float(high))


def _row_weight(table: Confusion) -> float:
    return float(weight_per_row(table.weights.sum(), table.squares.sum())) if table.weighted else 1.0


def _path_metrics(table: Confusion, tree: Hierarchy, inference: Inference) -> dict[str, BoundedValue]:
    """Precision, recall and F of the nodes on the paths, over all rows."""
    kinds, weights = _path_lengths(table, tree)
    values = _ratios(kinds, weights[:, None])[:, 0]
    if inference.clustered is not None or not weights.sum():
        return {name: BoundedValue(float(value)) for name, value in zip(PATH_METRICS, values, strict=True)}
    mean = float(weights @ kinds[:, 1] / weights.sum())
    added = np.array([[mean] * 3, [0, mean, mean]])  # half a row that is right, and half one that is wrong at the top
    kinds = np.concatenate([kinds, added])
    effective_rows = np.append(weights / _row_weight(table), [HALF_ROW] * 2)
    size = (len(effective_rows), inference.draws or _DRAWS)
    drawn = inference.generator.standard_gamma(effective_rows[:, None], size)
    low, high = quantiles(_ratios(kinds, drawn), inference.tails)
    moved = recentred((low, high), values, _ratios(kinds, effective_rows[:, None])[:, 0], (0.0, 1.0))
    low = np.minimum(np.fmin(low, moved[0]), values)
    high = np.maximum(np.fmax(high, moved[1]), values)
    bounds = zip(PATH_METRICS, values.tolist(), low.tolist(), high.tolist(), strict=True)
    return {name: BoundedValue(value, below, above) for name, value, below, above in bounds}


def _path_lengths(table: Confusion, tree: Hierarchy) -> tuple[Array, Array]:
    """The nodes that truth and prediction share and those of either, and the weight of each such kind of rows."""
    codes = tree.codes(table.labels)
    true, predicted, weights = cell_entries(table.matrix)
    shared = ((codes[true] == codes[predicted]) & (codes[true] >= 0)).sum(1)
    depth = (codes >= 0).sum(1)
    kinds, which = np.unique(np.stack([shared, depth[true], depth[predicted]], 1), axis=0, return_inverse=True)
    return kinds.astype(np.float64), np.bincount(which.ravel(), weights.astype(np.float64), minlength=len(kinds))


def _ratios(kinds: Array, weights: Array) -> Array:
    """Precision, recall and F where the kinds of rows have these weights, draws on the last axis."""
    shared, true, predicted = (column @ weights for column in kinds.T)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack([shared / predicted, shared / true, 2 * shared / (true + predicted)])
