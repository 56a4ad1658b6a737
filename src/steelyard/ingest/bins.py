"""Bins: queries over scores: whether they can be used, and how many rows of each label fall in each bin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.ingest.queries import Keyed, collected, concatenated, grouped, masses

if TYPE_CHECKING:
    from steelyard.ingest.source import Columns, Source

BINS = 2**16


@dataclass(frozen=True)
class Checked:
    """What one aggregation told of a column of scores."""

    rows: int
    missing: int
    infinite: int
    low: float
    high: float


def checked(source: Source, score: str) -> Checked:
    """Rows, missing and infinite scores, and their range, in one aggregation a part."""
    import narwhals as nw

    found = []
    for frame in source.parts:
        value = nw.col(score).cast(nw.Float64)
        bad = (~value.is_finite()).cast(nw.Int64)
        part = frame.select(value.alias("s"), value.is_null().cast(nw.Int64).alias("null"), bad.alias("bad"))
        ends = (nw.col("s").min().alias("low"), nw.col("s").max().alias("high"))
        row = collected(part.select(nw.len().alias("rows"), nw.col("null").sum(), nw.col("bad").sum(), *ends))
        found.append([row.get_column(name).to_list()[0] for name in ("rows", "null", "bad", "low", "high")])
        source.step()
    total, missing, infinite = (sum(int(part[i] or 0) for part in found) for i in range(3))
    lows, highs = ([float(part[i]) for part in found if part[i] is not None] for i in (3, 4))
    return Checked(total, missing, infinite, min(lows, default=math.nan), max(highs, default=math.nan))


def binned(source: Source, columns: Columns, ends: tuple[float, float], cut: float | None) -> Keyed:
    """The rows of each label in each bin of the scores, with the lowest and the highest score there.

    The bins are as wide as a power of two and start at a multiple of it, so that those of different parts nest; a cut
    divides the bin it falls in.
    """
    import narwhals as nw

    width, base = grid(*ends)
    score = nw.col(str(columns.score)).cast(nw.Float64)
    place = ((score - base) * (1 / width)).floor().cast(nw.Int64)
    if cut is not None and math.isfinite(cut):
        place = place * 2 + (score >= cut).cast(nw.Int64)
    keys = [nw.col(name).alias(f"key{i}") for i, name in enumerate([*columns.by, columns.true])]
    low_high = [nw.col("score").min().alias("low"), nw.col("score").max().alias("high")]
    parts = []
    for frame in source.parts:
        rows = frame.select(*keys, place.alias(f"key{len(keys)}"), score.alias("score"), *masses(frame, columns))
        if columns.weight is not None or columns.frequency is not None:
            rows = rows.filter((nw.col("mass") != 0) | (nw.col("missing") > 0))
        parts.append(grouped(rows, len(keys) + 1, columns, low_high))
        source.step()
    return concatenated(parts, columns)


def grid(low: float, high: float) -> tuple[float, float]:
    """The width of the bins, a power of two, and the multiple of it where they start; one grid for all of [0, 1]."""
    if low >= 0 and high <= 1:
        return 1 / BINS, 0.0
    width = 2.0 ** max(math.ceil(math.log2(max(high / BINS - low / BINS, 5e-324))), -1000)
    return width, math.floor(low / width) * width
