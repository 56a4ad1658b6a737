"""Exact sums: the weights of rows, checked in one aggregation, then summed as whole numbers.

Engines sum in parallel, and floating-point sums then differ in their last digits from run to run. Each weight is
therefore split into whole numbers of 28 bits, whose sums no order changes, on any engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError
from steelyard.ingest import arrays
from steelyard.ingest.finite_numbers import as_number, is_finite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import narwhals as nw

    from steelyard.ingest.source import ColumnNames, Source

    Collect = Callable[[nw.LazyFrame[Any]], nw.DataFrame[Any]]

BITS, LIMBS = 28, 3  # 2**35 rows of 28 bits fit 64; 84 bits hold the digits of weights within nine decades
_DIGITS = 53  # bits of a float64
_MOST_LIMBS = 35  # beyond which a power of two is no finite number
HIGHEST = 1_000  # the exponent of a scale that is still a finite number
_LEAST = {"least_mass": "mass", "least_square": "square"}  # of those above 0


@dataclass(frozen=True)
class WeightScales:
    """The powers of two that bring the largest weight, and the largest squared one, just below 2**28.

    The limbs are as many as leave the smallest of them its digits. `large` says that a frequency exceeds 2**53.
    """

    weight: int
    square: int
    weight_limbs: int = LIMBS
    square_limbs: int = LIMBS
    large: bool = False


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
    least = [min((part[name] for part in summaries if part[name]), default=1.0) for name in _LEAST]
    scales = [min(BITS - math.frexp(value)[1], HIGHEST) for value in most]
    large = max(part["most_times"] for part in summaries) >= 2**_DIGITS
    limbs = [_limbs_between(low, high) for low, high in zip(least, most, strict=True)]
    return WeightScales(scales[0], scales[1], limbs[0], limbs[1], large)


def _limbs_between(least: float, most: float) -> int:
    """How many limbs hold the digits of the least number beside the most."""
    bits = math.frexp(most)[1] - math.frexp(least)[1] + _DIGITS + 1
    return min(max(LIMBS, -(-bits // BITS)), _MOST_LIMBS)


def _summary(frame: nw.LazyFrame[Any], columns: ColumnNames, collect: Collect) -> dict[str, Any]:
    """Rows, finite values, least and most of the weights of a part."""
    import narwhals as nw

    weight, times = _floats(columns)
    values = {"weight": weight, "times": times, "mass": weight * times, "square": weight * weight * times}
    finite = {f"finite_{use}": as_number(is_finite(values[use])) for use in ("weight", "times")}
    # The floor of Ibis is an integer, which NaN is none of; not every other engine has a remainder.
    broken = {"broken": times % 1.0 if frame.implementation.is_ibis() else times - times.floor()}
    positive = {least: nw.when(values[name] > 0).then(values[name]) for least, name in _LEAST.items()}
    part = frame.select(*(value.alias(name) for name, value in {**values, **finite, **broken, **positive}.items()))
    sums = [nw.col(name).sum() for name in finite] + [nw.col("times").sum().alias("sum_times"), nw.col("broken").max()]
    ends = [nw.col(name).min().alias(f"least_{name}") for name in ("weight", "times")]
    ends += [nw.col(name).max().alias(f"most_{name}") for name in values]
    ends += [nw.col(name).min() for name in _LEAST]
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
    row_count = as_number(weight * times > 0)
    if columns.frequency is not None:
        kind, column = frame.collect_schema()[columns.frequency], nw.col(columns.frequency)
        text = kind == nw.String and scales.large  # whose numbers a float would round
        whole = column if kind.is_integer() else column.str.strip_chars() if text else times
        row_count = row_count * whole.cast(nw.Int64)
    if columns.weight is None:
        return [row_count.alias("row_count")]
    to_integers = frame.implementation.is_spark_like() or frame.implementation.is_ibis()
    limbs = [
        *_limbs(weight * times, "weight", scales.weight, scales.weight_limbs, floors_to_integers=to_integers),
        *_limbs(weight * weight * times, "square", scales.square, scales.square_limbs, floors_to_integers=to_integers),
    ]
    return [row_count.alias("row_count"), *limbs]


def _limbs(value: nw.Expr, name: str, scale: int, size: int, *, floors_to_integers: bool) -> list[nw.Expr]:
    import narwhals as nw

    # Each step is exact: scaling by a power of two, the whole part, and the difference of two neighbours of at most
    # 2**28.
    scaled = [value * 2.0**scale * 2.0 ** (BITS * i) for i in range(size)]
    wholes = [_whole_part(part) if floors_to_integers else part.floor() for part in scaled]
    limbs = [wholes[0], *(wholes[i] - wholes[i - 1] * 2.0**BITS for i in range(1, size))]
    return [limb.cast(nw.Int64).alias(f"{name}{i}") for i, limb in enumerate(limbs)]


def _whole_part(value: nw.Expr) -> nw.Expr:
    """The whole part where the floor is an integer of 64 bits, as of Spark and Ibis, which later limbs exceed.

    From 2**53 on every number is whole. The remainder would not do: SQL's sign of it differs, so that engines add one,
    which rounds it.
    """
    import narwhals as nw

    small = value < 2.0**_DIGITS
    return nw.when(small).then(value).otherwise(0.0).floor().cast(nw.Float64) + nw.when(small).then(0.0).otherwise(
        value
    )


def sum_names(columns: ColumnNames, scales: WeightScales | None) -> list[str]:
    """The columns that are summed."""
    if columns.weight is None or scales is None:
        return [] if columns.frequency is None else ["row_count"]
    sizes = {"weight": scales.weight_limbs, "square": scales.square_limbs}
    return ["row_count", *(f"{name}{i}" for name, size in sizes.items() for i in range(size))]


def from_limbs(limbs: Sequence[Sequence[int]], scale: int) -> list[float]:
    """The sums of the limbs as numbers again, rounded once."""
    low = BITS * (len(limbs) - 1)
    wholes = (sum(int(limb) << (low - BITS * i) for i, limb in enumerate(row)) for row in zip(*limbs, strict=True))
    return [math.ldexp(float(whole), -(scale + low)) for whole in wholes]
