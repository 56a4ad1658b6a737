"""Queries of frames: counting written once in narwhals and run where the data live. Only small tables come back."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import exact_sums
from steelyard.ingest.forked import refuse_polars_after_fork
from steelyard.ingest.label_number import too_many_labels
from steelyard.ingest.lost_engines import worded_losses
from steelyard.ingest.source import nested_sentence
from steelyard.statistics.confusion import MOST_LABELS
from steelyard.statistics.label_kinds import parse_number, parser
from steelyard.statistics.precision import DOUBLE, PRECISIONS, finest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import narwhals as nw

    from steelyard._types import Array
    from steelyard.ingest.source import ColumnNames, Source

    Counted = tuple[Array, Array | None, Array | None]

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

    scales, parts = exact_sums.weight_scales(source, columns, collect), []
    named = [(nw.col(key) if isinstance(key, str) else key).alias(f"key{i}") for i, key in enumerate(keys)]
    named += [] if score is None else [score.alias("score")]
    for frame in source.parts:
        rows = frame.select(*named, *exact_sums.numbers_to_sum(frame, columns, scales))
        parts.append(_small_table(rows, len(keys), columns, scales, score is not None, most or MOST_LABEL_KEYS))
        source.step()
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}  # a key may occur once a part
    made = tuple(whole[f"key{i}"] for i in range(len(keys)))
    return KeyCounts(made, whole["rows"], *(whole.get(name) for name in ("weight", "square", "low", "high")))


def _small_table(
    frame: nw.LazyFrame[Any],
    size: int,
    columns: ColumnNames,
    scales: exact_sums.WeightScales | None,
    scored: bool,
    most: int,
) -> dict[str, Array]:
    """The sums of each combination of keys of a part."""
    import narwhals as nw

    summed = exact_sums.sum_names(columns, scales)
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
        table[name] = np.array(exact_sums.from_limbs(limbs, getattr(scales, name)))
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
