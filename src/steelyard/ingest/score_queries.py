"""Queries of scores: whether they can be used, and how many rows of each label fall in each bin."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest import text_cells
from steelyard.ingest.finite_numbers import as_number, is_finite, is_infinite
from steelyard.ingest.queries import MOST_KEYS, NO_ROWS, KeyCounts, collect, column_precision, sum_by_key
from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    import narwhals as nw

    from steelyard._types import Array
    from steelyard.ingest.source import ColumnNames, Source

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
        first = text_cells.first_not_finite(source, score)
        raise InputError(text_cells.not_finite_sentence(score, total - fine - infinite, infinite, first))
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
