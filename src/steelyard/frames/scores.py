"""Scores of frames: whether they can be used, and the scores of each group as tables, every one or by bin."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.arrays import label_codes
from steelyard.arrays.backend import DOUBLE, as_read
from steelyard.arrays.labels import CONVENTION, chosen_label
from steelyard.exceptions import InputError
from steelyard.frames import decoding, queries, rows
from steelyard.frames.decoding import match_label, rows_of_groups, sorted_groups
from steelyard.frames.queries import (
    MOST_KEYS,
    NO_ROWS,
    KeyCounts,
    as_number,
    collect,
    column_precision,
    is_finite,
    is_infinite,
    sum_by_key,
)
from steelyard.frames.rows import read_counts
from steelyard.tables.array_tables import score_table
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.score_table import ScoreTable, lowered, merge_bins

if TYPE_CHECKING:
    import narwhals as nw

    from steelyard._types import Array, Label, Labels
    from steelyard.frames.source import ColumnNames, Source, TallyRequest


BINS = 2**16


@dataclass(frozen=True)
class ScoreRange:
    """How many scores a column holds, and the lowest and highest of them."""

    rows: int
    low: float
    high: float


def score_range(source: Source, score: str) -> ScoreRange:
    """The range of a column of scores, in one aggregation a part; missing and infinite ones are refused, or no rows."""
    import narwhals as nw

    summaries = []
    for frame in source.parts:
        # Engines differ in whether NaN is null, and whether it is a maximum; a count of what is finite is the same.
        value = nw.col(score).cast(nw.Float64)
        finite, endless = as_number(is_finite(value)), as_number(is_infinite(value))
        part = frame.select(value.alias("s"), finite.alias("finite"), endless.alias("infinite"))
        ends = (nw.col("s").min().alias("low"), nw.col("s").max().alias("high"))
        row = collect(part.select(nw.len().alias("rows"), nw.col("finite").sum(), nw.col("infinite").sum(), *ends))
        summaries.append([row.get_column(name).to_list()[0] for name in ("rows", "finite", "infinite", "low", "high")])
        source.step()
    total, fine, infinite = (sum(int(part[i] or 0) for part in summaries) for i in range(3))
    if fine < total:
        first = decoding.first_not_finite(source, score)
        raise InputError(decoding.not_finite_sentence(score, total - fine - infinite, infinite, first))
    if not total:
        raise InputError(NO_ROWS)
    lows, highs = ([part[i] for part in summaries if isinstance(part[i], float)] for i in (3, 4))
    return ScoreRange(total, min(lows), max(highs))


def fitting_bins(rows: Array) -> int:
    """How many bins, a power of two, the scores of each group and label may have so that one query can bring all back.

    `rows` has the rows of each group and label, which are no more than the bins that they can fill.
    """
    bins = BINS
    while bins > 2 and np.minimum(rows, bins + 1).sum() > MOST_KEYS:
        bins //= 2
    return bins


def count_bins(
    source: Source, columns: ColumnNames, ends: tuple[float, float], threshold: float | None, bins: int
) -> KeyCounts:
    """The rows of each label in each bin of the scores, with the lowest and the highest score there: one query a part.

    The bins are as wide as a power of two and start at a multiple of it, so that those of different parts nest; the
    threshold divides the bin it falls in.
    """
    import narwhals as nw

    width, base = bin_grid(*ends, bins)
    score = nw.col(str(columns.score)).cast(nw.Float64)
    scaled = _scaled(score, width) if source.parts[0].implementation.is_ibis() else score * (1 / width)
    place = (scaled.floor() - base / width).cast(nw.Int64)
    if threshold is not None and math.isfinite(threshold):
        read = as_read(threshold, column_precision(source, str(columns.score)))
        place = place * 2 + as_number(score >= read)
    return sum_by_key(source, [*columns.by, columns.true, place], columns, score=score, most=MOST_KEYS)


def _scaled(score: nw.Expr, width: float) -> nw.Expr:
    """The scores in widths of a bin; those too small to be divided, at which PostgreSQL fails, by their sign alone."""
    import narwhals as nw

    least = sys.float_info.min * max(width, 1.0)
    sign = nw.when(score < 0).then(nw.lit(-1.0)).otherwise(nw.lit(0.0))
    return nw.when(score.abs() < least).then(sign).otherwise(score * (1 / width))


def bin_grid(low: float, high: float, bins: int) -> tuple[float, float]:
    """The width of the bins, a power of two, and the multiple of it where they start; one grid for all of [0, 1]."""
    if low >= 0 and high <= 1:
        return 1 / bins, 0.0
    # Never narrower than the numbers themselves are apart, nor so narrow that 1 / width is infinite.
    least = max(math.ulp(max(abs(low), abs(high))), 2.0**-1000)
    width = 2.0 ** math.ceil(math.log2(max(high / bins - low / bins, least)))
    return width, math.floor(low / width) * width


# ---------------------------------------------------------------- score tables


Tables = dict[tuple[Hashable, ...], ScoreTable]


def score_tables(source: Source, request: TallyRequest) -> tuple[Tables, Labels]:
    """The table of all rows, under no key, and those of each group; exact where the rows fit, else by bin. The labels.

    A table of scores itself keeps the label of its positives alone.
    """
    if source.in_memory and request.exact is not False:
        return _exact_tables(source, request)
    found = score_range(source, str(request.columns.score))
    # Of other machines no more rows are fetched than bins would be.
    fits = found.rows <= (BINS if source.is_remote else rows.EXACT_ROWS)
    if fits if request.exact is None else request.exact:
        return _exact_tables(source, request)
    return _binned_tables(source, request, (found.low, found.high))


def _exact_tables(source: Source, request: TallyRequest) -> tuple[Tables, Labels]:
    """Every score, counted as arrays are."""
    columns = request.columns
    name = str(columns.score)
    fetched = rows.fetch_rows(
        source,
        true=columns.true,
        score=(name,),
        weight=columns.weight,
        frequency=columns.frequency,
        by=columns.by,
        labels=request.labels,
    )
    if not len(fetched.labels[0]):
        raise InputError(queries.NO_ROWS)
    weight, frequency, scores = fetched.weights, fetched.frequency, fetched.scores[name]
    true, label, labels = _truth(fetched.labels[0], frequency, request)

    def table(places: Array) -> ScoreTable:
        exact = score_table(
            true[places],
            scores[places],
            pos_label=True,
            labels=[False, True],
            sample_weight=None if weight is None else weight[places],
            frequency=None if frequency is None else frequency[places],
        )
        return replace(exact, label=label)

    groups = rows_of_groups(list(fetched.by.values()), len(true))
    return {group: table(places) for group, places in groups.items()}, labels


def _truth(true: Array, frequency: Array | None, request: TallyRequest) -> tuple[Array, Label, Labels]:
    """Which rows are positive, the positive label, and all labels."""
    codes, distinct = label_codes.distinct(true, f"The column {request.columns.true!r}")
    values = queries.key_column(list(distinct))
    label, labels = _positive(values, label_codes.counts(codes, len(values), frequency), request)
    return _equal(values, label)[codes], label, labels


def _equal(values: Array, label: Label) -> Array:
    return np.array([bool(value == label) for value in values.tolist()], dtype=bool)


def _positive(values: Array, rows: Array, request: TallyRequest) -> tuple[Label, Labels]:
    """The positive label, which the table of scores states, and all labels."""
    name = request.columns.true
    codes, labels = label_codes.encode(values, request.labels, f"The column {name!r}")
    label = match_label(CONVENTION if request.pos_label is None else request.pos_label, labels)
    where = f" of the column {name!r}"
    return chosen_label(label, labels, lambda: label_codes.counts(codes, len(labels), rows), where), labels


def _binned_tables(source: Source, request: TallyRequest, ends: tuple[float, float]) -> tuple[Tables, Labels]:
    """The scores of each label by bin: each class at the lowest score of its bin, bins that overlap made one.

    All rows have the most bins there are; those of the groups are a query of their own, with as many as it can fetch.
    """
    columns = request.columns
    sizes = queries.sum_by_key(source, [*columns.by, columns.true], replace(columns, weight=None, frequency=None))
    sorted_groups(key for key in _group_places(sizes, request, source) if key)  # refuses too many before the bins
    whole = replace(sizes, rows=np.full(len({*sizes.keys[-1].tolist()}), int(sizes.rows.sum())))
    tables, present = _binned_groups(source, replace(request, columns=replace(columns, by=())), ends, whole)
    groups = _binned_groups(source, request, ends, sizes)[0] if columns.by else {}
    return {**groups, **tables}, present


def _group_places(counted: KeyCounts, request: TallyRequest, source: Source) -> dict[Labels, Array]:
    keys = counted.keys[: len(request.columns.by)]
    return rows_of_groups([rows.read_groups(source, key) for key in keys], len(counted.rows))


def _binned_groups(
    source: Source, request: TallyRequest, ends: tuple[float, float], sizes: KeyCounts
) -> tuple[Tables, Labels]:
    """The binned scores of each group and of all rows, of one query; `sizes` are the rows of each key."""
    bins = fitting_bins(sizes.rows)
    counted = count_bins(source, request.columns, ends, request.threshold, bins)
    precision = queries.column_precision(source, str(request.columns.score))
    return _of_bins(source, request, counted, precision, sizes.keys[-1])


def counted_score_tables(source: Source, request: TallyRequest) -> tuple[Tables, Labels]:
    """The same of the lines of a counting query, which has one grid of bins for all rows and for the groups."""
    columns = request.columns
    counted = read_counts(source, [*columns.by, columns.true], bins=True)
    if not counted.rows.sum():
        raise InputError(queries.NO_ROWS)
    tables, labels = _of_bins(source, request, counted, DOUBLE, counted.keys[-1])
    sorted_groups(key for key in tables if key)
    return tables, labels


def _of_bins(
    source: Source, request: TallyRequest, counted: KeyCounts, precision: str, present: Array
) -> tuple[Tables, Labels]:
    """The tables of counted bins; `present` are the labels of all rows, those of no weight among them."""
    columns = request.columns
    true = np.concatenate([counted.keys[len(columns.by)], present])
    true = rows.read_labels(source, [true], [columns.true], request.labels)[0]
    label, labels = _positive(true, np.concatenate([counted.rows, np.zeros(len(present), np.int64)]), request)
    positive = _equal(true, label)[: len(counted.rows)]
    groups = _group_places(counted, request, source)
    binned = {group: _binned(counted, rows, positive[rows], label) for group, rows in groups.items()}
    return {group: replace(table, precision=precision) for group, table in binned.items()}, labels


def _binned(counted: KeyCounts, places: Array, positive: Array, label: Label) -> ScoreTable:
    assert counted.low is not None and counted.high is not None  # noqa: S101 - a query of bins always has them
    low, high = counted.low[places] + 0.0, counted.high[places] + 0.0  # -0.0 becomes 0.0
    wide = high > low
    bins = merge_bins(np.column_stack([low[wide], high[wide]]))
    positives, negatives = (_class_scores(counted, places, low, which, bins) for which in (positive, ~positive))
    return ScoreTable(positives, negatives, label, bins)


def _class_scores(counted: KeyCounts, places: Array, low: Array, which: Array, bins: Array) -> ClassScores:
    """The rows of one class at the lower ends of their bins."""
    parts = counted.at(places[which])
    ties = [part for part in parts[::-1] if part is not None]  # summed in one order, whatever is given
    order = np.lexsort((*ties, low[which]))
    rows, weights, squares = (None if part is None else part[order] for part in parts)
    return lowered(ClassScores(low[which][order], rows, weights, squares), bins).compact()
