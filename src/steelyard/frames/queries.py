"""Queries of frames: counting written once in narwhals and run where the data live. Only small tables come back."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import checks
from steelyard.arrays.backend import DOUBLE, PRECISIONS, finest
from steelyard.arrays.label_codes import MOST_LABELS, too_many_labels
from steelyard.arrays.labels import parse_number, parser
from steelyard.exceptions import InputError, InputTypeError
from steelyard.frames.source import nested_sentence, refuse_polars_after_fork, worded_losses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import narwhals as nw

    from steelyard._types import Array
    from steelyard.frames.source import ColumnNames, Source

    Collect = Callable[[nw.LazyFrame[Any]], nw.DataFrame[Any]]
    Counted = tuple[Array, Array | None, Array | None]


def is_finite(value: nw.Expr) -> nw.Expr:
    """Whether a number is finite; SQLite has no function for it, and NaN is above every number, or none."""
    return value.abs() <= sys.float_info.max


def is_infinite(value: nw.Expr) -> nw.Expr:
    """Whether a number is infinite, of either sign."""
    return value.abs() == math.inf


def is_number(column: nw.Expr) -> nw.Expr:
    """Whether a column of numbers holds one: neither nothing nor NaN."""
    import narwhals as nw

    value = column.cast(nw.Float64)
    return ~column.is_null() & (is_finite(value) | is_infinite(value))


def as_number(condition: nw.Expr) -> nw.Expr:
    """1 where a condition holds and 0 elsewhere; PostgreSQL casts no truth value to a number of 64 bits."""
    import narwhals as nw

    return nw.when(condition).then(nw.lit(1, dtype=nw.Int64)).otherwise(nw.lit(0, dtype=nw.Int64))


# ---------------------------------------------------------------- exact sums

# Engines sum in parallel, and floating-point sums then differ in their last digits from run to run. Each weight is
# therefore split into whole numbers of 28 bits, whose sums no order changes, on any engine.


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
            raise InputError(checks.not_finite(column))
        least, most = min(part[f"least_{use}"] for part in summaries), max(part[f"most_{use}"] for part in summaries)
        checks.check_weights(least, most, column)
        if use == "times" and any(part["broken"] for part in summaries):
            raise InputError(checks.not_whole(column))
        if use == "times":
            checks.check_rows(sum(part["sum_times"] for part in summaries), column)
    if not any(part["most_mass"] for part in summaries):
        raise InputError(checks.weightless(_column_names(columns)))


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


# ---------------------------------------------------------------- queries


NO_ROWS = "There are no rows to count; give at least one."
MOST_KEYS = 1_000_000  # rows of the small table: beyond this a key is a column of numbers or names
MOST_LABEL_KEYS = 5_000_000  # of labels, of which a table of very many keeps the cells that occur
MOST_GROUP_KEYS = 20_000  # beyond this it is a column of names
BATCH = 2_000_000  # rows of Polars whose bins of groups are counted at a time
SAMPLE = 100_000  # rows that are looked at before a whole file is grouped by what may be a column of numbers


@dataclass(frozen=True)
class KeyCounts:
    """The result of a query: the distinct keys, column by column, with the rows and weight of each."""

    keys: tuple[Array, ...]
    rows: Array
    weights: Array | None = None
    squares: Array | None = None
    low: Array | None = None
    high: Array | None = None

    def at(self, places: Array) -> Counted:
        """The rows, weights and squared weights of some keys."""
        weights, squares = (None if part is None else part[places] for part in (self.weights, self.squares))
        return self.rows[places], weights, squares


def collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """The rows of a query, brought here; Polars streams them."""
    engine = frame.implementation
    if engine.is_polars():
        refuse_polars_after_fork()
        return frame.collect(engine="streaming")
    if engine.is_pandas_like() or engine.is_pyarrow():
        return frame.collect()
    with worded_losses(_engine_name(frame)):
        return frame.collect()


def _engine_name(frame: nw.LazyFrame[Any]) -> str:
    """What the engine is called; narwhals has no name for those of its plugins, such as Daft."""
    name = frame.implementation.name.lower()
    return type(frame.to_native()).__module__.partition(".")[0] if name == "unknown" else name


def count_rows(source: Source) -> int:
    """How many rows there are."""
    import narwhals as nw

    counted = (collect(part.select(nw.len().alias("rows"))) for part in source.parts)
    return sum(int(part.get_column("rows").to_list()[0]) for part in counted)


def sum_by_key(
    source: Source,
    keys: Sequence[str | nw.Expr],
    columns: ColumnNames,
    *,
    score: nw.Expr | None = None,
    most: int | None = None,
) -> KeyCounts:
    """How often each combination of keys occurs, and its weight, in one query a part; rows of no weight are left out.

    A key is a column or an expression. With a `score` its lowest and highest value of each combination come too.
    """
    import narwhals as nw

    scales, parts = weight_scales(source, columns, collect), []
    named = [(nw.col(key) if isinstance(key, str) else key).alias(f"key{i}") for i, key in enumerate(keys)]
    named += [] if score is None else [score.alias("score")]
    for frame in source.parts:
        rows = frame.select(*named, *numbers_to_sum(frame, columns, scales))
        parts.append(_small_table(rows, len(keys), columns, scales, score is not None, most or MOST_LABEL_KEYS))
        source.step()
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}  # a key may occur once a part
    made = tuple(whole[f"key{i}"] for i in range(len(keys)))
    return KeyCounts(made, whole["rows"], *(whole.get(name) for name in ("weight", "square", "low", "high")))


def _small_table(
    frame: nw.LazyFrame[Any],
    size: int,
    columns: ColumnNames,
    scales: WeightScales | None,
    scored: bool,
    most: int,
) -> dict[str, Array]:
    """The sums of each combination of keys of a part."""
    import narwhals as nw

    summed = sum_names(columns, scales)
    if summed:
        frame = frame.filter(nw.col("row_count") > 0)
    extra = [nw.col("score").min().alias("low"), nw.col("score").max().alias("high")] if scored else []
    sums = [nw.len().alias("rows"), *extra, *(nw.col(name).sum() for name in summed)]
    keys = [f"key{i}" for i in range(size)]
    total = _sum_batches(frame, keys, sums) if extra and columns.by else None
    result = collect(frame.group_by(*keys).agg(*sums).head(most + 1)) if total is None else total
    if len(result) > most:
        raise InputError(
            f"There are more than {most:,} combinations of labels and groups; at most {MOST_LABELS:,} labels are "
            "counted. Are these labels, or columns of numbers or names?"
        )
    lists = {name: result.get_column(name).to_list() for name in result.columns}
    table = {name: key_column(lists[name]) for name in lists if name.startswith("key")}
    table["rows"] = np.array([int(n) for n in lists["row_count" if summed else "rows"]], dtype=np.int64)
    for name in ("weight", "square") if scales is not None and columns.weight is not None else ():
        limbs = [lists[f"{name}{i}"] for i in range(getattr(scales, f"{name}_limbs"))]
        table[name] = np.array(from_limbs(limbs, getattr(scales, name)))
    return table | {name: np.array(lists[name], dtype=np.float64) for name in ("low", "high") if name in lists}


def _sum_batches(frame: nw.LazyFrame[Any], keys: list[str], sums: list[nw.Expr]) -> nw.DataFrame[Any] | None:
    """The sums of each key batch by batch, whole numbers and ends, which no order changes; None where there are none.

    Of rare keys Polars' own grouping keeps every row until the last is read: 3 GiB of 1e8 rows in 640,000 bins.
    """
    import narwhals as nw

    ends = {"low": nw.col("low").min(), "high": nw.col("high").max()}
    total = None
    for batch in _batches(frame):
        part = collect(batch.lazy().group_by(*keys).agg(*sums)).with_columns(nw.col("rows").cast(nw.Int64))
        again = (ends.get(name, nw.col(name).sum()) for name in part.columns if name not in keys)
        total = part if total is None else collect(nw.concat([total, part]).lazy().group_by(*keys).agg(*again))
    return total


def _batches(frame: nw.LazyFrame[Any]) -> Iterable[nw.DataFrame[Any]]:
    """The rows of a lazy frame of Polars, some at a time; none of other engines, and of Polars that has no batches."""
    import narwhals as nw

    native = frame.to_native()
    if not frame.implementation.is_polars() or not hasattr(native, "collect_batches"):
        return ()
    refuse_polars_after_fork()
    return map(nw.from_native, native.collect_batches(chunk_size=BATCH, maintain_order=False, engine="streaming"))


def key_column(values: list[Any]) -> Array:
    """The values as an array of objects, whatever they are."""
    keys = np.empty(len(values), dtype=object)
    keys[:] = values
    return keys


def check_sample(source: Source, names: Sequence[str], by: Sequence[str] = (), *, declared: bool = False) -> None:
    """Refuse a column of numbers or names as a label or a group while only its first rows have been read."""
    uses = {**dict.fromkeys(names, ("label", MOST_LABELS)), **dict.fromkeys(by, ("group", MOST_GROUP_KEYS))}
    for name, (use, most) in uses.items():
        rows, distinct = _distinct_values(source, name)
        few = use == "label" and too_many_labels(distinct, rows, declared=declared)
        if distinct > most or few:
            limit = "" if distinct <= most else f"; at most {most:,} {use}s are counted"
            way = " labels= declares them where it is." if few else ""
            raise InputError(
                f"The column {name!r} holds {distinct:,} different values in its first {rows:,} rows{limit}. Is it a "
                f"column of {use}s, or of numbers or names?{way}"
            )


def _distinct_values(source: Source, name: str) -> tuple[int, int]:
    """How many of the first rows there are, and how many values they hold, counted where they are."""
    import narwhals as nw

    head = source.parts[0].select(nw.col(name).alias("value")).head(SAMPLE)
    if source.parts[0].implementation.is_ibis():  # whose count of different values casts what PostgreSQL does not
        sizes = [collect(part.select(nw.len().alias("n"))) for part in (head, head.unique())]
        return int(sizes[0].get_column("n").to_list()[0]), int(sizes[1].get_column("n").to_list()[0])
    try:
        counted = collect(head.select(nw.len().alias("rows"), nw.col("value").n_unique().alias("distinct")))
    except TypeError:  # objects of pandas and Dask tell their kind only when they are compared
        raise InputTypeError(nested_sentence(f"The column {name!r} holds lists or other objects")) from None
    rows, distinct = (counted.get_column(part).to_list()[0] for part in ("rows", "distinct"))
    return int(rows), int(distinct or 0)  # where there are no rows some engines give none


def has_fractions(source: Source, name: str) -> bool:
    """Whether the first rows of a column hold numbers that are not whole, and so no labels."""
    head = collect(source.parts[0].select(name).head(SAMPLE)).get_column(name)
    values = {value for value in head.unique().to_list() if value is not None}
    if source.textual:
        texts = {text.strip() for text in values}
        numeric = parser(texts) is parse_number
        values = set(map(parse_number, texts)) if numeric else set()
    return any(isinstance(value, (float, Decimal)) and value % 1 != 0 for value in values)


def column_precision(source: Source, score: str) -> str:
    """The precision that the scores of all parts have, in which a threshold is compared with them."""
    kinds = (str(part.collect_schema()[score]).lower() for part in source.parts)
    return finest(*(kind if kind in PRECISIONS else DOUBLE for kind in kinds))


def fetch_columns(source: Source, names: Sequence[str]) -> dict[str, nw.Series[Any]]:
    """The named columns of all rows, brought here."""
    import narwhals as nw

    names = list(dict.fromkeys(names))
    parts = []
    for frame in source.parts:
        parts.append(collect(frame.select(*names)))
        source.step()
    whole = nw.concat(parts) if len(parts) > 1 else parts[0]
    return {name: whole.get_column(name) for name in names}
