"""Exact sums: the weights of rows, checked in one aggregation, then summed as whole numbers.

Engines sum in parallel, and floating-point sums then differ in their last digits from run to run. Each weight is
therefore split into whole numbers of 28 bits, whose sums no order changes, on any engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError
from steelyard.ingest import arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import narwhals as nw

    from steelyard.ingest.source import ColumnNames, Source

    Collect = Callable[[nw.LazyFrame[Any]], nw.DataFrame[Any]]

BITS, LIMBS = 28, 3  # 2**35 rows of 28 bits fit 64; 84 bits below the largest weight leave every other its digits
HIGHEST = 1_000  # the exponent of a scale that is still a finite number


@dataclass(frozen=True)
class WeightScales:
    """The powers of two that bring the largest weight, and the largest squared one, just below 2**28."""

    weight: int
    square: int


def weight_scales(source: Source, columns: ColumnNames, collect: Collect) -> WeightScales | None:
    """What the weights are scaled by; those missing, not finite, negative, broken or all zero are refused."""
    if columns.weight is None and columns.frequency is None:
        return None
    summaries = [_summary(frame, columns, collect) for frame in source.parts]
    summaries = [part for part in summaries if part["rows"]]
    if not summaries:
        return WeightScales(0, 0)
    _check(summaries, columns)
    most = [max(part[name] for part in summaries) for name in ("most_mass", "most_square")]
    if not all(map(math.isfinite, most)):
        raise InputError(
            f"{_column_names(columns)} holds weights whose squares are too large for a number; divide all of them by "
            "the largest."
        )
    return WeightScales(*(min(BITS - math.frexp(value)[1], HIGHEST) for value in most))


def _summary(frame: nw.LazyFrame[Any], columns: ColumnNames, collect: Collect) -> dict[str, Any]:
    """Rows, finite values, least and most of the weights of a part."""
    import narwhals as nw

    weight, times = _floats(columns)
    values = {"weight": weight, "times": times, "mass": weight * times, "square": weight * weight * times}
    finite = {f"finite_{use}": values[use].is_finite().cast(nw.Int64) for use in ("weight", "times")}
    broken = {"broken": times - times.floor()}
    part = frame.select(*(value.alias(name) for name, value in {**values, **finite, **broken}.items()))
    sums = [nw.col(name).sum() for name in finite] + [nw.col("times").sum().alias("sum_times"), nw.col("broken").max()]
    ends = [nw.col(name).min().alias(f"least_{name}") for name in ("weight", "times")]
    ends += [nw.col(name).max().alias(f"most_{name}") for name in values]
    row = collect(part.select(nw.len().alias("rows"), *sums, *ends))
    return {name: row.get_column(name).to_list()[0] for name in row.columns}


def _floats(columns: ColumnNames) -> tuple[nw.Expr, nw.Expr]:
    import narwhals as nw

    names = (columns.weight, columns.frequency)
    weight, times = (nw.lit(1.0) if name is None else nw.col(name).cast(nw.Float64) for name in names)
    if columns.weight is None:  # a literal alone has no rows
        weight = times * 0.0 + 1.0
    if columns.frequency is None:
        times = weight * 0.0 + 1.0
    return weight, times


def _column_names(columns: ColumnNames) -> str:
    return " or ".join(f"The column {name!r}" for name in (columns.weight, columns.frequency) if name is not None)


def _check(summaries: Sequence[dict[str, Any]], columns: ColumnNames) -> None:
    for name, use in ((columns.weight, "weight"), (columns.frequency, "times")):
        if name is None:
            continue
        column = f"The column {name!r}"
        if any(part[f"finite_{use}"] < part["rows"] for part in summaries):
            raise InputError(arrays.not_finite(column))
        least, most = min(part[f"least_{use}"] for part in summaries), max(part[f"most_{use}"] for part in summaries)
        arrays.check_weights(least, most, column)
        if use == "times" and any(part["broken"] for part in summaries):
            raise InputError(arrays.not_whole(column))
        if use == "times":
            arrays.check_rows(sum(part["sum_times"] for part in summaries), column)
    if not any(part["most_mass"] for part in summaries):
        raise InputError(arrays.weightless(_column_names(columns)))


def numbers_to_sum(frame: nw.LazyFrame[Any], columns: ColumnNames, scales: WeightScales | None) -> list[nw.Expr]:
    """The whole numbers to sum a row; made before they are summed, since engines sum plain columns best."""
    import narwhals as nw

    if scales is None:
        return []
    weight, times = _floats(columns)
    row_count = (weight * times > 0).cast(nw.Int64)
    if columns.frequency is not None:
        exact = frame.collect_schema()[columns.frequency].is_integer()
        row_count = row_count * (nw.col(columns.frequency) if exact else times).cast(nw.Int64)
    if columns.weight is None:
        return [row_count.alias("row_count")]
    limbs = [
        *_limbs(weight * times, "weight", scales.weight),
        *_limbs(weight * weight * times, "square", scales.square),
    ]
    return [row_count.alias("row_count"), *limbs]


def _limbs(value: nw.Expr, name: str, scale: int) -> list[nw.Expr]:
    import narwhals as nw

    limbs, rest = [], value * 2.0**scale
    for i in range(LIMBS):
        whole = rest.floor()
        limbs.append(whole.cast(nw.Int64).alias(f"{name}{i}"))
        rest = (rest - whole) * 2.0**BITS
    return limbs


def sum_names(columns: ColumnNames) -> list[str]:
    """The columns that are summed."""
    if columns.weight is None:
        return [] if columns.frequency is None else ["row_count"]
    return ["row_count", *(f"{name}{i}" for name in ("weight", "square") for i in range(LIMBS))]


def from_limbs(limbs: Sequence[Sequence[int]], scale: int) -> list[float]:
    """The sums of the limbs as numbers again, rounded once."""
    low = BITS * (LIMBS - 1)
    wholes = (sum(int(limb) << (low - BITS * i) for i, limb in enumerate(row)) for row in zip(*limbs, strict=True))
    return [math.ldexp(float(whole), -(scale + low)) for whole in wholes]
