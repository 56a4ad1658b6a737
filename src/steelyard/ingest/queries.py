"""Queries: counting written once in narwhals and run where the data live. Only small tables come back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError
from steelyard.ingest import arrays
from steelyard.statistics.confusion import MOST_LABELS
from steelyard.statistics.counts import LARGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from steelyard.ingest.source import Columns, Source

Array = np.ndarray[Any, Any]
MOST_KEYS = 1_000_000  # rows of the small table: beyond this a key is a column of numbers or names
SAMPLE = 100_000  # rows that are looked at before a whole file is grouped by what may be a column of numbers
SUMS = ("mass", "square", "times", "stood", "broken", "missing")


@dataclass(frozen=True)
class Keyed:
    """What came back of a query: the distinct keys, column by column, with the rows and weight of each."""

    keys: tuple[Array, ...]
    rows: Array
    weights: Array | None = None
    squares: Array | None = None
    low: Array | None = None
    high: Array | None = None


def collected(frame: nw.LazyFrame[Any]) -> Any:
    """The rows of a query, brought here; Polars streams them."""
    return frame.collect(engine="streaming") if frame.implementation.is_polars() else frame.collect()


def rows(source: Source) -> int:
    """How many rows there are."""
    import narwhals as nw

    counted = (collected(part.select(nw.len().alias("rows"))) for part in source.parts)
    return sum(int(part.get_column("rows").to_list()[0]) for part in counted)


def tallied(source: Source, keys: Sequence[str], columns: Columns) -> Keyed:
    """How often each combination of keys occurs, and its weight, in one query a part."""
    import narwhals as nw

    parts = []
    for frame in source.parts:
        named = [nw.col(name).alias(f"key{i}") for i, name in enumerate(keys)]
        parts.append(grouped(frame.select(*named, *masses(frame, columns)), len(keys), columns, ()))
        source.step()
    return concatenated(parts, columns)


def masses(frame: nw.LazyFrame[Any], columns: Columns) -> list[Any]:
    """The columns to be summed; sums of expressions are slow or unknown on some engines, so they are made first."""
    import narwhals as nw

    if columns.weight is None and columns.frequency is None:
        return []
    weight = nw.lit(1.0) if columns.weight is None else nw.col(columns.weight).cast(nw.Float64)
    times = nw.lit(1.0) if columns.frequency is None else nw.col(columns.frequency).cast(nw.Float64)
    stood = (weight * times > 0).cast(nw.Int64)
    if columns.frequency is not None:
        whole = frame.collect_schema()[columns.frequency].is_integer()
        stood = stood * nw.col(columns.frequency) if whole else stood * times
    return [
        (weight * times).alias("mass"),
        (weight * weight * times).alias("square"),
        weight.alias("weight"),
        times.alias("times"),
        stood.alias("stood"),
        (times - times.floor()).alias("broken"),
        (weight * times).is_null().cast(nw.Int64).alias("missing"),
    ]


def grouped(frame: nw.LazyFrame[Any], size: int, columns: Columns, extra: Sequence[Any]) -> dict[str, Array]:
    """The sums of each combination of keys: the small table."""
    import narwhals as nw

    sums = [nw.len().alias("rows"), *extra]
    if columns.weight is not None or columns.frequency is not None:
        sums += [nw.col(name).sum() for name in SUMS]
        for name in ("weight", "times"):
            sums += [nw.col(name).min().alias(f"least_{name}"), nw.col(name).max().alias(f"most_{name}")]
    found = collected(frame.group_by(*(f"key{i}" for i in range(size))).agg(*sums).head(MOST_KEYS + 1))
    if len(found) > MOST_KEYS:
        raise InputError(
            f"There are more than {MOST_KEYS:,} combinations of labels; at most {MOST_LABELS:,} labels are weighed. "
            "Are these labels, or columns of numbers or names?"
        )
    return {name: _array(found.get_column(name), name) for name in found.columns}


def _array(series: Any, name: str) -> Array:
    if name.startswith("key"):
        values = np.empty(len(series), dtype=object)
        values[:] = series.to_list()
        return values
    if name in ("rows", "missing", "stood"):
        return np.array([_whole(value) for value in series.to_list()], dtype=np.int64)
    given = series.to_list()  # pandas says NA where others say None
    return np.array([float(value) if isinstance(value, (int, float, Decimal)) else np.nan for value in given])


def _whole(value: Any) -> int:
    """A sum of whole numbers, which some engines give as a decimal; 0 where weights that are refused below spoil it."""
    if not isinstance(value, (int, float, Decimal)) or not math.isfinite(value):
        return 0
    return int(value) if abs(int(value)) <= LARGEST else 0


def concatenated(parts: list[dict[str, Array]], columns: Columns) -> Keyed:
    """The small tables of all parts as one; a key may occur once a part."""
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    keys = tuple(whole[name] for name in whole if name.startswith("key"))
    low, high = whole.get("low"), whole.get("high")
    if columns.weight is None and columns.frequency is None:
        return Keyed(keys, whole["rows"], None, None, low, high)
    _check_masses(whole, columns)
    rows = whole["stood"]
    held = rows > 0
    keys = tuple(key[held] for key in keys)
    low, high = (None if end is None else end[held] for end in (low, high))
    if columns.weight is None:
        return Keyed(keys, rows[held], None, None, low, high)
    return Keyed(keys, rows[held], whole["mass"][held], whole["square"][held], low, high)


def _check_masses(whole: dict[str, Array], columns: Columns) -> None:
    """Refuse weights that are missing, not finite, negative or all zero, as for arrays."""
    told = _called(columns)
    if whole["missing"].any() or not np.isfinite(whole["mass"]).all():
        raise InputError(arrays.not_finite(" or ".join(told.values())))
    for use, name in told.items():
        if len(whole["mass"]):
            arrays.check_weights(whole[f"least_{use}"].min(), whole[f"most_{use}"].max(), name)
    if "times" in told and whole["broken"].any():
        raise InputError(arrays.not_whole(told["times"]))
    arrays.check_rows(float(whole["times"].sum()), told.get("times", ""))
    if len(whole["mass"]) and not whole["mass"].any():
        raise InputError(weightless(columns))


def _called(columns: Columns) -> dict[str, str]:
    """What the columns of weights are called in a sentence, by their use."""
    used = {"weight": columns.weight, "times": columns.frequency}
    return {use: f"The column {name!r}" for use, name in used.items() if name is not None}


def weightless(columns: Columns) -> str:
    """What is said of rows that all weigh nothing."""
    return arrays.weightless(" or ".join(_called(columns).values()))


def check_sample(source: Source, names: Sequence[str]) -> None:
    """Refuse a column of numbers or names as a label while only its first rows have been read."""
    head = collected(source.parts[0].select(*dict.fromkeys(names)).head(SAMPLE))
    for name in names:
        if (found := head.get_column(name).n_unique()) > MOST_LABELS:
            raise InputError(
                f"The column {name!r} holds {found:,} different values in its first {len(head):,} rows; at most "
                f"{MOST_LABELS:,} labels are weighed. Is it a column of labels, or of numbers or names?"
            )


def gathered(source: Source, names: Sequence[str]) -> dict[str, nw.Series[Any]]:
    """The named columns of all rows, brought here."""
    import narwhals as nw

    names = list(dict.fromkeys(names))
    parts = []
    for frame in source.parts:
        parts.append(collected(frame.select(*names)))
        source.step()
    whole = nw.concat(parts) if len(parts) > 1 else parts[0]
    return {name: whole.get_column(name) for name in names}
