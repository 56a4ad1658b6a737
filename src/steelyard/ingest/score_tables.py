"""Score tables: the scores of each group, every one of them or by bin, as ScoreTables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError
from steelyard.ingest import arrays, bad_rows, csv_values, label_codes, queries, score_queries
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.label_tables import groups, picked, resolved, values
from steelyard.statistics import score_bins
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.ingest.queries import Keyed
    from steelyard.ingest.source import Source, Wish

EXACT_ROWS = 10_000_000  # rows of two columns that a machine can be expected to hold


Tables = dict[tuple[Any, ...], ScoreTable]


def score_tables(source: Source, wish: Wish) -> tuple[Tables, tuple[Any, ...]]:
    """The table of all rows, under no key, and those of each group; exact where the rows fit, else by bin. The labels.

    A table of scores itself keeps the label of its positives alone.
    """
    columns = wish.columns
    score = str(columns.score)
    seen = score_queries.checked(source, score)
    if seen.missing or seen.infinite:
        kinds = {"missing (null or NaN)": seen.missing, "infinite": seen.infinite}
        told = " and ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n) + bad_rows.first_not_finite(
            source, score
        )
        raise InputError(
            f"The column {score!r} holds scores that are not numbers: {told}; a score is a finite number. "
            "Drop such rows first."
        )
    if not seen.rows:
        raise InputError("There are no rows to weigh; give at least one.")
    fits = source.in_memory or seen.rows <= EXACT_ROWS
    if fits if wish.exact is None else wish.exact:
        return _exact_tables(source, wish)
    return _binned_tables(source, wish, (seen.low, seen.high))


def _exact_tables(source: Source, wish: Wish) -> tuple[Tables, tuple[Any, ...]]:
    """Every score, through the door for arrays."""
    columns = wish.columns
    used = {"score": columns.score, "weight": columns.weight, "frequency": columns.frequency}
    names = [columns.true, *columns.by, *(name for name in used.values() if name is not None)]
    data = queries.gathered(source, names)
    true, label, known = _truth(data[columns.true].to_native(), wish, source.textual)
    read = {use: None if name is None else numbers(data[name], name) for use, name in used.items()}
    for use in ("weight", "frequency"):
        read[use] = arrays.weights(read[use], f"The column {used[use]!r}", whole=use == "frequency")

    def table(held: Array) -> ScoreTable:
        part = {use: None if column is None else column[held] for use, column in read.items()}
        weights = {"sample_weight": part["weight"], "frequency": part["frequency"]}
        found = score_table(true[held], part["score"], pos_label=True, labels=[False, True], **weights)
        return ScoreTable(found.positive, found.negative, label)

    held = groups([data[name].to_list() for name in columns.by], len(true), source.textual)
    return {key: table(held) for key, held in held.items()}, known


def _truth(column: Any, wish: Wish, textual: bool) -> tuple[Array, Any, tuple[Any, ...]]:
    """Which rows are positive, the label that says so, and all labels."""
    name = f"The column {wish.columns.true!r}"
    codes, labels = label_codes.distinct(arrays.column(column, name), name)
    found = np.array([*labels, None], dtype=object)[:-1]
    found = csv_values.labels([found], [wish.columns.true])[0] if textual else found
    label, known = _positive(found, wish)
    return np.array([bool(value == label) for value in found.tolist()], dtype=bool)[codes], label, known


def numbers(series: Any, name: str) -> Array:
    """A column of numbers, read from text where a file has nothing else."""
    import narwhals as nw

    series = series.cast(nw.Float64) if series.dtype == nw.String else series
    return arrays.numbers(series.to_native(), f"The column {name!r}")


def _positive(found: Array, wish: Wish) -> tuple[Any, tuple[Any, ...]]:
    _, known = label_codes.encode(found, wish.labels, f"The column {wish.columns.true!r}")
    label = resolved(wish.pos_label, known)
    if label is None:
        where = f" of the column {wish.columns.true!r}"
        label = Confusion.of_rows(known, np.zeros((0, 0), dtype=np.int64)).positive_label(where)
    return label, known


def _binned_tables(source: Source, wish: Wish, ends: tuple[float, float]) -> tuple[Tables, tuple[Any, ...]]:
    """The scores of each label by bin: each class at the lowest score of its bin, what overlaps blurred."""
    columns, by = wish.columns, len(wish.columns.by)
    counted = score_queries.binned(source, columns, ends, wish.threshold)
    true = values(counted.keys[by], columns.true)
    true = csv_values.labels([true], [columns.true])[0] if source.textual else true
    label, known = _positive(true, wish)
    positive = np.array([bool(value == label) for value in true.tolist()], dtype=bool)
    which = groups([key.tolist() for key in counted.keys[:by]], len(counted.rows), source.textual)
    return {key: _binned(counted, held, positive[held], label) for key, held in which.items()}, known


def _binned(counted: Keyed, held: Array, positive: Array, label: Any) -> ScoreTable:
    assert counted.low is not None and counted.high is not None  # noqa: S101 - a query of bins always tells
    low, high = counted.low[held] + 0.0, counted.high[held] + 0.0  # -0.0 becomes 0.0
    wide = high > low
    ranges = score_bins.merge_bins(np.column_stack([low[wide], high[wide]]))
    mass = picked(counted, held)
    sides = []
    for which in (positive, ~positive):
        rows, weights, squares = (None if part is None else part[which] for part in mass)
        ties = [part for part in (squares, weights, rows) if part is not None]  # summed in one order, whatever is given
        order = np.lexsort((*ties, low[which]))
        rows, weights, squares = (None if part is None else part[order] for part in (rows, weights, squares))
        sides.append(score_bins.lowered(ClassScores(low[which][order], rows, weights, squares), ranges).compact())
    return ScoreTable(sides[0], sides[1], label, ranges)
